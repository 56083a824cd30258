"""Forecast: what all schedules of a tenant will do, minute by minute, where they collide, and how to spread them.

Schedules that fire at the same instants are reckoned once, and the work is done in slices: ten thousand schedules take
a tenth of a second, in which the server answers others.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from heapq import nsmallest
from itertools import chain, islice
from operator import attrgetter
from typing import Final

import asyncpg
import msgspec

from horae.engine.pace import Pace
from horae.engine.planning import Planner, definition_of
from horae.engine.shared import Shared
from horae.model.calendars import BlockedDays
from horae.model.definition import ScheduleDefinition
from horae.model.ticks import Tick, ticks
from horae.model.timing import Timing
from horae.store.schedules import Schedules

MAX_SCHEDULES: Final = 10_000
MAX_TICKS: Final = 1440
"""Of one schedule in a day: those that fire more often than every minute are in every minute anyway."""
NAMES: Final = 10
FRESH_SECONDS: Final = 2.0
BATCH: Final = 100
"""Schedules that are read between two looks at the time."""
_MOMENT: Final = timedelta(microseconds=1)
_encoder = msgspec.json.Encoder()
_timing = attrgetter(*Timing.__struct_fields__)


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
    def __init__(self, schedules: Schedules, planner: Planner) -> None:
        self._schedules = schedules
        self._planner = planner
        self._answers: Shared[Forecast] = Shared()

    async def forecast(self, tenant_id: int, since: datetime, until: datetime, collisions: int) -> Forecast:
        """Shared by everybody who asks for the same within seconds."""
        question = (tenant_id, since, until, collisions)
        return await self._answers.get(question, FRESH_SECONDS, lambda: self._look(*question))

    async def _look(self, tenant_id: int, since: datetime, until: datetime, collisions: int) -> Forecast:
        rows = await self._schedules.schedule_timings(tenant_id, MAX_SCHEDULES + 1)
        found = await _read(rows[:MAX_SCHEDULES])
        now, by_minute = await self._count(tenant_id, found, since, until)
        full = {at: by_minute[at] for at, number in now.most_common(collisions) if number > 1}
        proposals = _proposals(found, set(chain.from_iterable(chain.from_iterable(full.values()))))
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
            collisions=[
                Collision(at, now[at], nsmallest(NAMES, chain.from_iterable(names))) for at, names in full.items()
            ],
            proposals=proposals,
            peak=peak,
            peak_spread=peak_spread,
            truncated=len(rows) > MAX_SCHEDULES,
        )

    async def _count(
        self, tenant_id: int, found: list[ScheduleDefinition], since: datetime, until: datetime
    ) -> tuple[Counter[datetime], dict[datetime, list[list[str]]]]:
        """How many schedules fire in each minute, and the names of these, by groups."""
        total: Counter[datetime] = Counter()
        by_minute: dict[datetime, list[list[str]]] = defaultdict(list)
        pace = Pace()
        for alike in _alike(found):
            blocked = await self._planner.blocked(tenant_id, alike[0])
            names = [definition.name for definition in alike]
            for minute in islice(_minutes(alike[0], blocked, since - _MOMENT, until), MAX_TICKS):
                total[minute] += len(names)
                by_minute[minute].append(names)
                await pace.keep()
        return total, by_minute


async def _read(rows: Sequence[asyncpg.Record]) -> list[ScheduleDefinition]:
    pace, found = Pace(), list[ScheduleDefinition]()
    for start in range(0, len(rows), BATCH):
        found += map(definition_of, rows[start : start + BATCH])
        await pace.keep()
    return found


def _alike(found: list[ScheduleDefinition]) -> list[list[ScheduleDefinition]]:
    """Those that fire at the same instants together: of ten thousand schedules most do so with others."""
    groups: dict[object, list[ScheduleDefinition]] = defaultdict(list)
    for definition in found:
        own = definition.jitter is not None or _is_hashed(definition)
        groups[definition.name if own else _encoder.encode(_timing(definition))].append(definition)
    return list(groups.values())


def _is_hashed(definition: ScheduleDefinition) -> bool:
    """Whether its name chooses when it fires."""
    return any(rule.cron is not None and "h" in rule.cron.lower() for rule in definition.rules)


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
