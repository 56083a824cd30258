"""Timers: a scheduled job becomes ready at its instant.

The duty sleeps until the next due instant, which it knows from the database and from what this server schedules, and
looks at least once a second for what other servers scheduled. Dead index entries below the floor are not walked over;
the floor is the last look minus a margin, and is forgotten when the clock was set back, and now and then.

When the clock was set forward, jobs of ticks that were made ahead seem long overdue. Nothing beyond the time that was
expected becomes ready before they have been taken back, so that the policy for missed ticks decides (`on_jump`).
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog

from horae import failpoints
from horae.engine.clock import DatabaseClock
from horae.engine.signals import Signals
from horae.store.upkeep import Upkeep

log = structlog.get_logger()

BATCH: Final = 2000
LOOK_SECONDS: Final = 1.0
MARGIN: Final = timedelta(minutes=2)
FORGET_SECONDS: Final = 60.0
BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Timers:
    name = "timers"

    def __init__(self, upkeep: Upkeep, clock: DatabaseClock, signals: Signals) -> None:
        self._upkeep = upkeep
        self._clock = clock
        self._signals = signals
        self._next: datetime | None = None
        self._sooner = asyncio.Event()
        self._floor = BEGINNING
        self._forget_at = 0.0
        self._task: asyncio.Task[None] | None = None
        self.failures = 0
        self.on_jump: Callable[[], Awaitable[object]] = _nothing
        signals.on_scheduled.append(self._note)

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="duty timers")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _note(self, run_at: datetime) -> None:
        if self._next is None or run_at < self._next:
            self._next = run_at
            self._sooner.set()

    async def _run(self) -> None:
        while True:
            try:
                await self.run_once()
                self.failures = 0
            except Exception as error:  # noqa: BLE001 - the duty must outlive whatever goes wrong in one run
                self.failures = min(self.failures + 1, 10)
                log.warning("duty_failed", duty=self.name, error=repr(error), in_a_row=self.failures)
                await asyncio.sleep(min(0.05 * 2**self.failures, 1.0))
            await self._sleep()

    async def _sleep(self) -> None:
        """Until the next due instant, a sooner one, or the time for another look."""
        wait = LOOK_SECONDS
        if self._next is not None:
            wait = min(wait, self._next.timestamp() - self._clock.unix())
        if wait <= 0:
            return
        self._sooner.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(wait):
                await self._sooner.wait()

    async def run_once(self) -> Mapping[str, int]:
        """Promotes all that is due and learns when the next one is."""
        if time.monotonic() >= self._forget_at:
            self._floor = BEGINNING
            self._forget_at = time.monotonic() + FORGET_SECONDS
        self._next = None
        promoted = await self._promote(self._clock.latest())
        sent = time.monotonic()
        now, next_at = await self._upkeep.timer_next(self._floor)
        received = time.monotonic()
        if not self._clock.expects(now):
            log.warning("clock_set_forward", now=now.isoformat(), expected=self._clock.now().isoformat())
            # Before the new time is believed: if this fails, the next run tries again.
            await self.on_jump()
        self._clock.observe(now, sent, received)
        self._floor = self._floor_after(now, next_at)
        if next_at is not None:
            self._note(next_at)
        return {"promoted": promoted}

    def _floor_after(self, now: datetime, next_at: datetime | None) -> datetime:
        low = now - MARGIN
        set_back = low < self._floor
        return BEGINNING if set_back or (next_at is not None and next_at <= low) else low

    async def _promote(self, until: datetime) -> int:
        promoted = 0
        while True:
            lanes = await self._upkeep.timer_promote(self._floor, BATCH, until)
            moved = sum(int(row["moved"]) for row in lanes)
            if moved:
                failpoints.reach("timers.after_commit")
                self._signals.ready({row["lane_id"]: row["rank"] for row in lanes})
            promoted += moved
            if moved < BATCH:
                return promoted


async def _nothing() -> None: ...
