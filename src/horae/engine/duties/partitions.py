"""Partitions: there is always a partition for the days to come, and none older than retention.

A day is dropped whole. Its jobs that have not ended are carried over first. Locks are asked for briefly and again
later, so that nothing waits behind us.
"""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Final

import structlog

from horae import failpoints
from horae.engine.clock import Clock
from horae.model.ids import day_bounds
from horae.store.objects import Objects, result_key, results_of_day
from horae.store.upkeep import Upkeep

log = structlog.get_logger()

DAYS_AHEAD: Final = 3
IDEMPOTENCY_SECONDS: Final = 2 * 86_400.0
CLEAN_ROWS: Final = 10_000


class Partitions:
    name = "partitions"
    interval = 600.0

    def __init__(self, upkeep: Upkeep, objects: Objects, clock: Clock, retention: timedelta) -> None:
        self._upkeep = upkeep
        self._objects = objects
        self._clock = clock
        self._retention = retention

    async def run_once(self) -> Mapping[str, int]:
        today = self._clock.now().date()
        made = await self.make_ahead(today)
        dropped = await self.drop_old(today)
        await self._upkeep.idempotency_clean(IDEMPOTENCY_SECONDS, CLEAN_ROWS)
        gone = await self._upkeep.leftover_clean(self._retention.total_seconds())
        await self._objects.delete([result_key(row["tenant_id"], row["id"], row["attempt"]) for row in gone])
        await self._upkeep.checkpoint_clean(day_bounds(today - self._retention)[0])
        return {"made": made, "dropped": dropped}

    async def make_ahead(self, today: date) -> int:
        days = set(await self._upkeep.partition_days())
        made = 0
        for ahead in range(DAYS_AHEAD + 1):
            day = today + timedelta(days=ahead)
            if day not in days:
                made += await self._upkeep.partition_make(day)
        return made

    async def drop_old(self, today: date) -> int:
        dropped = len(await self._upkeep.partition_orphans())
        for day in await self._upkeep.partition_days():
            if day < today - self._retention:
                carried = await self._upkeep.partition_drop(day, day_bounds(day)[1])
                failpoints.reach("partition.after_drop")
                await self._objects.remove(results_of_day(day))
                log.info("day_dropped", day=day.isoformat(), carried_over=carried)
                dropped += 1
        return dropped
