"""Owns one process of a job from its start until nothing of it is left.

Its output is read as it comes, a piece at a time and only when the loop has time for it: a job that prints faster waits
at its pipe, and what is kept is bounded by whoever takes it. However the supervision ends (the process ended, a stop
order, a limit, the agent's own end) what the job has started is killed before its end is told.
"""

import asyncio
import contextlib
import fcntl
import os
import signal
import subprocess
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, Protocol

from horae.model.work import JobError
from horae.worker.errands.errand import StopOrder

_PIPE_BYTES: Final = 1024 * 1024
_READ_BYTES: Final = 128 * 1024
LAST_WORDS: Final = 4096
_LOOK_SECONDS: Final = 0.25


class Process:
    """In a session of its own, its standard input empty. Nobody hears it before `listen`."""

    def __init__(
        self,
        command: list[str],
        *,
        environment: Mapping[str, str],
        pass_fds: Iterable[int] = (),
        cwd: str | None = None,
    ) -> None:
        self._process = subprocess.Popen(
            command,
            env=environment,
            cwd=cwd,
            pass_fds=tuple(pass_fds),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
        self.pid = self._process.pid
        self._pidfd = os.pidfd_open(self.pid)
        self._loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_reader(self._pidfd, self._heard_exit)
        self._pipes: dict[str, int] = {}
        self._write: Callable[[str, bytes], None]
        self.last_words = b""
        """The end of what it wrote to stderr."""

    def listen(self, write: Callable[[str, bytes], None]) -> None:
        self._write = write
        for stream, pipe in (("stdout", self._process.stdout), ("stderr", self._process.stderr)):
            assert pipe is not None  # noqa: S101 - Popen was asked for pipes
            self._pipes[stream] = fd = pipe.fileno()
            os.set_blocking(fd, False)
            with contextlib.suppress(OSError):
                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
            self._loop.add_reader(fd, self._read, stream)

    def _read(self, stream: str) -> int:
        try:
            data = os.read(self._pipes[stream], _READ_BYTES)
        except BlockingIOError:
            return 0
        if not data:
            self._loop.remove_reader(self._pipes.pop(stream))
            return 0
        if stream == "stderr":
            self.last_words = (self.last_words + data)[-LAST_WORDS:]
        self._write(stream, data)
        return len(data)

    def _heard_exit(self) -> None:
        self._loop.remove_reader(self._pidfd)
        self.exited.set_result(None)

    def drain(self) -> None:
        """Reads what is left in the pipes: no more than they can hold, even if a stray process still writes."""
        for stream in list(self._pipes):
            left = _PIPE_BYTES
            while left > 0 and (size := self._read(stream)):
                left -= size

    def reap(self) -> tuple[int, float, int]:
        """Exit status (negative for a signal), CPU seconds and peak memory of it and what it has waited for.

        The pid may belong to somebody else afterwards.
        """
        try:
            _, status, usage = os.wait4(self.pid, 0)
        except ChildProcessError:
            return self._reaped_by_others()
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return self._process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024

    def _reaped_by_others(self) -> tuple[int, float, int]:
        """It was dead for so long that it passed for an orphan (see `orphans`)."""
        self._process.returncode = -signal.SIGKILL
        return self._process.returncode, 0.0, 0

    def close(self) -> None:
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        for fd in self._pipes.values():
            self._loop.remove_reader(fd)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()


class Watched(Protocol):
    """The part of an errand that a supervisor needs."""

    stop: "asyncio.Future[StopOrder]"

    def write(self, stream: str, data: bytes) -> None: ...
    def guard(self, pid: int) -> None: ...
    def unguard(self, pid: int) -> None: ...


class Hold(Protocol):
    """How to act on all that the job has started."""

    def terminate(self) -> None:
        """Asks it to end."""

    async def kill(self) -> None:
        """May be called again and again, and when nothing is left."""

    def breach(self) -> JobError | None:
        """The limit that the job has reached, if it has."""


class Ended(NamedTuple):
    status: int
    """Of the process; negative for a signal."""
    order: StopOrder | None
    """It was told to stop, and had not ended before."""
    breach: JobError | None
    """It was killed for a limit."""
    cpu: float
    peak_memory: int
    last_words: bytes


async def supervise(errand: Watched, process: Process, hold: Hold) -> Ended:
    order = breach = None
    errand.guard(process.pid)
    process.listen(errand.write)
    try:
        order, breach = await _watch(errand, process, hold)
    finally:
        await hold.kill()
        await process.exited
        process.drain()
        errand.unguard(process.pid)
        status, cpu, peak_memory = process.reap()
        process.close()
    return Ended(status, order, breach, cpu, peak_memory, process.last_words)


async def _watch(errand: Watched, process: Process, hold: Hold) -> tuple[StopOrder | None, JobError | None]:
    while not process.exited.done():
        waiting: set[asyncio.Future[Any]] = {process.exited, errand.stop}
        await asyncio.wait(waiting, timeout=_LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if process.exited.done():
            break
        if errand.stop.done():
            order = errand.stop.result()
            hold.terminate()
            await asyncio.wait([process.exited], timeout=order.grace)
            return order, None
        if breach := hold.breach():
            return None, breach
    return None, None
