"""A tiny process that outlives its agent by a moment, to end the children that the agent can no longer end.

It reads lines from a pipe that only the agent holds: `until T` (the agent's lease holds until then, CLOCK_BOOTTIME),
`+PID` and `-PID` as children come and go. When the pipe ends the agent is dead; when T passes it is frozen, and
somebody else may be given its jobs soon. Either way nothing it started may go on.
"""

import os
import select
import signal
import sys
from typing import Final

from horae.worker import tree
from horae.worker.clock import now

_FOREVER: Final = float("inf")


class Keeper:
    def __init__(self, pipe: int, marks: list[str]) -> None:
        self._pipe = pipe
        self._marks = marks
        self._children: set[int] = set()
        self._until = _FOREVER
        self._rest = b""

    def run(self) -> None:
        while self._hear():
            if now() >= self._until:
                self._end_children()
                self._until = _FOREVER
        self._end_children()

    def _hear(self) -> bool:
        """Waits for lines until the agent's time is up. False once the agent is gone."""
        wait = None if self._until == _FOREVER else max(0.0, self._until - now())
        if not select.select([self._pipe], [], [], wait)[0]:
            return True
        data = os.read(self._pipe, 65536)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._obey(line.decode())
        return bool(data)

    def _obey(self, line: str) -> None:
        if line.startswith("until "):
            self._until = float(line[6:])
        elif line.startswith("+"):
            self._children.add(int(line[1:]))
        else:
            self._children.discard(int(line[1:]))

    def _end_children(self) -> None:
        for pid in self._children:
            # The agent says `-PID` before it reaps, so a pid we still hold is not another process's.
            tree.end_tree(pid)
        for mark in self._marks:
            # Also when we hold none: the agent may have died between a start and telling us. What it had forked holds
            # the pipe until it has the mark, so nothing is missed.
            tree.end_marked(mark)
        self._children.clear()


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    Keeper(int(sys.argv[1]), sys.argv[2:]).run()


if __name__ == "__main__":
    main()
