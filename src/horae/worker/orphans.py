"""Reaps the dead that nobody waits for.

The agent is the subreaper of all that its jobs start, so what loses its parent comes to it, and once it is dead it
holds a process id until it is reaped: in a worker that runs for weeks they would be used up. Whoever starts a process
here reaps it soon after its end; so a process that was dead for long is an orphan.
"""

import contextlib
import os
from typing import Final

from horae.worker import tree
from horae.worker.clock import now

LONG: Final = 30.0


class Orphans:
    def __init__(self) -> None:
        self._dead: dict[int, float] = {}
        """Since when they have been seen dead."""

    def reap(self) -> None:
        at = now()
        processes = [tree.look(pid) for pid in tree.children_of(os.getpid())]
        dead = [process.pid for process in processes if process is not None and not process.alive]
        self._dead = {pid: self._dead.get(pid, at) for pid in dead}
        for pid, since in self._dead.items():
            if at - since >= LONG:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
