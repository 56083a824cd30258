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
from horae.model.errors import HoraeError
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
        await self.detach_old(today)
        await self._clean(today)
        # Last: object storage that cannot delete keeps nothing in the database.
        return {"made": made, "dropped": await self.drop_detached()}

    async def make_ahead(self, today: date) -> int:
        days = set(await self._upkeep.partition_days())
        made = 0
        for ahead in range(DAYS_AHEAD + 1):
            day = today + timedelta(days=ahead)
            if day not in days:
                made += await self._upkeep.partition_make(day)
        return made

    async def detach_old(self, today: date) -> int:
        """Takes days past retention out of the tables, and what ended in them out of the database."""
        old = [day for day in await self._upkeep.partition_days() if day < today - self._retention]
        for day in old:
            await self._upkeep.partition_detach(day, day_bounds(day)[1])
        for day in await self._upkeep.partition_detached():
            await self._upkeep.partition_empty(day)
        return len(old)

    async def drop_detached(self) -> int:
        """Removes days that were taken out, with their objects. Where that fails, the next run finds the day again."""
        detached, failures = await self._upkeep.partition_detached(), []
        for day in detached:
            try:
                await self._drop(day)
            except HoraeError as error:
                log.warning("day_not_dropped", day=day.isoformat(), error=error.detail)
                failures.append(error)
        if failures:
            raise failures[0]
        return len(detached)

    async def _drop(self, day: date) -> None:
        # Those carried over may have ended since, or have stored what they are about to end with.
        carried = await self._upkeep.carried_over(*day_bounds(day))
        await self._objects.remove(results_of_day(day), spared={str(job_id) for job_id in carried})
        # Last, so that a server that dies before leaves a day that others find.
        await self._upkeep.partition_drop(day)
        failpoints.reach("partition.after_drop")
        log.info("day_dropped", day=day.isoformat(), carried_over=len(carried))

    async def _clean(self, today: date) -> None:
        while await self._upkeep.idempotency_clean(IDEMPOTENCY_SECONDS, CLEAN_ROWS) == CLEAN_ROWS:
            pass
        await self._upkeep.checkpoint_clean(day_bounds(today - self._retention)[0])
        gone = await self._upkeep.leftover_clean(self._retention.total_seconds())
        await self._objects.delete([result_key(row["tenant_id"], row["id"], row["attempt"]) for row in gone])
