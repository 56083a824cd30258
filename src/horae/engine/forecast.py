"""Forecast: what all schedules of a tenant will do, minute by minute, where they collide, and how to spread them."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

import msgspec

from horae.engine.planning import Planner, definition_of
from horae.engine.schedules import Scheduling
from horae.model.calendars import BlockedDays
from horae.model.definition import ScheduleDefinition
from horae.model.ticks import Tick, ticks
from horae.store.schedules import Wanted

MAX_SCHEDULES: Final = 10_000
MAX_TICKS: Final = 1440
"""Of one schedule in a day: those that fire more often than every minute are in every minute anyway."""
NAMES: Final = 10
_MOMENT: Final = timedelta(microseconds=1)


class Minute(msgspec.Struct, frozen=True):
    at: datetime
    ticks: int


class Collision(msgspec.Struct, frozen=True):
    at: datetime
    ticks: int
    schedules: list[str]
    """Some of them."""


class Proposal(msgspec.Struct, frozen=True):
    """Another rule for a schedule: the same but for the minute, which its name chooses."""

    schedule: str
    cron: str
    instead: str


class Forecast(msgspec.Struct, frozen=True):
    since: datetime
    until: datetime
    schedules: int
    minutes: list[Minute]
    collisions: list[Collision]
    """The fullest minutes in which several schedules fire, fullest first."""
    proposals: list[Proposal]
    peak: int
    peak_spread: int
    """The fullest minute if all proposals were taken."""
    truncated: bool


class Forecasting:
    def __init__(self, scheduling: Scheduling, planner: Planner) -> None:
        self._scheduling = scheduling
        self._planner = planner

    async def forecast(self, tenant_id: int, since: datetime, until: datetime, collisions: int) -> Forecast:
        rows = await self._scheduling.list_all(tenant_id, Wanted(), ("", -1), MAX_SCHEDULES + 1)
        found = [definition_of(row) for row in rows[:MAX_SCHEDULES] if row["paused_at"] is None]
        now, by_minute = await self._count(tenant_id, found, since, until)
        full = [(at, number) for at, number in now.most_common() if len(by_minute[at]) > 1][:collisions]
        proposals = _proposals(found, {name for at, _ in full for name in by_minute[at]})
        before, after = _spread(found, proposals)
        moved, _ = await self._count(tenant_id, before, since, until)
        to, _ = await self._count(tenant_id, after, since, until)
        spread = now - moved + to
        peak, peak_spread = max(now.values(), default=0), max(spread.values(), default=0)
        if peak_spread >= peak:
            proposals, peak_spread = [], peak  # They would only move things about.
        return Forecast(
            since=since,
            until=until,
            schedules=len(found),
            minutes=[Minute(at, now[at]) for at in sorted(now)],
            collisions=[Collision(at, number, sorted(by_minute[at])[:NAMES]) for at, number in full],
            proposals=proposals,
            peak=peak,
            peak_spread=peak_spread,
            truncated=len(rows) > MAX_SCHEDULES,
        )

    async def _count(
        self, tenant_id: int, found: list[ScheduleDefinition], since: datetime, until: datetime
    ) -> tuple[Counter[datetime], dict[datetime, set[str]]]:
        total: Counter[datetime] = Counter()
        by_minute: dict[datetime, set[str]] = defaultdict(set)
        for definition in found:
            blocked = await self._planner.blocked(tenant_id, definition)
            minutes = _minutes(definition, blocked, since - _MOMENT, until)
            for number, minute in enumerate(islice(minutes, MAX_TICKS)):
                total[minute] += 1
                by_minute[minute].add(definition.name)
                if number % 100 == 0:
                    await asyncio.sleep(0)  # others want this loop too
        return total, by_minute


def _minutes(
    definition: ScheduleDefinition, blocked: BlockedDays, after: datetime, until: datetime
) -> Iterator[datetime]:
    """The minutes in which there is at least one tick, once each."""
    last = None
    for tick in _first_of_minutes(definition, blocked, after, until):
        minute = _minute(tick.run_at)
        if tick.skipped is None and minute != last:
            yield minute
            last = minute


def _first_of_minutes(
    definition: ScheduleDefinition, blocked: BlockedDays, after: datetime, until: datetime
) -> Iterator[Tick]:
    """The first tick of each minute. Of a schedule that fires every second, the other 59 are not looked at."""
    last = None
    coming = ticks(definition, definition.name, after, blocked)
    while (tick := next(coming, None)) is not None and tick.at < until:
        minute = _minute(tick.at)
        if minute == last:
            coming = ticks(definition, definition.name, minute + timedelta(minutes=1) - _MOMENT, blocked)
        else:
            yield tick
        last = minute


def _minute(instant: datetime) -> datetime:
    return instant.replace(second=0, microsecond=0)


def _proposals(found: list[ScheduleDefinition], colliding: set[str]) -> list[Proposal]:
    proposals = []
    for definition in found:
        if definition.name in colliding and len(definition.rules) == 1 and definition.rules[0].cron is not None:
            spread = _hashed(definition.rules[0].cron)
            if spread is not None:
                proposals.append(Proposal(definition.name, spread, definition.rules[0].cron))
    return proposals


def _hashed(cron: str) -> str | None:
    """A rule at one fixed minute fires at a minute chosen by the schedule's name instead."""
    named = {"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *"}
    fields = named.get(cron.strip().lower(), cron).split()
    minute = len(fields) - 5
    if minute not in {0, 1} or not fields[minute].isdigit():
        return None
    return " ".join([*fields[:minute], "H", *fields[minute + 1 :]])


def _spread(
    found: list[ScheduleDefinition], proposals: list[Proposal]
) -> tuple[list[ScheduleDefinition], list[ScheduleDefinition]]:
    """The schedules that would change, as they are and as they would be."""
    by_name = {proposal.schedule: proposal.cron for proposal in proposals}
    before = [definition for definition in found if definition.name in by_name]
    after = [
        msgspec.structs.replace(d, rules=[msgspec.structs.replace(d.rules[0], cron=by_name[d.name])]) for d in before
    ]
    return before, after
