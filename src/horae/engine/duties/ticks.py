"""Ticks: every tick of every schedule becomes exactly one job, or a record of why not.

Any server does this for any schedule: the lock of the schedule's row decides who. Schedules whose next tick is near
are planned: their ticks become jobs in `timer`, up to a minute ahead, so that the top of the hour costs nothing at the
top of the hour. Where runs must not overlap, a tick is noted instead and judged when it is due; this duty wakes at that
instant. A tick's job has a derived id, so doing any of this twice, after a crash or a lost answer, changes nothing.

After a step of the clock nothing is planned or judged until `recall` has been at it, as it has when a server starts:
ticks made ahead and those never planned are missed alike, and go by the same policy at once.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import asyncpg
import structlog

from horae import failpoints
from horae.engine.access import Caller
from horae.engine.clock import DatabaseClock
from horae.engine.planning import Planner
from horae.engine.schedules import Scheduling
from horae.engine.steer import Steer
from horae.model.errors import HoraeError, NotFound
from horae.model.overlap import MISSED_AFTER
from horae.model.roles import GRANTS, Role
from horae.store.schedules import Plans, Schedules

log = structlog.get_logger()

NEAR_SECONDS: Final = 30.0
"""A schedule is planned when its next tick is this near; the plan then reaches further, so that it is not at once
near again."""
BATCH: Final = 100
LATEST_TICKS: Final = 1_000
"""How many of a schedule's ticks are looked at for one that is overdue."""
CLEAN_ROWS: Final = 10_000
CLEAN_EVERY: Final = 600


class Ticks:
    name = "ticks"
    interval = 1.0

    def __init__(
        self,
        schedules: Schedules,
        planner: Planner,
        scheduling: Scheduling,
        steer: Steer,
        clock: DatabaseClock,
        retention: timedelta,
    ) -> None:
        self._schedules = schedules
        self._planner = planner
        self._scheduling = scheduling
        self._steer = steer
        self._clock = clock
        self._retention = retention
        self._runs = 0
        self._alarm: asyncio.TimerHandle | None = None
        self.wake: Callable[[], None] = lambda: None

    async def recall(self) -> int:
        """What should have started while no server ran, or when the clock jumped, is for the policy of missed ticks."""
        overdue = await self._schedules.tick_overdue(MISSED_AFTER.total_seconds(), LATEST_TICKS)
        for row in overdue:
            with suppress(NotFound):
                await self._scheduling.recall(row["tenant_id"], row["name"])
        return len(overdue)

    async def run_once(self) -> Mapping[str, int]:
        judged = await self._judge()
        planned = await self._plan()
        self._runs += 1
        cleaned = await self._clean() if self._runs % CLEAN_EVERY == 1 else 0
        await self._set_alarm()
        return {"planned": planned, "judged": judged, "cleaned": cleaned}

    async def _plan(self) -> int:
        """All schedules that are near, batch by batch, until none is behind."""
        total, seen, again = 0, 0, True

        async def plan(rows: Sequence[asyncpg.Record]) -> Plans:
            nonlocal seen, again
            seen, again = 0, False
            if not rows or not self._clock.expects(rows[0]["now"]):
                return Plans.empty()
            plans = await self._planner.plan(rows)
            seen, again = len(rows), len(rows) == BATCH or _behind(plans, rows[0]["now"])
            return plans

        while again:
            made = await self._schedules.schedule_claim(NEAR_SECONDS, BATCH, plan)
            failpoints.reach("ticks.after_commit")
            self._scheduling.announce(made)
            total += seen
            await self._judge()  # which must not wait until all of a herd is planned
        return total

    async def _judge(self) -> int:
        total, seen = 0, 1
        replaced: list[tuple[int, UUID]] = []

        async def judge(
            rows: Sequence[asyncpg.Record], due: Sequence[asyncpg.Record], alive: Sequence[asyncpg.Record]
        ) -> Plans:
            nonlocal seen
            replaced.clear()
            plans = Plans.empty()
            if not self._clock.expects(rows[0]["now"]):
                return plans
            seen = len(due)
            ticks, runs = _by_schedule(due), _by_schedule(alive)
            for row in rows:
                if await self._planner.judge(row, ticks[row["id"]], runs[row["id"]], plans):
                    ending = (run for run in runs[row["id"]] if not run["cancel_requested"])
                    replaced.extend((row["tenant_id"], run["job_id"]) for run in ending)
            return plans

        while seen:
            seen = 0
            self._scheduling.announce(await self._schedules.tick_claim(BATCH, judge))
            for tenant_id, job_id in replaced:
                await self._replace(tenant_id, job_id)
            total += seen
        return total

    async def _replace(self, tenant_id: int, job_id: UUID) -> None:
        """If this gets lost, the next look at the tick that waits asks again."""
        by = Caller(0, "schedules", Role.ADMIN, tenant_id, None, GRANTS[Role.ADMIN])
        with suppress(HoraeError):
            await self._steer.cancel(by, job_id, "replaced by the schedule's next tick")

    async def _clean(self) -> int:
        seconds, cleaned = self._retention.total_seconds(), 0
        while (rows := await self._schedules.tick_clean(seconds, CLEAN_ROWS)) == CLEAN_ROWS:
            cleaned += rows
        return cleaned + rows

    async def _set_alarm(self) -> None:
        """Wakes this duty at the instant at which the next tick has to be judged."""
        now, look_at = await self._schedules.tick_next()
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if look_at is not None:
            wait = max((look_at - now).total_seconds(), 0.0)
            self._alarm = asyncio.get_running_loop().call_later(wait, self.wake)


def _behind(plans: Plans, now: datetime) -> bool:
    """Whether a schedule has missed more ticks than one look at it covers."""
    return any(advance.next_at is not None and advance.next_at <= now for advance in plans.advances)


def _by_schedule(rows: Sequence[asyncpg.Record]) -> defaultdict[int, list[asyncpg.Record]]:
    found: defaultdict[int, list[asyncpg.Record]] = defaultdict(list)
    for row in rows:
        found[row["schedule_id"]].append(row)
    return found
