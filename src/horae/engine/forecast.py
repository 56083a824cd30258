"""Forecast: what all schedules of a tenant will do, minute by minute, where they collide, and how to spread them."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice, takewhile
from typing import Final

import msgspec

from horae.engine.planning import Planner, definition_of
from horae.engine.schedules import Scheduling
from horae.model.definition import ScheduleDefinition
from horae.model.ticks import ticks

MAX_SCHEDULES: Final = 10_000
MAX_TICKS: Final = 1440
"""Of one schedule in a day: those that fire more often than every minute are in every minute anyway."""
NAMES: Final = 10


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
        rows = await self._scheduling.list_all(tenant_id, None, ("", -1), MAX_SCHEDULES + 1)
        found = [definition_of(row) for row in rows[:MAX_SCHEDULES] if row["paused_at"] is None]
        now, by_minute = await self._count(tenant_id, found, since, until)
        full = [(at, number) for at, number in now.most_common() if len(by_minute[at]) > 1][:collisions]
        proposals = _proposals(found, {name for at, _ in full for name in by_minute[at]})
        after, _ = await self._count(tenant_id, _spread(found, proposals), since, until)
        peak, peak_spread = max(now.values(), default=0), max(after.values(), default=0)
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
            coming = ticks(definition, definition.name, since - timedelta(microseconds=1), blocked)
            instants = (tick.run_at for tick in takewhile(lambda t: t.at < until, coming) if tick.skipped is None)
            for number, minute in enumerate(islice(_minutes(instants), MAX_TICKS)):
                total[minute] += 1
                by_minute[minute].add(definition.name)
                if number % 100 == 0:
                    await asyncio.sleep(0)  # others want this loop too
        return total, by_minute


def _minutes(instants: Iterator[datetime]) -> Iterator[datetime]:
    """The minutes in which there is at least one tick."""
    last = None
    for instant in instants:
        minute = instant.replace(second=0, microsecond=0)
        if minute != last:
            yield minute
        last = minute


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


def _spread(found: list[ScheduleDefinition], proposals: list[Proposal]) -> list[ScheduleDefinition]:
    by_name = {proposal.schedule: proposal.cron for proposal in proposals}
    return [
        msgspec.structs.replace(d, rules=[msgspec.structs.replace(d.rules[0], cron=by_name[d.name])])
        if d.name in by_name
        else d
        for d in found
    ]
