"""One of Horae's programs as a process of its own, which ends with us however we end."""

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
STOP_SECONDS: Final = 20.0


class Program:
    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        environ: Mapping[str, str],
        log: Path,
        *,
        module: Sequence[str] = ("horae.cli",),
        prefix: Sequence[str] = (),
    ) -> None:
        """`module` is run with the arguments; `prefix` begins the command: a program that becomes it, as `env` does."""
        self.name = name
        self.log = log
        self._module = module
        self._prefix = prefix
        self._arguments = arguments
        self._environ = environ
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int:
        if self._process is None:
            raise SetupError(f"the {self.name} has not started")
        return self._process.pid

    @property
    def ended(self) -> bool:
        return self._process is None or self._process.returncode is not None

    @property
    def status(self) -> int | None:
        """Its exit code, or minus the signal that ended it; None as long as it runs."""
        return None if self._process is None else self._process.returncode

    async def wait(self) -> None:
        """Returns when it has ended, by whatever cause."""
        if self._process is not None:
            await self._process.wait()

    async def start(self) -> None:
        """Through the launcher of PostgreSQL: that binds its life to ours, as a pipe would not when we are killed."""
        identity = [str(number) for number in (os.geteuid(), os.getegid(), os.getpid())]
        command = [sys.executable, "-I", "-S", str(Path(launch.__file__)), *identity]
        command += [*self._prefix, sys.executable, "-m", *self._module, *self._arguments]
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *command,
                env=dict(self._environ),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )

    async def line(self, beginning: str) -> str:
        """The rest of the first line of output that begins so."""
        assert self._process is not None  # noqa: S101 for the type checker
        assert self._process.stdout is not None  # noqa: S101
        with suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                while line := await self._process.stdout.readline():
                    if line.startswith(beginning.encode()):
                        return line.decode().removeprefix(beginning).strip()
        raise SetupError(f"the {self.name} did not start. It said:\n{self.last_words()}")

    def check(self) -> None:
        """A measurement of a program that has died is none."""
        if self.ended:
            raise SetupError(f"the {self.name} ended during the measurement. It said:\n{self.last_words()}")

    def last_words(self) -> str:
        with self.log.open(errors="replace") as file:
            return "".join(deque(file, 20)).strip()

    async def kill(self) -> None:
        """As a crash would: without a chance to do anything."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def stop(self) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.terminate()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
