"""What calendars and windows do to a stream of moments: skip them, or move them to a better day or hour.

A tick belongs to the local day of its nominal wall time: whether that day is blocked decides. Windows go by what the
clock shows when the tick comes. Each function takes moments in order of their instants and gives them so.
"""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import lru_cache
from heapq import heappop, heappush
from itertools import groupby
from operator import attrgetter
from typing import Final
from zoneinfo import ZoneInfo

from horae.model.calendars import BlockedDays
from horae.model.moments import Clock, Mark, Moment, Skip, clock_time
from horae.model.timing import Fold, Gap, OnBlocked, Timing
from horae.model.windows import is_open, next_opening, read_windows
from horae.model.zones import instant_of

_DAY: Final = timedelta(days=1)
_FURTHEST_MOVE: Final = 366
"""Days to look for a good day; a calendar that blocks a whole year leaves a tick no place to go."""


def joined(moments: Iterator[Moment]) -> Iterator[Moment]:
    """Moments of one instant as one. It fires if any of them does, and tells what happened to all that fire."""
    for _, group in groupby(moments, key=attrgetter("at")):
        first, *more = group
        yield _union([first, *more]) if more else first


def _union(moments: list[Moment]) -> Moment:
    firing = [moment for moment in moments if moment.skipped is None] or moments[:1]
    marks = dict.fromkeys(mark for moment in firing for mark in moment.marks)
    details = dict.fromkeys(moment.detail for moment in firing if moment.detail is not None)
    first = firing[0]
    return Moment(first.at, first.wall, tuple(marks), first.skipped, "; ".join(details) or None)


def on_good_days(moments: Iterator[Moment], blocked: BlockedDays) -> Iterator[Moment]:
    for moment in moments:
        day = moment.wall.date()
        label = blocked(day) if moment.skipped is None else None
        yield moment if label is None else _blocked(moment, day, label)


def _blocked(moment: Moment, day: date, label: str) -> Moment:
    return Moment(moment.at, moment.wall, (), Skip.CALENDAR, f"{day} is blocked: {label}")


def moved(moments: Iterator[Moment], timing: Timing, zone: ZoneInfo, blocked: BlockedDays) -> Iterator[Moment]:
    """The days that moments move to never go back when the days they come from go on, so a day is sorted by itself."""
    step = 1 if timing.on_blocked is OnBlocked.NEXT else -1
    mark = Mark.CALENDAR_MOVED_NEXT if step == 1 else Mark.CALENDAR_MOVED_PREVIOUS
    clock = Clock(zone, timing.gap or Gap.AFTER, timing.fold or Fold.FIRST)

    @lru_cache(maxsize=_FURTHEST_MOVE)
    def good_day(day: date) -> date | None:
        return next((near for n in range(_FURTHEST_MOVE) if blocked(near := day + n * step * _DAY) is None), None)

    def move(moment: Moment) -> Moment:
        day = moment.wall.date()
        target = good_day(day)
        if target == day or moment.skipped is not None:
            return moment
        label = blocked(day) or ""
        if target is None:
            return _blocked(moment, day, label)
        placed = clock.place(datetime.combine(target, moment.wall.time()))
        detail = "; ".join(filter(None, [f"moved from {day} ({label})", placed.detail]))
        return Moment(placed.at, placed.wall, (*placed.marks, mark), placed.skipped, detail)

    for _, group in groupby(moments, key=lambda moment: good_day(moment.wall.date()) or moment.wall.date()):
        yield from sorted(map(move, group), key=attrgetter("at"))


def in_windows(moments: Iterator[Moment], timing: Timing, zone: ZoneInfo) -> Iterator[Moment]:
    openings = read_windows(timing.windows)
    for moment in moments:
        wall = _clock_wall(moment, zone)
        if moment.skipped is not None or is_open(openings, wall):
            yield moment
        else:
            yield Moment(moment.at, moment.wall, (), Skip.WINDOW, _outside(wall))


def deferred(moments: Iterator[Moment], timing: Timing, zone: ZoneInfo, blocked: BlockedDays) -> Iterator[Moment]:
    openings = read_windows(timing.windows)
    waiting: list[tuple[datetime, int, Moment]] = []

    def good(day: date) -> bool:
        return not timing.calendars or blocked(day) is None

    def defer(moment: Moment) -> Moment:
        wall = _clock_wall(moment, zone)
        if moment.skipped is not None or is_open(openings, wall):
            return moment
        opens = next_opening(openings, wall, good)
        if opens is None:
            return Moment(moment.at, moment.wall, (), Skip.WINDOW, _outside(wall))
        detail = "; ".join(filter(None, [moment.detail, f"deferred: {_outside(wall)}"]))
        return Moment(_opening(zone, opens, moment.at), opens, (*moment.marks, Mark.WINDOW_DEFERRED), None, detail)

    for number, moment in enumerate(moments):
        while waiting and waiting[0][0] < moment.at:
            yield heappop(waiting)[2]
        placed = defer(moment)
        heappush(waiting, (placed.at, number, placed))
    while waiting:
        yield heappop(waiting)[2]


def _opening(zone: ZoneInfo, opens: datetime, after: datetime) -> datetime:
    """The instant of an opening; in the second half of a fold the first half's opening has passed."""
    at = Clock(zone, Gap.AFTER, Fold.FIRST).place(opens).at
    return at if at > after else instant_of(zone, opens, second=True)


def _clock_wall(moment: Moment, zone: ZoneInfo) -> datetime:
    """What the clock shows when the moment comes: not the nominal time, if a gap moved it."""
    return moment.at.astimezone(zone).replace(tzinfo=None)


def _outside(wall: datetime) -> str:
    return f"{clock_time(wall)} on {wall:%A} {wall.date()} is outside all windows"


def far_enough_back(timing: Timing, zone: ZoneInfo, after: datetime, blocked: BlockedDays) -> datetime:
    """An instant from before which nothing is moved or deferred past `after`.

    Two good days with an opening lie between. What comes from before the first is moved to that day at the latest, and
    deferred from there to the opening on the second at the latest, which is over.
    """
    openings = read_windows(timing.windows)
    midnight = after.astimezone(zone).replace(tzinfo=None, fold=0, hour=0, minute=0, second=0, microsecond=0)
    found = 0
    for _ in range(_FURTHEST_MOVE):
        midnight -= _DAY
        good = not timing.calendars or blocked(midnight.date()) is None
        found += good and (not openings or any(opening.opens_on(midnight) for opening in openings))
        if found == 2:
            break
    return instant_of(zone, midnight)
