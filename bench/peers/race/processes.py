"""Processes of the race: each leads a group of its own, so that all of it can be killed, and ends with the harness."""

import asyncio
import os
import signal
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from horae.model.errors import SetupError
from horae.store.embedded import launch

START_SECONDS: Final = 60.0
STOP_SECONDS: Final = 10.0
LINE_LIMIT: Final = 1 << 20


class Process:
    def __init__(self, name: str, command: Sequence[str], environ: Mapping[str, str], log: Path) -> None:
        self.name = name
        self.log = log
        self._command = command
        self._environ = environ
        self._process: asyncio.subprocess.Process | None = None

    @property
    def process(self) -> asyncio.subprocess.Process:
        if self._process is None:
            raise SetupError(f"{self.name} has not been started")
        return self._process

    @property
    def pid(self) -> int:
        return self.process.pid

    async def start(self) -> None:
        """Through the launcher of PostgreSQL, which binds its life to ours."""
        identity = [str(number) for number in (os.geteuid(), os.getegid(), os.getpid())]
        launcher = [sys.executable, "-I", "-S", str(Path(launch.__file__)), *identity]
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *launcher,
                *self._command,
                env=dict(self._environ),
                cwd=self.log.parent,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE if self._speaks else log,
                stderr=log,
                start_new_session=True,
                limit=LINE_LIMIT,
            )

    _speaks = False

    def check(self) -> None:
        """A measurement of a program that has died is none."""
        if self.process.returncode is not None:
            raise SetupError(f"{self.name} ended with {self.process.returncode}. It said:\n{self.last_words()}")

    def last_words(self) -> str:
        with self.log.open(errors="replace") as file:
            return "".join(deque(file, 15)).strip()

    async def kill(self) -> None:
        """The whole group at once, without a chance to do anything."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        await self.process.wait()

    async def stop(self) -> None:
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            self._process.terminate()
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await self._process.wait()
        await self.kill()


class Speaker(Process):
    """A process whose output is for us, a line at a time."""

    _speaks = True

    async def line(self, seconds: float = START_SECONDS) -> bytes:
        assert self.process.stdout is not None  # noqa: S101 for the type checker
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                line = await self.process.stdout.readline()
            if line:
                return line
        raise SetupError(f"{self.name} does not answer. It said:\n{self.last_words()}")

    async def say(self, line: bytes) -> None:
        assert self.process.stdin is not None  # noqa: S101
        try:
            self.process.stdin.write(line + b"\n")
            await self.process.stdin.drain()
        except ConnectionError:
            raise SetupError(f"{self.name} has ended. It said:\n{self.last_words()}") from None
