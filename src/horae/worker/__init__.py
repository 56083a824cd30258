"""The worker: an agent that leases jobs from a server and runs them in child processes.

    server  ⇄  agent (asyncio, never runs user code)  ⇄  children (user code, own sessions)
                  └── keeper (ends the children when the agent is dead or frozen)

`agent` puts the parts together and lives one membership after another: `lease` says how long one holds, `courier`
carries work both ways, `heart` keeps it alive, `shipping` carries output, `uploads` what is large. `crew` owns the
child processes, `appetite` says how many jobs to ask for, `dispatch` which child gets which, `results` what came of it,
`endings` stops the ones that must stop. The other end of each child's socket is the `child` package; `board` is memory
they share. Linux only: it relies on /proc, pidfds, memfds and child subreapers.
"""
