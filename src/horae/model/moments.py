"""Rules put on the world's clock: each rule as a stream of moments, before calendars, windows and bounds.

A moment keeps its nominal wall time beside its instant, because calendars and moves are about local days. All
arithmetic is on naive wall times within one span of a zone, or on UTC; never on aware local times.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from zoneinfo import ZoneInfo

import msgspec

from horae.model.cron import Cron
from horae.model.timing import Fold, Gap
from horae.model.zones import Span, after_gap, fold_of, instant_of, spans

_SECOND: Final = timedelta(seconds=1)


class Mark(StrEnum):
    """What happened to a tick on its way from the rule. The codes are stable."""

    GAP_MOVED = "gap_moved"
    FOLD_FIRST = "fold_first"
    FOLD_SECOND = "fold_second"
    CALENDAR_MOVED_NEXT = "calendar_moved_next"
    CALENDAR_MOVED_PREVIOUS = "calendar_moved_previous"
    WINDOW_DEFERRED = "window_deferred"
    JITTERED = "jittered"


class Skip(StrEnum):
    """Why a tick does not fire. The codes are stable."""

    GAP = "gap"
    FOLD = "fold"
    CALENDAR = "calendar"
    WINDOW = "window"


class Moment(msgspec.Struct, frozen=True, gc=False):
    at: datetime
    wall: datetime
    """The nominal wall time, naive. In a gap it is a time that no clock showed."""
    marks: tuple[Mark, ...] = ()
    skipped: Skip | None = None
    detail: str | None = None


class Clock(msgspec.Struct, frozen=True):
    """A zone and what a rule does where its clock jumps. `gap` None: wall times in a gap were never meant."""

    zone: ZoneInfo
    gap: Gap | None
    fold: Fold

    def place(self, wall: datetime) -> Moment:
        """One wall time by itself, as a moved tick needs it."""
        edge = after_gap(self.zone, wall)
        if edge is not None:
            return self.in_gap(wall, edge)
        return Moment(instant_of(self.zone, wall, second=self.fold is Fold.SECOND), wall)

    def in_gap(self, wall: datetime, edge: datetime) -> Moment:
        what = f"{clock_time(wall)} does not exist on {wall.date()} in {self.zone.key}"
        if self.gap is Gap.SKIP:
            return Moment(edge, wall, (), Skip.GAP, what)
        return Moment(edge, wall, (Mark.GAP_MOVED,), None, f"{what}: fires right after the gap")

    def in_span(self, wall: datetime, span: Span) -> Moment:
        at = span.instant(wall)
        fold = fold_of(self.zone, wall, span)
        return Moment(at, wall) if fold is None else self._in_fold(at, wall, fold)

    def _in_fold(self, at: datetime, wall: datetime, fold: int) -> Moment:
        what = f"{clock_time(wall)} happens twice on {wall.date()} in {self.zone.key}"
        this, other = (("second", "first"), ("first", "second"))[fold == 0]
        if self.fold is not Fold.BOTH and self.fold is not Fold(this):
            return Moment(at, wall, (), Skip.FOLD, f"{what}: only the {other} counts")
        mark = Mark.FOLD_SECOND if fold else Mark.FOLD_FIRST
        return Moment(at, wall, (mark,), None, f"{what}: this is the {this}")


def cron_clock(cron: Cron, zone: ZoneInfo, gap: Gap | None, fold: Fold | None) -> Clock:
    """Debian's ways where nothing else is wanted."""
    if cron.wildcard:
        return Clock(zone, gap, fold or Fold.BOTH)
    return Clock(zone, gap or Gap.AFTER, fold or Fold.FIRST)


def cron_moments(cron: Cron, clock: Clock, after: datetime) -> Iterator[Moment]:
    """Strictly after `after`, strictly increasing."""
    floor = after.replace(microsecond=0)
    walk = spans(clock.zone, floor)
    span = next(walk)
    wall = cron.next(span.wall(floor) + _SECOND)
    while wall is not None:
        if wall < span.wall_end:
            yield clock.in_span(wall, span)
            wall = cron.next(wall + _SECOND)
            continue
        before, span = span, next(walk)
        if span.wall_start == before.wall_end:
            continue
        lost = wall if wall < span.wall_start else None
        wall = cron.next(span.wall_start)
        if lost is not None and clock.gap is not None:
            moment = clock.in_gap(lost, span.start)
            if wall != span.wall_start:
                yield moment
            elif moment.skipped is None:
                # It falls together with the rule's own tick at the end of the gap: one tick, which tells of both.
                yield moment
                wall = cron.next(span.wall_start + _SECOND)


def interval_moments(every: timedelta, anchor: datetime, zone: ZoneInfo, after: datetime) -> Iterator[Moment]:
    """Strictly after `after`; elapsed time, so zones matter only for the local day."""
    at = anchor + ((after - anchor) // every + 1) * every
    while True:
        yield Moment(at, at.astimezone(zone).replace(tzinfo=None))
        at += every


def clock_time(wall: datetime) -> str:
    return f"{wall:%H:%M:%S}" if wall.second else f"{wall:%H:%M}"
