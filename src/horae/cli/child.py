"""A program that `horae up` keeps running beside itself: started again when it dies, stopped when we stop.

It has a session of its own, so that Ctrl-C in a terminal reaches `up` alone, which then stops things in order. Its
stdin is a pipe that only we hold: when we die, however suddenly, the pipe closes and tells the child.
"""

import asyncio
import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import structlog

from horae.cli.running import unless

FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 30.0
STEADY_SECONDS: Final = 60.0
"""A child that lived so long had not failed at its start: the pauses begin anew."""

log = structlog.get_logger(__name__)


class Child:
    def __init__(self, name: str, command: list[str], environ: Mapping[str, str]) -> None:
        self.name = name
        self._command = command
        self._environ = environ
        self._process: asyncio.subprocess.Process | None = None
        self._keeper: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        self._keeper = asyncio.create_task(self._keep())

    async def _keep(self) -> None:
        pause = FIRST_PAUSE
        while True:
            began = time.monotonic()
            code = await self._live()
            if time.monotonic() - began > STEADY_SECONDS:
                pause = FIRST_PAUSE
            log.error("child_ended", child=self.name, exit_code=code, again_in=pause)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _live(self) -> int:
        self._process = await asyncio.create_subprocess_exec(
            *self._command, env=dict(self._environ), stdin=asyncio.subprocess.PIPE, start_new_session=True
        )
        return await self._process.wait()

    async def stop(self, hurry: asyncio.Event, patience: float) -> None:
        """Asks, waits, and in the end kills the whole session."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        process = self._process
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        if not await unless(process.wait(), hurry, patience):
            log.warning("child_killed", child=self.name, pid=process.pid)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
