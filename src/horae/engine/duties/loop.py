"""The loop that runs a duty: jitter, a clean stop, a log event per run that did something, no error that ends it."""

import asyncio
import random
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Final, Protocol

import structlog

log = structlog.get_logger()

SHARE: Final = 0.03
"""Of this server's time, at most this much goes into a duty that grows with what there is, as far as it may wait."""


class Duty(Protocol):
    name: str
    interval: float
    """Seconds between runs, when nothing wakes it earlier. A duty that also has `longest` waits up to so many, the more
    its last run took."""

    async def run_once(self) -> Mapping[str, int]: ...


def spaced(took: float, shortest: float, longest: float) -> float:
    """The interval of a duty whose last run took so long."""
    return min(max(took / SHARE, shortest), longest)


class DutyLoop:
    def __init__(self, duty: Duty) -> None:
        self.duty = duty
        self.failures = 0
        """Failures in a row; readiness and `doctor` look at it."""
        self.ran_at: float | None = None
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name=f"duty {self.duty.name}")

    def wake(self) -> None:
        self._wake.set()

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            started = time.monotonic()
            await self._run_once()
            shortest = self.duty.interval
            pause = spaced(time.monotonic() - started, shortest, getattr(self.duty, "longest", shortest))
            pause *= random.uniform(0.9, 1.1) * min(2**self.failures, 16)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wake.wait()

    async def _run_once(self) -> None:
        try:
            counts = await self.duty.run_once()
        except Exception as error:  # noqa: BLE001 - a duty must outlive whatever goes wrong in one run
            self.failures = min(self.failures + 1, 10)
            log.warning("duty_failed", duty=self.duty.name, error=repr(error), in_a_row=self.failures)
            return
        self.failures = 0
        self.ran_at = time.monotonic()
        if any(counts.values()):
            log.debug("duty_ran", duty=self.duty.name, **counts)
