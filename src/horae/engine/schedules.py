"""Schedules: create, change, pause, resume, delete, trigger, and look ahead.

Every change takes back what has not started, in its own transaction, and lets the rule begin anew. Ticks that were due
and waited for a worker are still owed: they run as the schedule is now.
"""

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final, NamedTuple

import asyncpg
import msgspec
import structlog

from horae.engine.access import Caller
from horae.engine.calendars import Calendars
from horae.engine.clock import Clock
from horae.engine.pace import Pace
from horae.engine.planning import Planner, definition_of
from horae.engine.signals import Signals
from horae.engine.tally import Tally
from horae.engine.zones import tzdata_version
from horae.model.calendars import CalendarDefinition
from horae.model.definition import ScheduleDefinition, settled
from horae.model.errors import AlreadyExists, InvalidInput, NotFound, WrongState
from horae.model.ids import derived_id
from horae.model.schedule import check_timing, shortest_gap
from horae.model.ticks import Tick, ticks
from horae.model.timing import Timing
from horae.store.schedules import Change, Decide, Plans, Saved, Schedules, TickRow, Wanted

log = structlog.get_logger()

STATES: Final = ("active", "paused", "ended")
PREVIEW: Final = 10
MAX_PREVIEW: Final = 10_000
PREVIEW_SECONDS: Final = 10.0
"""A tick may be made of thousands that were moved to one place, so a number of them does not say how long it takes."""
MAX_INTERVAL: Final = 31 * 86_400
MOMENT: Final = timedelta(microseconds=1)
_encoder = msgspec.json.Encoder()


class _Made(NamedTuple):
    """A job that was stored, as far as it is counted."""

    id: str
    lane_id: int


class Scheduling:
    def __init__(
        self, schedules: Schedules, planner: Planner, calendars: Calendars, clock: Clock, signals: Signals, tally: Tally
    ) -> None:
        self._schedules = schedules
        self._planner = planner
        self._calendars = calendars
        self._clock = clock
        self._signals = signals
        self._tally = tally
        self.nudge: Callable[[], None] = lambda: None
        """Lets the duty that plans ticks look at once."""

    async def create(
        self, by: Caller, tenant_id: int, definition: ScheduleDefinition, why: str, *, paused: bool = False
    ) -> asyncpg.Record:
        checked = await self.check(tenant_id, definition)
        now = self._clock.now()
        first = await self._planner.first_after(tenant_id, checked, now)
        saved = _saved(checked, now, first, by.key_id, paused=paused)
        if not await self._schedules.schedule_create(tenant_id, checked.name, saved, by.name, why):
            raise AlreadyExists(f"there is a schedule {checked.name!r} already: change it with PUT, or choose a name")
        log.info("schedule_created", schedule=checked.name, tenant=tenant_id, by=by.name)
        self.nudge()
        return await self.get(tenant_id, checked.name)

    async def put(
        self, by: Caller, tenant_id: int, definition: ScheduleDefinition, why: str
    ) -> tuple[asyncpg.Record, str]:
        """Creates the schedule, or makes it so. Also tells which: created, changed or unchanged."""
        row = await self._schedules.schedule_get(tenant_id, definition.name)
        if row is None:
            try:
                return await self.create(by, tenant_id, definition, why), "created"
            except AlreadyExists:
                pass  # somebody was quicker: change theirs
        elif definition_of(row) == settled(definition):
            return row, "unchanged"
        checked = await self.check(tenant_id, definition)
        await self._change(tenant_id, checked.name, Change("changed", by.name, why), self._to(checked, by))
        return await self.get(tenant_id, checked.name), "changed"

    async def patch(self, by: Caller, tenant_id: int, name: str, changes: dict[str, Any], why: str) -> asyncpg.Record:
        """Only what is given changes; null puts a field back to its default."""
        before = msgspec.to_builtins(definition_of(await self.get(tenant_id, name)))
        if changes.get("cron") is not None or changes.get("every") is not None:
            before.pop("rules", None)
        merged = {field: value for field, value in (before | changes).items() if value is not None}
        if merged.get("name") != name:
            raise InvalidInput("name: a schedule keeps its name; make another one", field="name")
        try:
            definition = msgspec.convert(merged, ScheduleDefinition)
        except msgspec.ValidationError as error:
            raise InvalidInput(str(error)) from error
        return (await self.put(by, tenant_id, definition, why))[0]

    async def pause(self, by: Caller, tenant_id: int, name: str, why: str) -> asyncpg.Record:
        async def decide(row: asyncpg.Record, taken: Sequence[asyncpg.Record]) -> Saved:
            if row["paused_at"] is not None:
                raise WrongState(f"the schedule {name!r} is paused already")
            saved = _kept(row, taken)
            if taken:
                first = min(tick["at"] for tick in taken)
                saved = saved._replace(cursor_at=first - MOMENT, next_at=first)
            return saved._replace(paused=True)

        await self._change(tenant_id, name, Change("paused", by.name, why), decide)
        return await self.get(tenant_id, name)

    async def resume(self, by: Caller, tenant_id: int, name: str, why: str) -> asyncpg.Record:
        """Ticks that fell into the pause are missed ones: the schedule's policy says what becomes of them."""

        async def decide(row: asyncpg.Record, taken: Sequence[asyncpg.Record]) -> Saved:
            if row["paused_at"] is None:
                raise WrongState(f"the schedule {name!r} is not paused")
            return _kept(row, taken)._replace(paused=False)

        await self._change(tenant_id, name, Change("resumed", by.name, why), decide)
        return await self.get(tenant_id, name)

    async def delete(self, by: Caller, tenant_id: int, name: str, why: str) -> None:
        if not await self._schedules.schedule_delete(tenant_id, name, by.name, why):
            raise _missing(name)
        log.info("schedule_deleted", schedule=name, tenant=tenant_id, by=by.name)

    async def trigger(self, by: Caller, tenant_id: int, name: str, params: dict[str, Any] | None) -> str:
        """One run now, whatever the rule, the overlap and a pause say. Later ticks see it as one of the runs."""
        row = await self.get(tenant_id, name)
        definition = definition_of(row)
        if params is not None:
            told = definition.tick_param in params
            tick_param = None if told else definition.tick_param
            definition = msgspec.structs.replace(definition, params=params, tick_param=tick_param)
        now = self._clock.now()
        job_id = derived_id(now, "trigger", row["id"])
        job = (await self._planner.job(row, definition, now, now, job_id))._replace(key_id=by.key_id or None)
        record = TickRow(row["id"], now, "trigger", tenant_id, now, "fired", job_id, None, f"by {by.name}")
        self.announce(await self._schedules.tick_put([job], [record]))
        log.info("schedule_triggered", schedule=name, tenant=tenant_id, by=by.name)
        return str(job_id)

    async def get(self, tenant_id: int, name: str) -> asyncpg.Record:
        row = await self._schedules.schedule_get(tenant_id, name)
        if row is None:
            raise _missing(name)
        return row

    async def list_all(
        self, tenant_id: int | None, wanted: Wanted, after: tuple[str, int], limit: int
    ) -> list[asyncpg.Record]:
        if wanted.state is not None and wanted.state not in STATES:
            raise InvalidInput(f"state: must be one of {', '.join(STATES)}", field="state")
        return await self._schedules.schedule_list(tenant_id, wanted, after, limit)

    async def history(self, tenant_id: int, name: str, limit: int) -> list[asyncpg.Record]:
        rows = await self._schedules.schedule_history(tenant_id, name, limit)
        if not rows:
            raise _missing(name)
        return rows

    async def ticks(
        self, tenant_id: int, name: str, before: datetime | None, state: str | None, limit: int
    ) -> list[asyncpg.Record]:
        """What became of its ticks, latest first."""
        row = await self.get(tenant_id, name)
        before = before or self._clock.now() + timedelta(days=366)
        return await self._schedules.tick_list(tenant_id, row["id"], before, state, limit)

    async def check(self, tenant_id: int, definition: ScheduleDefinition) -> ScheduleDefinition:
        """The definition with its rules written out. Refuses, with the reason, what could not work."""
        checked = await self.check_times(tenant_id, definition)
        await self.check_job(tenant_id, checked)
        return checked

    async def check_times(self, tenant_id: int, definition: ScheduleDefinition) -> ScheduleDefinition:
        checked = settled(definition)
        now = self._clock.now()
        check_timing(checked, checked.name, now)
        await self._planner.blocked(tenant_id, checked)
        await self._check_interval(tenant_id, checked, now)
        return checked

    async def check_job(self, tenant_id: int, definition: ScheduleDefinition) -> None:
        await self._planner.try_job(tenant_id, definition, self._clock.now())

    async def _check_interval(self, tenant_id: int, definition: ScheduleDefinition, now: datetime) -> None:
        shortest = timedelta(seconds=await self._schedules.tenant_interval(tenant_id))
        gap = shortest_gap(definition, definition.name, now)
        if gap < shortest:
            raise InvalidInput(
                f"rules: it would fire {gap.total_seconds():g} s apart, and this tenant's schedules may fire every "
                f"{shortest.total_seconds():g} s at most; ask an admin, or fire less often",
                field="rules",
            )

    async def shortest_interval(self, tenant_id: int) -> float:
        return await self._schedules.tenant_interval(tenant_id)

    async def set_shortest_interval(self, tenant_id: int, seconds: float) -> None:
        """Of schedules saved from now on."""
        if not 1 <= seconds <= MAX_INTERVAL:
            raise InvalidInput(
                f"shortest_interval: must be 1 s … {MAX_INTERVAL // 86_400} days", field="shortest_interval"
            )
        await self._schedules.tenant_interval_put(tenant_id, seconds)

    async def preview(
        self, tenant_id: int, definition: ScheduleDefinition, since: datetime | None, until: datetime | None, count: int
    ) -> list[Tick]:
        """The ticks to come, those that will be skipped among them. Nothing is saved."""
        blocked = await self._planner.blocked(tenant_id, definition)
        after = (since or self._clock.now()) - MOMENT
        found, pace, began = list[Tick](), Pace(), time.monotonic()
        for tick in islice(ticks(definition, definition.name, after, blocked), min(count, MAX_PREVIEW)):
            if until is not None and tick.at >= until:
                break
            found.append(tick)
            await pace.keep()
            if time.monotonic() - began > PREVIEW_SECONDS:
                raise InvalidInput(f"count: {count} ticks take too long to work out; ask for fewer", field="count")
        return found

    async def put_calendar(self, by: Caller, tenant_id: int, calendar: CalendarDefinition) -> None:
        """Schedules that use the calendar are planned anew."""
        await self._calendars.put(tenant_id, calendar, by.name)
        names = await self._calendars.including(tenant_id, calendar.name)
        for schedule in await self._calendars.used_by(tenant_id, names):
            await self.replan(tenant_id, schedule)

    async def replan(self, tenant_id: int, name: str) -> None:
        """Ticks to come are taken back and planned anew by the same definition."""

        async def decide(row: asyncpg.Record, taken: Sequence[asyncpg.Record]) -> Saved:
            definition = definition_of(row)
            return await self._begun_anew(row, taken, definition, row["cursor_at"])

        await self._change(tenant_id, name, None, decide)

    async def recall(self, tenant_id: int, name: str) -> None:
        """Jobs made ahead whose time passed while no server ran are taken back: the policy for missed ticks decides."""

        async def decide(row: asyncpg.Record, taken: Sequence[asyncpg.Record]) -> Saved:
            saved = _kept(row, taken)
            if taken and row["paused_at"] is None:
                first = min(tick["at"] for tick in taken)
                saved = saved._replace(cursor_at=first - MOMENT, next_at=first)
            return saved

        await self._change(tenant_id, name, None, decide, ready_too=False)

    def _to(self, definition: ScheduleDefinition, by: Caller) -> Decide:
        async def decide(row: asyncpg.Record, taken: Sequence[asyncpg.Record]) -> Saved:
            # With the same timing, ticks that nobody has seen to yet are still owed.
            cursor = row["cursor_at"] if _same_timing(definition, definition_of(row)) else row["now"]
            saved = await self._begun_anew(row, taken, definition, cursor)
            return saved._replace(key_id=by.key_id or None)

        return decide

    async def _begun_anew(
        self, row: asyncpg.Record, taken: Sequence[asyncpg.Record], definition: ScheduleDefinition, cursor: datetime
    ) -> Saved:
        cursor = min(cursor, row["now"])
        plans = Plans.empty()
        if row["paused_at"] is None:
            await self._planner.again(row, definition, [tick for tick in taken if tick["run_at"] <= row["now"]], plans)
        first = await self._planner.first_after(row["tenant_id"], definition, cursor)
        runs = row["runs"] - sum(tick["fired"] for tick in taken) + len(plans.jobs)
        if definition.max_runs is not None and runs >= definition.max_runs:
            first = None
        saved = _saved(definition, cursor, first, row["key_id"], paused=row["paused_at"] is not None)
        return saved._replace(runs=runs, again=plans.jobs, ticks=plans.ticks)

    async def _change(
        self, tenant_id: int, name: str, change: Change | None, decide: Decide, *, ready_too: bool = True
    ) -> None:
        made = await self._schedules.schedule_change(tenant_id, name, change, decide, ready_too=ready_too)
        if made is None:
            raise _missing(name)
        if change is not None:
            log.info(f"schedule_{change.action}", schedule=name, tenant=tenant_id, by=change.by)
        self.announce(made)
        self.nudge()

    def announce(self, made: Sequence[asyncpg.Record]) -> None:
        """Tells whoever waits on this server, and whoever counts, which jobs there are now."""
        self._tally.submitted([_Made(str(row["id"]), row["lane_id"]) for row in made])
        heads: dict[int, int] = {}
        for row in made:
            if row["due"]:
                heads[row["lane_id"]] = min(row["rank"], heads.get(row["lane_id"], row["rank"]))
        if heads:
            self._signals.ready(heads)
        if later := [row["run_at"] for row in made if not row["due"]]:
            self._signals.scheduled(min(later))


def _saved(
    definition: ScheduleDefinition, cursor: datetime, next_at: datetime | None, key_id: int | None, *, paused: bool
) -> Saved:
    text = _encoder.encode(definition).decode()
    return Saved(definition.task, text, cursor, next_at, 0, paused, tzdata_version(), key_id or None, [], [])


def _kept(row: asyncpg.Record, taken: Sequence[asyncpg.Record]) -> Saved:
    """The schedule as it is."""
    runs = row["runs"] - sum(tick["fired"] for tick in taken)
    return Saved(row["task"], row["definition"], row["cursor_at"], row["next_at"], runs, row["paused_at"] is not None,
                 row["tzdata"], row["key_id"], [], [])  # fmt: skip


def _same_timing(one: Timing, other: Timing) -> bool:
    return all(getattr(one, field) == getattr(other, field) for field in Timing.__struct_fields__)


def _missing(name: str) -> NotFound:
    return NotFound(f"there is no schedule {name!r}")
