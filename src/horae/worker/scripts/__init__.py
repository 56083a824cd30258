"""Tasks that are scripts: source in any interpreter of the worker, run in the sandbox.

`runner` runs one; `interpreters` finds what runs it; `environments` keeps the packages that Python scripts ask for.
"""

from horae.worker.scripts.runner import ScriptRunner

__all__ = ["ScriptRunner"]
