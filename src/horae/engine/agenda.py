"""The agenda: which schedules fire on which day, as a month on the wall shows it.

Schedules that fire many times a day are on every day and would hide the others: they are named, and not counted out.
"""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from itertools import chain, islice, takewhile
from typing import Final
from zoneinfo import ZoneInfo

import asyncpg
import msgspec

from horae.engine.pace import Pace
from horae.engine.planning import Planner, definition_of
from horae.engine.schedules import Scheduling
from horae.model.errors import InvalidInput
from horae.model.ticks import Tick, ticks
from horae.model.zones import check_zone
from horae.store.schedules import Wanted

MAX_SCHEDULES: Final = 200
MAX_TICKS: Final = 20_000
LONGEST: Final = timedelta(days=45)
OFTEN: Final = 12
"""Ticks in a day beyond which a schedule is only named."""
OFTEN_ALONE: Final = 100
"""The same when one schedule is asked for."""
ITEMS: Final = 50
_MOMENT: Final = timedelta(microseconds=1)


class Item(msgspec.Struct):
    """One schedule on one day."""

    schedule: str
    tenant: str
    first_at: datetime
    ticks: int = 0
    """Those that fire."""
    skipped: int = 0
    marks: list[str] = []
    detail: str | None = None
    """The first mark or skip in words."""


class Day(msgspec.Struct):
    day: date
    ticks: int = 0
    skipped: int = 0
    items: list[Item] = []
    """The first of them, by time."""


class Frequent(msgspec.Struct):
    schedule: str
    tenant: str


class Found(msgspec.Struct):
    since: datetime
    until: datetime
    tz: str
    schedules: int
    days: list[Day]
    frequent: list[Frequent]
    truncated: bool
    """There are more schedules or ticks than it shows."""


class Agenda:
    def __init__(self, scheduling: Scheduling, planner: Planner) -> None:
        self._scheduling = scheduling
        self._planner = planner

    async def look(self, tenant_id: int | None, wanted: Wanted, since: datetime, until: datetime, tz: str) -> Found:
        """Of the schedules of a list, as far as they are not paused."""
        rows = await self._scheduling.list_all(tenant_id, wanted, ("", -1), MAX_SCHEDULES + 1)
        active = [row for row in rows[:MAX_SCHEDULES] if row["paused_at"] is None]
        found = await self._fill(active, since, until, tz, OFTEN)
        found.truncated = found.truncated or len(rows) > MAX_SCHEDULES
        return found

    async def look_at_one(self, tenant_id: int, name: str, since: datetime, until: datetime, tz: str) -> Found:
        return await self._fill([await self._scheduling.get(tenant_id, name)], since, until, tz, OFTEN_ALONE)

    async def _fill(self, rows: list[asyncpg.Record], since: datetime, until: datetime, tz: str, often: int) -> Found:
        check_zone(tz)
        if not timedelta() < until - since <= LONGEST:
            raise InvalidInput(f"until: must be after since, by {LONGEST.days} days at most", field="until")
        page, pace = _Page(ZoneInfo(tz)), Pace()
        found = Found(since, until, tz, len(rows), [], [], truncated=False)
        for row in rows:
            if page.ticks >= MAX_TICKS:
                found.truncated = True
                break
            coming = await self._ticks(row, since, until)
            first = list(islice(coming, often + 1))
            if len(first) > often and first[-1].at - first[0].at < timedelta(days=1):
                found.frequent.append(Frequent(row["name"], row["tenant"]))
            else:
                page.enter(row, chain(first, coming))
            await pace.keep()
        found.days = page.days()
        return found

    async def _ticks(self, row: asyncpg.Record, since: datetime, until: datetime) -> Iterator[Tick]:
        definition = definition_of(row)
        blocked = await self._planner.blocked(row["tenant_id"], definition)
        coming = ticks(definition, definition.name, since - _MOMENT, blocked)
        return takewhile(lambda tick: tick.at < until, coming)


class _Page:
    """Days being filled."""

    def __init__(self, zone: ZoneInfo) -> None:
        self.ticks = 0
        self._zone = zone
        self._items: dict[date, dict[tuple[str, str], Item]] = {}

    def enter(self, row: asyncpg.Record, coming: Iterator[Tick]) -> None:
        key = (row["name"], row["tenant"])
        for tick in coming:
            self.ticks += 1
            items = self._items.setdefault(tick.at.astimezone(self._zone).date(), {})
            if key not in items:
                items[key] = Item(*key, first_at=tick.at)
            _count(items[key], tick)

    def days(self) -> list[Day]:
        return [_day(day, list(items.values())) for day, items in sorted(self._items.items())]


def _count(item: Item, tick: Tick) -> None:
    if tick.skipped is None:
        item.ticks += 1
    else:
        item.skipped += 1
    told = (*tick.marks, *([tick.skipped] if tick.skipped else ()))
    item.marks.extend(mark.value for mark in told if mark.value not in item.marks and mark.value != "jittered")
    item.detail = item.detail or tick.detail


def _day(day: date, items: list[Item]) -> Day:
    items.sort(key=lambda item: item.first_at)
    return Day(day, sum(item.ticks for item in items), sum(item.skipped for item in items), items[:ITEMS])
