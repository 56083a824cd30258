"""Days that pass in minutes: PostgreSQL's clock, which all of Horae goes by, is set to midnight again and again.

So days of jobs are made ahead and dropped while the soak runs, with the setting that users have (`retention_days`), and
all else that is kept for hours or days is forgotten, too. Between two midnights time goes as it does. Servers look
after partitions every ten minutes, which may be longer than such a day; so after each midnight the soak runs that duty
itself, as one more server would.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from typing import Final

import asyncpg

from horae.bench.installation import Installation
from horae.bench.soak.tally import Tally
from horae.engine.clock import DatabaseClock
from horae.engine.duties.partitions import Partitions
from horae.store.database import Database, DatabaseConfig
from horae.store.objects import Objects, ObjectsConfig
from horae.store.upkeep import Upkeep
from horae.testing.clocks import SettableClock

RETENTION_DAYS: Final = 2
"""The least that can be set."""
NOTICED: Final = 3.0
"""Seconds by which every server has seen that the clock was set."""
TRIES: Final = 20


class Days:
    def __init__(self, upkeep: Upkeep, objects: Objects, clock: SettableClock) -> None:
        self._upkeep = upkeep
        self._clock = clock
        self._time = DatabaseClock()
        self._duty = Partitions(upkeep, objects, self._time, timedelta(days=RETENTION_DAYS))
        self.made = self.dropped = self.passed = self.tried_again = 0

    async def run(self, length: float, calm: asyncio.Lock, tally: Tally) -> None:
        """A midnight each `length` seconds, until cancelled."""
        while True:
            await asyncio.sleep(length - tally.now() % length)
            async with calm:
                await tally.count("midnights", self._midnight)

    async def _midnight(self) -> None:
        self._clock.step(until_midnight(await self._upkeep.clock()))
        await asyncio.sleep(NOTICED)
        sent = time.monotonic()
        self._time.observe(await self._upkeep.clock(), sent, time.monotonic())
        counts = await self._do_duty()
        self.passed += 1
        self.made += counts["made"]
        self.dropped += counts["dropped"]

    async def _do_duty(self) -> Mapping[str, int]:
        """It asks for its locks briefly, so that nothing queues up behind it: under load, more than once."""
        for _ in range(TRIES):
            with suppress(asyncpg.LockNotAvailableError):
                return await self._duty.run_once()
            self.tried_again += 1
            await asyncio.sleep(1)
        return await self._duty.run_once()


def until_midnight(now: datetime) -> timedelta:
    """A little more, for a clock that is set by whole seconds."""
    tomorrow = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return tomorrow - now + timedelta(seconds=1)


@asynccontextmanager
async def passing_days(place: Installation, clock: SettableClock) -> AsyncIterator[Days]:
    database = Database(DatabaseConfig.small(place.dsn))
    await database.open()
    try:
        yield Days(Upkeep(database), Objects(ObjectsConfig(str(place.folder / "objects"))), clock)
    finally:
        await database.close()
