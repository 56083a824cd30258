"""Memory that a child shares with its agent: which job runs since when, and what has ended but is not yet sent.

Writing a cell costs 50 ns and no message, so the child does it before every job, and the agent knows at any moment
whom to time out, whom to blame for a crash, and what ended just before it. Cells are aligned 8-byte integers, which
the hardware reads and writes whole.

The journal holds the encoded ends of jobs (each followed by a comma) since the last flush. It survives the child: a
crash loses no result of the jobs that ran before the one that crashed.
"""

import mmap
import os
from typing import Final, NamedTuple

CURRENT: Final = 0
"""The sequence number of the running job; 0 when idle."""
STARTED: Final = 1
"""When it started, nanoseconds of CLOCK_BOOTTIME."""
CANCEL: Final = 2
"""Written by the agent: the sequence number of the job that is to stop."""
SPAWNED: Final = 3
"""1 once the child has started a process."""
JOURNALED: Final = 4
"""How many bytes of the journal are valid."""
MOVING: Final = 5
"""Written by the agent before CANCEL, when the job is to go on elsewhere: the same sequence number."""
UNTIL: Final = 6
"""Written by the agent: until when jobs may begin, nanoseconds of CLOCK_BOOTTIME; 0 before it knows."""
LOOK_SECONDS: Final = 0.05
"""How often a child looks whether it may begin again. As a rule somebody is about to end it."""
_CELLS: Final = 8
_HEADER: Final = 4096
JOURNAL_BYTES: Final = 256 * 1024


class Running(NamedTuple):
    seq: int
    started: float


class Board:
    def __init__(self, fd: int) -> None:
        self._map = mmap.mmap(fd, _HEADER + JOURNAL_BYTES)
        self._whole = memoryview(self._map)
        self.cells = self._whole[: _CELLS * 8].cast("q")
        self.journal = self._whole[_HEADER:]

    @staticmethod
    def create() -> int:
        """A fresh board's file descriptor, to be given to the child."""
        fd = os.memfd_create("horae-board")
        os.ftruncate(fd, _HEADER + JOURNAL_BYTES)
        return fd

    def lease_is_over(self, at: int) -> bool:
        """A host that was frozen with all that watches over a child: when it thaws, what waits here must not begin."""
        return at >= self.cells[UNTIL] > 0

    def running(self) -> Running | None:
        """The current job, read so that number and start belong together."""
        while True:
            seq, started = self.cells[CURRENT], self.cells[STARTED]
            if seq == self.cells[CURRENT] and started == self.cells[STARTED]:
                return Running(seq, started / 1e9) if seq else None

    def unsent(self) -> bytes:
        return bytes(self.journal[: self.cells[JOURNALED]])

    def close(self) -> None:
        for view in (self.cells, self.journal, self._whole):
            view.release()
        self._map.close()
