"""Backfill: runs the ticks of a past range, those that succeeded left out.

It is a row in the database that any server goes on with, so it survives whichever server began it. Its jobs have ids
derived from (backfill, tick): going on twice from the same place makes nothing twice.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import islice, takewhile
from typing import Final

import asyncpg
import msgspec

from horae.engine.access import Caller
from horae.engine.clock import Clock
from horae.engine.pace import Pace
from horae.engine.planning import Planner, definition_of, job_id_of
from horae.engine.schedules import Scheduling
from horae.model.definition import ScheduleDefinition
from horae.model.errors import DuplicateBackfill, HoraeError, InvalidInput, NotFound, Overloaded, StoreUnavailable
from horae.model.ids import derived_id
from horae.model.job import check_instant
from horae.model.rank import micros
from horae.model.ticks import Tick, ticks
from horae.store.backfills import Backfills, NewBackfill, Step
from horae.store.schedules import TickRow

MAX_TICKS: Final = 10_000
MAX_CONCURRENCY: Final = 1000
CHUNK: Final = 200
MOMENT: Final = timedelta(microseconds=1)
CLOCKS_APART: Final = timedelta(minutes=1)
"""So far may the clock of whoever says *until now* be ahead of ours."""


class BackfillTick(msgspec.Struct, frozen=True):
    tick: Tick
    left_out: str | None
    """Why it will not run; None: it will."""


class Backfilling:
    def __init__(self, backfills: Backfills, planner: Planner, scheduling: Scheduling, clock: Clock) -> None:
        self._backfills = backfills
        self._planner = planner
        self._scheduling = scheduling
        self._clock = clock

    async def look(self, tenant_id: int, name: str, since: datetime, until: datetime) -> list[BackfillTick]:
        """What a backfill of this range would do."""
        until = self._checked(since, until)
        row = await self._scheduling.get(tenant_id, name)
        found = await self._ticks(row, definition_of(row), since - MOMENT, until, MAX_TICKS + 1)
        if len(found) > MAX_TICKS:
            raise InvalidInput(f"the range has more than {MAX_TICKS} ticks; take a shorter one", field="until")
        left_out = await self._left_out(row["tenant_id"], row["id"], found)
        return [BackfillTick(tick, left_out.get(tick.at)) for tick in found]

    async def start(
        self, by: Caller, tenant_id: int, name: str, since: datetime, until: datetime, concurrency: int
    ) -> asyncpg.Record:
        if not 1 <= concurrency <= MAX_CONCURRENCY:
            raise InvalidInput(f"concurrency: must be 1…{MAX_CONCURRENCY}", field="concurrency")
        until = self._checked(since, until)
        total = sum(tick.left_out is None for tick in await self.look(tenant_id, name, since, until))
        if not total:
            raise InvalidInput("there is nothing to do: no tick in the range that has not succeeded", field="since")
        row = await self._scheduling.get(tenant_id, name)
        wanted = NewBackfill(tenant_id, row["id"], since, until, concurrency, total, since - MOMENT, by.name)
        number, new = await self._backfills.backfill_create(name, wanted)
        if not new:
            raise DuplicateBackfill(
                f"backfill {number} of the schedule {name!r} is of this very range and has not ended: follow it, or "
                "cancel it first",
                backfill=number,
            )
        return await self.get(tenant_id, name, number)

    async def list_all(self, tenant_id: int, name: str, limit: int = 100) -> list[asyncpg.Record]:
        row = await self._scheduling.get(tenant_id, name)
        return await self._backfills.backfill_list(tenant_id, row["id"], None, limit)

    async def get(self, tenant_id: int, name: str, backfill_id: int) -> asyncpg.Record:
        row = await self._scheduling.get(tenant_id, name)
        found = await self._backfills.backfill_list(tenant_id, row["id"], backfill_id, 1)
        if not found:
            raise NotFound(f"the schedule {name!r} has no backfill {backfill_id}")
        return found[0]

    async def cancel(self, tenant_id: int, name: str, backfill_id: int) -> asyncpg.Record:
        """What runs goes on; what has not started is taken back. One that has ended stays as it is."""
        found = await self.get(tenant_id, name, backfill_id)
        await self._backfills.backfill_cancel(tenant_id, found["schedule_id"], backfill_id)
        return await self.get(tenant_id, name, backfill_id)

    async def go_on(self, row: asyncpg.Record, alive: int) -> Step:
        """The next ticks of a backfill whose row is locked, as many as it has room for."""
        definition = definition_of(row)
        room = row["concurrency"] - alive
        found = await self._ticks(row, definition, row["cursor_at"], row["until"], CHUNK) if room > 0 else []
        left_out = await self._left_out(row["tenant_id"], row["schedule_id"], found)
        step = Step(row["cursor_at"], [], [], 0, finished=room > 0 and not found and alive == 0)
        for tick in found:
            if len(step.jobs) >= room:
                break
            if tick.at not in left_out:
                try:
                    await self._fire(row, definition, tick, step)
                except Overloaded:
                    break  # It is the tenant's own load: the rest comes later.
            step = step._replace(cursor_at=tick.at)
        return step._replace(skipped=sum(record.job_id is None for record in step.ticks))

    async def _fire(self, row: asyncpg.Record, definition: ScheduleDefinition, tick: Tick, step: Step) -> None:
        job_id = derived_id(row["made_at"], "backfill", row["id"], micros(tick.at))
        origin = f"backfill {row['id']}"
        record = TickRow(row["schedule_id"], tick.at, origin, row["tenant_id"], row["now"], "fired", job_id)
        try:
            step.jobs.append(await self._planner.job(row, definition, tick.at, row["now"], job_id))
        except (Overloaded, StoreUnavailable):
            raise  # which passes
        except HoraeError as error:
            record = record._replace(state="skipped", job_id=None, reason=error.code, detail=error.detail)
        step.ticks.append(record)

    async def _ticks(
        self, row: asyncpg.Record, definition: ScheduleDefinition, after: datetime, until: datetime, limit: int
    ) -> list[Tick]:
        blocked = await self._planner.blocked(row["tenant_id"], definition)
        coming = takewhile(lambda tick: tick.at < until, ticks(definition, definition.name, after, blocked))
        found, pace = list[Tick](), Pace()
        for tick in islice(coming, limit):
            found.append(tick)
            await pace.keep()
        return found

    async def _left_out(self, tenant_id: int, schedule_id: int, found: Sequence[Tick]) -> dict[datetime, str]:
        left_out = {tick.at: tick.detail or tick.skipped.value for tick in found if tick.skipped is not None}
        instants = [tick.at for tick in found if tick.skipped is None]
        ids = [job_id_of(schedule_id, at) for at in instants]
        for row in await self._backfills.backfill_settled(tenant_id, schedule_id, instants, ids):
            left_out[row["at"]] = "it succeeded" if row["outcome"] else "its job has not ended"
        return left_out

    def _checked(self, since: datetime, until: datetime) -> datetime:
        """The end of the range: at most now, as later ticks are the schedule's own."""
        check_instant(since, "since")
        check_instant(until, "until")
        if until <= since:
            raise InvalidInput("until: is not after since", field="until")
        now = self._clock.now()
        if until > now + CLOCKS_APART:
            raise InvalidInput("until: a backfill is of the past; this lies ahead", field="until")
        return min(until, now)
