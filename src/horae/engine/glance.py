"""A glance at schedules in a list: their next ticks, and how punctual the last ones were."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

import asyncpg
import msgspec

from horae.engine.clock import Clock
from horae.engine.planning import Planner, definition_of
from horae.model.ticks import Tick, ticks
from horae.store.schedules import Schedules

MAX_NEXT: Final = 10
MAX_LATEST: Final = 50


class LatestTick(msgspec.Struct, frozen=True, omit_defaults=True):
    at: datetime
    state: str
    """`skipped`, `planned`, `waiting`, or the state of its job: `pending`, `running`, `succeeded` …"""
    late: float | None = None
    """Seconds from when it was due to when its job first started; jitter counts as due."""
    reason: str | None = None
    count: int = 1


class Glances:
    def __init__(self, schedules: Schedules, planner: Planner, clock: Clock) -> None:
        self._schedules = schedules
        self._planner = planner
        self._clock = clock

    async def next_ticks(self, row: asyncpg.Record, count: int) -> list[Tick]:
        """Those that will be skipped among them; none while it is paused."""
        if not count or row["paused_at"] is not None:
            return []
        definition = definition_of(row)
        blocked = await self._planner.blocked(row["tenant_id"], definition)
        left = count
        if definition.max_runs is not None:
            left = min(count, max(0, definition.max_runs - row["runs"]))
        found = list(islice(ticks(definition, definition.name, self._clock.now(), blocked), left))
        await asyncio.sleep(0)  # others want this loop too
        return found

    async def latest(
        self, tenant_id: int | None, rows: Sequence[asyncpg.Record], count: int
    ) -> dict[int, list[LatestTick]]:
        """By the number of the schedule, oldest first."""
        found: dict[int, list[LatestTick]] = defaultdict(list)
        if not count:
            return found
        jitters = {row["id"]: definition_of(row).jitter is not None for row in rows}
        for row in await self._schedules.tick_latest(tenant_id, list(jitters), count):
            found[row["schedule_id"]].insert(0, _latest(row, jitters=jitters[row["schedule_id"]]))
        return found


def _latest(row: asyncpg.Record, *, jitters: bool) -> LatestTick:
    # A tick that was missed and runs after all has a new `run_at`: only of jitter may it be taken for when it was due.
    due = row["run_at"] if jitters else row["at"]
    late = None if row["started_at"] is None else max(row["started_at"] - due, timedelta()).total_seconds()
    state = row["state"]
    if row["job_id"] is not None:
        state = row["outcome"] or ("running" if row["running"] else "pending")
    return LatestTick(row["at"], state, late, row["reason"], row["count"])
