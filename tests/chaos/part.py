"""A server or a worker of the world: one program after another, all under the same name and at the same address.

Whoever makes a part suffer holds its lock, so that faults that strike at the same time do not undo each other's.
"""

import asyncio
import os
import re
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import psutil

from horae.bench.program import Program
from horae.model.errors import SetupError

CHILD: Final = "horae.worker.child"
READY: Final = "Horae listens on "
PAUSE: Final = 0.5
WORDS: Final = 500
BROKEN_OFF: Final = re.compile(rb"^horae: .* failpoint ", re.MULTILINE)
UP: Final = re.compile(rb'"event": "(joined|server_started)"')


@dataclass(frozen=True)
class Start:
    """How a program is started in some other way than usual."""

    environ: Mapping[str, str] = field(default_factory=dict)
    prefix: Sequence[str] = ()
    options: Mapping[str, str | None] = field(default_factory=dict)
    """What flags are instead; None: not given."""
    patience: float = 120.0
    """For how many seconds one that does not come up is started again, as a supervisor does: PostgreSQL may be away."""


USUAL: Final = Start()


class Freeze(NamedTuple):
    """Processes that were stopped for a while, by the clock that nobody sets."""

    pids: frozenset[int]
    since: float
    until: float
    host: bool
    """All of a host was stopped, so nobody there could end a job in time."""


class Part:
    def __init__(self, command: str, options: Mapping[str, str], environ: Mapping[str, str], log: Path) -> None:
        self.name = log.stem
        self.serves = command == "server"
        self.lock = asyncio.Lock()
        self.freezes: list[Freeze] = []
        self.failures: list[str] = []
        """Starts that were given up, and ends that nobody wanted."""
        self.module: Sequence[str] = ("horae.cli",)
        self.log = log
        self._command, self._options, self._environ = command, options, environ
        self._program: Program | None = None
        self._began = 0
        """Where the present program's words begin in the log."""

    @property
    def pid(self) -> int:
        assert self._program is not None
        return self._program.pid

    @property
    def alive(self) -> bool:
        return self._program is not None and not self._program.ended

    def note_end(self) -> None:
        """Whoever makes it suffer kills it, and so does the kernel: a program that ends in another way gave up. That
        may who has not come up yet: its host tries again; and who was broken off at a failpoint by us, anywhere."""
        status = None if self._program is None else self._program.status
        if status not in (None, -signal.SIGKILL) and UP.search(said := self._said()) and not BROKEN_OFF.search(said):
            self.failures.append(f"{self.name} ended by itself ({status}): {self.last_words()[-WORDS:]}")

    def _said(self) -> bytes:
        """What the present program has written."""
        with self.log.open("rb") as file:
            file.seek(self._began)
            return file.read()

    async def start(self, how: Start = USUAL) -> None:
        """A worker is there when it has joined, which is somebody else's to see."""
        deadline = time.monotonic() + how.patience
        while True:
            try:
                return await self._start(how)
            except SetupError as error:
                await self.kill()
                if time.monotonic() > deadline:
                    self.failures.append(f"{self.name} did not come up within {how.patience:g} s: {error}"[:WORDS])
                    raise
                await asyncio.sleep(PAUSE)

    async def _start(self, how: Start) -> None:
        options = {**self._options, **how.options}
        arguments = [word for flag, value in options.items() if value is not None for word in (flag, value)]
        environ = {**self._environ, **how.environ}
        self._began = self.log.stat().st_size if self.log.exists() else 0
        program = Program(
            self.name, [self._command, *arguments], environ, self.log, module=self.module, prefix=how.prefix
        )
        await program.start()
        self._program = program
        if self.serves:
            await program.line(READY)

    async def restart(self, how: Start = USUAL) -> None:
        await self.kill()
        await self.start(how)

    async def kill(self) -> None:
        """It may have given up meanwhile, and whoever kills it holds the lock that the supervisor would need to see."""
        self.note_end()
        if self._program is not None:
            await self._program.kill()

    async def stop(self) -> None:
        if self._program is not None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGCONT)
            await self._program.stop()

    async def ended(self, seconds: float) -> bool:
        """Whether it ends within that time."""
        assert self._program is not None
        with suppress(TimeoutError):
            await asyncio.wait_for(self._program.wait(), seconds)
        return not self.alive

    def last_words(self) -> str:
        return self._program.last_words() if self._program else ""

    def children(self) -> list[int]:
        """The processes that run jobs."""
        return [process.pid for process in self._below() if CHILD in _command(process)]

    def everything(self) -> list[int]:
        """The program itself first, then all below it."""
        return [self.pid, *(process.pid for process in self._below())]

    def _below(self) -> list[psutil.Process]:
        try:
            return psutil.Process(self.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    @contextmanager
    def frozen(self, *, host: bool) -> Iterator[None]:
        """Stopped; with `host` all that is below it as well, the keeper included."""
        since = time.monotonic()
        send(self.pid, signal.SIGSTOP)
        # Only now: what has stopped starts nothing any more.
        pids = self.everything()
        stopped = pids if host else pids[:1]
        try:
            for pid in stopped:
                send(pid, signal.SIGSTOP)
            yield
        finally:
            for pid in reversed(stopped):
                send(pid, signal.SIGCONT)
            self.freezes.append(Freeze(frozenset(pids), since, time.monotonic(), host))


def send(pid: int, sign: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, sign)


def _command(process: psutil.Process) -> list[str]:
    with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
        return process.cmdline()
    return []
