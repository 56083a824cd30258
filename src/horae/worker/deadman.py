"""The agent's end of the keeper: starts it, tells it what is true, and starts another when it has died."""

import contextlib
import os
import subprocess
import sys

import structlog

log = structlog.get_logger()


class DeadMan:
    def __init__(self, *marks: str) -> None:
        self._marks = marks
        self._children: set[int] = set()
        self._until: float | None = None
        self._start()

    def _start(self) -> None:
        read, self._pipe = os.pipe()
        os.set_blocking(self._pipe, False)
        # Before it is there: we may be frozen at the moment it begins, and then it must know whom to guard.
        if self._until is not None:
            self._tell(f"until {self._until}")
        for pid in self._children:
            self._tell(f"+{pid}")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "horae.worker.keeper", str(read), *self._marks],
            pass_fds=(read,),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(read)

    @property
    def pid(self) -> int:
        return self._process.pid

    def extend(self, until: float) -> None:
        self._until = until
        self._tell(f"until {until}")

    def add(self, pid: int) -> None:
        self._children.add(pid)
        self._tell(f"+{pid}")

    def remove(self, pid: int) -> None:
        self._children.discard(pid)
        self._tell(f"-{pid}")

    def check(self) -> None:
        """Replaces a keeper that has died."""
        if self._process.poll() is None:
            return
        log.warning("keeper_replaced", exit=self._process.returncode)
        os.close(self._pipe)
        self._start()

    def close(self) -> None:
        """To be called when no child is left: the keeper then has nothing to do and ends."""
        os.close(self._pipe)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)

    def _tell(self, line: str) -> None:
        # A full or broken pipe means a stopped or dead keeper; `check` replaces the dead one.
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            os.write(self._pipe, line.encode() + b"\n")
