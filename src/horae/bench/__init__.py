"""The measurements behind `horae bench`: each scenario starts a throw-away Horae of real processes and times it.

Nothing here is faked or relaxed to look well: PostgreSQL is the embedded one with fsync on, the server and the worker
are the programs that users start, and jobs come over HTTP. What a scenario reports are figures with the spread of its
rounds, beside what the project demands of itself.
"""
