"""Planning: from a schedule's row to the jobs and records of its ticks. No writes here; the caller holds the row."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final
from uuid import UUID

import asyncpg
import msgspec
import structlog

from horae.engine.access import Caller
from horae.engine.calendars import Calendars
from horae.engine.submit import Submit
from horae.model.calendars import BlockedDays
from horae.model.definition import ScheduleDefinition, missed_window, tick_request
from horae.model.errors import HoraeError, InvalidInput, Overloaded, StoreUnavailable
from horae.model.ids import derived_id
from horae.model.job import unique_of
from horae.model.overlap import WAIT, CatchUp, Deed, Overlap, catch_up, is_missed, judge, kept
from horae.model.roles import GRANTS, Role
from horae.model.ticks import Tick, ticks
from horae.store.jobs import NewJob
from horae.store.schedules import Advance, Plans, TickJob, TickRow

log = structlog.get_logger()

AHEAD: Final = timedelta(seconds=60)
"""Ticks up to so far ahead are made jobs, or noted to be judged when they are due."""
LOOK_AGAIN: Final = timedelta(milliseconds=500)
WALK: Final = 500
BROKEN_PAUSE: Final = timedelta(minutes=2)
_definition = msgspec.json.Decoder(ScheduleDefinition)


def definition_of(row: asyncpg.Record) -> ScheduleDefinition:
    return _definition.decode(row["definition"])


def job_id_of(schedule_id: int, at: datetime) -> UUID:
    return derived_id(at, "schedule", schedule_id)


class Planner:
    def __init__(self, submit: Submit, calendars: Calendars) -> None:
        self._submit = submit
        self._calendars = calendars

    async def blocked(self, tenant_id: int, definition: ScheduleDefinition) -> BlockedDays:
        return await self._calendars.blocked(tenant_id, definition.calendars)

    async def first_after(self, tenant_id: int, definition: ScheduleDefinition, cursor: datetime) -> datetime | None:
        """The next tick after the cursor."""
        blocked = await self.blocked(tenant_id, definition)
        tick = next(ticks(definition, definition.name, cursor, blocked), None)
        return None if tick is None else tick.at

    async def job(
        self, row: asyncpg.Record, definition: ScheduleDefinition, at: datetime, run_at: datetime, job_id: UUID
    ) -> TickJob:
        """The job of a tick. Raises what a submit would: the task may have vanished, or its schema changed."""
        made = await self._prepare(row["tenant_id"], definition, at, run_at)
        self._submit.check_gates(made)
        return TickJob(job_id, made.rank, made.run_at, made.tenant_id, made.lane_id, row["key_id"], made.priority,
                       made.params, made.options)  # fmt: skip

    async def try_job(self, tenant_id: int, definition: ScheduleDefinition, now: datetime) -> None:
        """Raises what a submit of the schedule's job would raise now."""
        await self._prepare(tenant_id, definition, now, now)

    async def _prepare(self, tenant_id: int, definition: ScheduleDefinition, at: datetime, run_at: datetime) -> NewJob:
        made = await self._submit.prepare(_caller(tenant_id), tick_request(definition, at, run_at))
        if unique_of(made.options) is not None:
            # Ticks are stored many at a time, without the lock by which others of the same key are found.
            raise InvalidInput(
                f"task: the jobs of task {definition.task!r} are unique, which ticks cannot be; schedule a task "
                "without `unique`, and let `overlap` say what becomes of a tick while another runs",
                field="task",
            )
        return made

    async def plan(self, rows: Sequence[asyncpg.Record]) -> Plans:
        """What becomes of the ticks that are near."""
        plans = Plans.empty()
        for row in rows:
            try:
                plans.take(await self._plan(row))
            except StoreUnavailable:
                raise  # which passes: after a pause the ticks would count as missed
            except Exception as error:  # noqa: BLE001 - one schedule that cannot be read must not stop the others
                log.warning("schedule_broken", schedule=row["name"], tenant=row["tenant_id"], error=repr(error))
                plans.advances.append(Advance(row["id"], row["cursor_at"], row["now"] + BROKEN_PAUSE))
            await asyncio.sleep(0)  # others want this loop too
        return plans

    async def _plan(self, row: asyncpg.Record) -> Plans:
        plans = Plans.empty()
        definition, now = definition_of(row), row["now"]
        blocked = await self.blocked(row["tenant_id"], definition)
        rule = catch_up(definition.missed, definition.missed_limit, missed_window(definition))
        found, following = _walk(definition, row["cursor_at"], blocked, now + AHEAD, rule.most + WALK)
        if following is not None and is_missed(following.run_at, now):
            # There is more to catch up with than one walk. The last of these may be among the latest, so they wait.
            cut = len(found) - rule.most
            found, following = found[:cut], found[cut] if rule.most else following
            rule = CatchUp(0)
        gone = _missed(found, rule, now)
        room = None if definition.max_runs is None else definition.max_runs - row["runs"]
        for missed, group in groupby(found, key=lambda tick: tick.at in gone):
            together = list(group)
            if missed:
                plans.ticks.append(_missed_row(row, together))
            else:
                room = await self._settle(row, definition, together, room, plans)
        if room is not None and room <= 0:
            following = None
        cursor = found[-1].at if found else row["cursor_at"]
        plans.advances.append(Advance(row["id"], cursor, None if following is None else following.at))
        return plans

    async def _settle(
        self, row: asyncpg.Record, definition: ScheduleDefinition, found: list[Tick], room: int | None, plans: Plans
    ) -> int | None:
        for tick in found:
            if tick.skipped is not None:
                plans.ticks.append(_row(row, tick, "skipped", reason=tick.skipped.value, detail=tick.detail))
            elif room is not None and room <= 0:
                break
            elif definition.overlap is Overlap.ALLOW:
                fired = await self._fire(row, definition, tick.at, tick.run_at, plans)
                room = room if room is None else room - fired
            else:
                # One that was missed runs now; it must not count as missed again when it is judged.
                due = row["now"] if is_missed(tick.run_at, row["now"]) else tick.run_at
                plans.ticks.append(_row(row, tick, "planned", look_at=due, detail=tick.detail)._replace(run_at=due))
        return room

    async def _fire(
        self, row: asyncpg.Record, definition: ScheduleDefinition, at: datetime, run_at: datetime, plans: Plans
    ) -> int:
        """1 if the tick becomes a job, 0 if it cannot."""
        job_id = job_id_of(row["id"], at)
        record = TickRow(row["id"], at, "rule", row["tenant_id"], run_at, "fired", job_id)
        try:
            plans.jobs.append(await self.job(row, definition, at, run_at, job_id))
        except StoreUnavailable:
            raise  # which passes: the tick is still owed
        except Overloaded as error:
            # So does this, but it is of one tenant, for whom the others must not wait.
            waits = record._replace(state="waiting", job_id=None, reason=error.code, detail=error.detail)
            plans.ticks.append(waits._replace(look_at=row["now"] + LOOK_AGAIN))
            return 0
        except HoraeError as error:
            plans.ticks.append(record._replace(state="skipped", job_id=None, reason=error.code, detail=error.detail))
            return 0
        plans.ticks.append(record)
        return 1

    async def again(
        self, row: asyncpg.Record, definition: ScheduleDefinition, taken: Sequence[asyncpg.Record], plans: Plans
    ) -> None:
        """Ticks that were due when a change took them back are still owed: as the schedule is now."""
        for tick in taken:
            if definition.overlap is Overlap.ALLOW:
                await self._fire(row, definition, tick["at"], tick["run_at"], plans)
            else:
                plans.ticks.append(TickRow(row["id"], tick["at"], "rule", row["tenant_id"], tick["run_at"], "planned",
                                           look_at=tick["run_at"]))  # fmt: skip

    async def judge(
        self, row: asyncpg.Record, due: Sequence[asyncpg.Record], alive: Sequence[asyncpg.Record], plans: Plans
    ) -> bool:
        """What becomes of the due ticks of one schedule. True: its runs shall end, to be replaced."""
        own = Plans.empty()
        try:
            replace = await self._judge(row, due, busy=bool(alive), plans=own)
        except StoreUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - as in `plan`
            log.warning("schedule_broken", schedule=row["name"], tenant=row["tenant_id"], error=repr(error))
            plans.ticks.extend(_settled(tick, "skipped", "broken", repr(error)) for tick in due)
            return False
        plans.take(own)
        return replace

    async def _judge(self, row: asyncpg.Record, due: Sequence[asyncpg.Record], *, busy: bool, plans: Plans) -> bool:
        definition, now = definition_of(row), row["now"]
        rule = catch_up(definition.missed, definition.missed_limit, missed_window(definition))
        late = [tick for tick in due if tick["state"] == "planned" and is_missed(tick["run_at"], now)]
        keep = kept(rule, [tick["run_at"] for tick in late], now)
        gone = {tick["at"] for tick, stays in zip(late, keep, strict=True) if not stays}
        plans.ticks.extend(_settled(tick, "skipped", "missed") for tick in due if tick["at"] in gone)
        rest = [tick for tick in due if tick["at"] not in gone]
        if definition.max_runs is not None and row["runs"] >= definition.max_runs:
            plans.ticks.extend(_settled(tick, "skipped", "max_runs") for tick in rest)
            return False
        decisions = judge(definition.overlap, [tick["at"] for tick in rest], busy)
        for tick, decision in zip(rest, decisions, strict=True):
            if decision.deed is Deed.FIRE:
                await self._fire(row, definition, tick["at"], tick["run_at"], plans)
            elif decision.deed is Deed.WAIT:
                plans.ticks.append(_settled(tick, "waiting", look_at=now + LOOK_AGAIN))
            else:
                plans.ticks.append(_settled(tick, "skipped", "overlap", decision.why))
        return WAIT in decisions and definition.overlap is Overlap.REPLACE


def _walk(
    definition: ScheduleDefinition, cursor: datetime, blocked: BlockedDays, until: datetime, limit: int
) -> tuple[list[Tick], Tick | None]:
    """The ticks after the cursor that must be seen to by then, at most so many, and the one that follows them."""
    found: list[Tick] = []
    for tick in ticks(definition, definition.name, cursor, blocked):
        if tick.at > until or len(found) >= limit:
            return found, tick
        found.append(tick)
    return found, None


def _missed(found: Sequence[Tick], rule: CatchUp, now: datetime) -> set[datetime]:
    late = [tick for tick in found if tick.skipped is None and is_missed(tick.run_at, now)]
    keep = kept(rule, [tick.run_at for tick in late], now)
    return {tick.at for tick, stays in zip(late, keep, strict=True) if not stays}


def _missed_row(row: asyncpg.Record, together: Sequence[Tick]) -> TickRow:
    """Ticks that were missed in a row: a schedule may have missed thousands."""
    first, last = together[0], together[-1]
    detail = None if len(together) == 1 else f"{len(together)} ticks, the last of {last.at.isoformat()}"
    return _row(row, first, "skipped", reason="missed", detail=detail, count=len(together))


def _row(
    row: asyncpg.Record,
    tick: Tick,
    state: str,
    *,
    reason: str | None = None,
    detail: str | None = None,
    count: int = 1,
    look_at: datetime | None = None,
) -> TickRow:
    return TickRow(
        row["id"], tick.at, "rule", row["tenant_id"], tick.run_at, state, None, reason, detail, count, look_at
    )


def _settled(
    tick: asyncpg.Record, state: str, reason: str | None = None, detail: str | None = None,
    look_at: datetime | None = None,
) -> TickRow:  # fmt: skip
    return TickRow(tick["schedule_id"], tick["at"], tick["origin"], tick["tenant_id"], tick["run_at"], state, None,
                   reason, detail, 1, look_at)  # fmt: skip


def _caller(tenant_id: int) -> Caller:
    """Schedules submit in their own name; the key that made them is written into the job."""
    return Caller(0, "schedules", Role.ADMIN, tenant_id, None, GRANTS[Role.ADMIN])
