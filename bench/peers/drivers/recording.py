"""What a job leaves behind: files in a folder that no peer knows of, one a process, read by the harness.

It runs in the environment of each peer, so it needs nothing but Python. Instants are of the monotonic clock, which all
processes of a host share. A count is written down by a thread now and then, because a system call a job would cost more
than some of the peers do; stamps and work are written at once, because their process may be killed the next moment.
"""

import asyncio
import os
import threading
import time

EVERY = 0.02


class Counter:
    """The instants at which this process ran jobs. Appending to a list is safe between threads, adding one is not."""

    def __init__(self) -> None:
        self._pid = 0
        self._runs: list[int] = []

    def add(self) -> None:
        if self._pid != os.getpid():
            self._begin()
        self._runs.append(time.monotonic_ns())

    def _begin(self) -> None:
        """Again after a fork, which takes the list along but not the thread."""
        self._pid, self._runs = os.getpid(), []
        threading.Thread(target=self._write, args=(opened("count"),), daemon=True).start()

    def _write(self, file: int) -> None:
        written = 0
        while True:
            if written != len(self._runs):
                written = len(self._runs)
                os.pwrite(file, b"%20d %20d %20d\n" % (written, self._runs[0], self._runs[written - 1]), 0)
            time.sleep(EVERY)


class Journal:
    """Lines of one kind, each in the file when `add` returns."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._pid = 0
        self._file = -1

    def add(self, mark: str, number: int) -> None:
        line = b"%s %d %d\n" % (mark.encode(), number, time.monotonic_ns())
        if self._pid != os.getpid():
            self._pid, self._file = os.getpid(), opened(self._kind)
        os.write(self._file, line)


def opened(kind: str) -> int:
    path = os.path.join(os.environ["RACE_TRACES"], f"{kind}-{os.getpid()}")  # noqa: PTH118 the hot path of nobody
    return os.open(path, os.O_WRONLY | os.O_CREAT | (0 if kind == "count" else os.O_APPEND), 0o644)


counter = Counter()
journal = Journal("journal")


def noop() -> None:
    counter.add()


def stamp(number: int) -> None:
    journal.add("start", number)


def work(number: int, seconds: float = 0.02) -> None:
    journal.add("start", number)
    time.sleep(seconds)
    journal.add("end", number)


async def work_async(number: int, seconds: float = 0.02) -> None:
    journal.add("start", number)
    await asyncio.sleep(seconds)
    journal.add("end", number)
