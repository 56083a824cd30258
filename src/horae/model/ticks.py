"""From a timing to its ticks: rules, then calendars, then windows, then bounds and jitter.

`at`, the nominal instant after all moves, is a tick's identity: it depends on the timing alone and never on when or
where it is computed, so that every server derives the same ticks, whatever instant it starts from. Ticks that do not
fire are told with their reason. All is lazy; what a schedule does not use costs it nothing.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from heapq import merge
from operator import attrgetter
from typing import Final
from zoneinfo import ZoneInfo

import msgspec

from horae.model.calendars import BlockedDays
from horae.model.cron import parse
from horae.model.durations import parse_duration
from horae.model.job import LATEST_YEAR
from horae.model.moments import Mark, Moment, Skip, cron_clock, cron_moments, interval_moments
from horae.model.moves import deferred, far_enough_back, in_windows, joined, moved, on_good_days
from horae.model.rank import EPOCH
from horae.model.timing import OnBlocked, Rule, Timing

__all__ = ["Mark", "Skip", "Tick", "ticks"]

_MICROSECOND: Final = timedelta(microseconds=1)


class Tick(msgspec.Struct, frozen=True, omit_defaults=True):
    at: datetime
    """The nominal instant, UTC: the tick's identity."""
    run_at: datetime
    """When its job is due, UTC: `at` with jitter."""
    marks: tuple[Mark, ...] = ()
    skipped: Skip | None = None
    """Why it does not fire; None: it does."""
    detail: str | None = None
    """Marks and skip in words."""


def ticks(timing: Timing, name: str, after: datetime, blocked: BlockedDays) -> Iterator[Tick]:
    """All ticks with `at` after `after`, in order. Without `timing.calendars`, `blocked` is not asked."""
    if timing.starts_at is not None and timing.starts_at > after:
        after = timing.starts_at - _MICROSECOND
    after = after.astimezone(UTC)
    end = timing.ends_at
    jitter = parse_duration(timing.jitter, "jitter") if timing.jitter is not None else None
    for moment in _moments(timing, name, after, blocked):
        at = moment.at
        if (end is not None and at >= end) or at.year > LATEST_YEAR:
            return
        if at > after:
            yield _tick(moment, name, jitter)


def _tick(moment: Moment, name: str, jitter: timedelta | None) -> Tick:
    at = moment.at
    if not jitter or moment.skipped is not None:
        return Tick(at, at, moment.marks, moment.skipped, moment.detail)
    return Tick(at, at + _delay(name, at, jitter), (*moment.marks, Mark.JITTERED), None, moment.detail)


def _delay(name: str, at: datetime, longest: timedelta) -> timedelta:
    digest = blake2b(f"{name}\0{at.isoformat()}".encode(), digest_size=8).digest()
    return longest * (int.from_bytes(digest) / 2**64)


def _moments(timing: Timing, name: str, after: datetime, blocked: BlockedDays) -> Iterator[Moment]:
    zone = ZoneInfo(timing.tz)
    moves = bool(timing.calendars) and timing.on_blocked is not OnBlocked.SKIP
    defers = bool(timing.windows) and timing.outside == "defer"
    if moves or defers:
        after = far_enough_back(timing, zone, after, blocked)
    streams = [_rule_moments(rule, timing, name, zone, after) for rule in timing.rules]
    found = streams[0] if len(streams) == 1 else joined(merge(*streams, key=attrgetter("at")))
    if timing.calendars:
        found = joined(moved(found, timing, zone, blocked)) if moves else on_good_days(found, blocked)
    if timing.windows:
        found = joined(deferred(found, timing, zone, blocked)) if defers else in_windows(found, timing, zone)
    return found


def _rule_moments(rule: Rule, timing: Timing, name: str, zone: ZoneInfo, after: datetime) -> Iterator[Moment]:
    if rule.cron is not None:
        cron = parse(rule.cron, name)
        return cron_moments(cron, cron_clock(cron, zone, timing.gap, timing.fold), after)
    every = parse_duration(rule.every or 0, "every")
    return interval_moments(every, (rule.anchor or EPOCH).astimezone(UTC), zone, after)
