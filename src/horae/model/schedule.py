"""Checks of a schedule's timing before it is saved: what can never fire, or not as its author thinks, is refused."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from itertools import islice, pairwise, takewhile
from typing import Final
from zoneinfo import ZoneInfo

import msgspec

from horae.model.cron import parse
from horae.model.durations import parse_duration
from horae.model.errors import InvalidInput
from horae.model.job import check_instant, check_name
from horae.model.moments import Clock
from horae.model.ticks import Tick, ticks
from horae.model.timing import Fold, Gap, OnBlocked, Rule, Timing, Window
from horae.model.windows import is_open, next_opening, read_windows
from horae.model.zones import check_zone

__all__ = ["Fold", "Gap", "OnBlocked", "Rule", "Timing", "Window", "check_timing", "shortest_gap"]

MAX_RULES: Final = 32
MAX_WINDOWS: Final = 64
MAX_CALENDARS: Final = 32
SHORTEST_INTERVAL: Final = timedelta(seconds=1)
LONGEST_JITTER: Final = timedelta(days=1)
NEVER: Final = timedelta(days=3660)
"""A rule without a tick for so long is taken for a mistake. 29 February is at most eight years away."""
MAX_MOVED: Final = 366 * 24
"""Ticks that may have to be looked at to know what was moved past an instant: one an hour for a year."""
_SAMPLE: Final = 1500
_MICROSECOND: Final = timedelta(microseconds=1)


def check_timing(timing: Timing, name: str, now: datetime) -> Timing:
    """Everything that can be refused without looking anything up. Returns the same timing."""
    if not timing.rules:
        raise InvalidInput("rules: give at least one, such as {cron: '0 10 * * FRI'} or {every: '1h'}", field="rules")
    check_zone(timing.tz)
    _check_sizes(timing)
    for index, rule in enumerate(timing.rules):
        _check_rule(rule, name, f"rules[{index}]")
    read_windows(timing.windows)
    for calendar in timing.calendars:
        check_name(calendar, "calendars")
    if timing.jitter is not None and parse_duration(timing.jitter, "jitter") > LONGEST_JITTER:
        raise InvalidInput(f"jitter: {timing.jitter} is more than a day", field="jitter")
    _check_bounds(timing)
    _check_fires(timing, name, now)
    _check_moves(timing, name, now)
    return timing


def _check_moves(timing: Timing, name: str, now: datetime) -> None:
    """Where ticks are moved, those of days before must be known: a year of them if a calendar blocks so long, else of
    the weeks between two openings. Seconds of a year would keep a server from everything else."""
    moves = bool(timing.calendars) and timing.on_blocked is not OnBlocked.SKIP
    defers = bool(timing.windows) and timing.outside == "defer"
    if not moves and not defers:
        return
    field, span = ("on_blocked" if moves else "outside", timedelta(days=366 if timing.calendars else 15))
    if sum(islice((1 for _ in _dense(timing, name, now, span)), MAX_MOVED + 1)) > MAX_MOVED:
        raise InvalidInput(
            f"{field}: it fires more than {MAX_MOVED} times in {span.days} days, too often to move its ticks; "
            "fire less often, or let it be skip",
            field=field,
        )


def _dense(timing: Timing, name: str, now: datetime, span: timedelta) -> Iterator[Tick]:
    """Each rule's ticks from its first one on, which may lie months ahead: that stretch shows how dense it gets."""
    plain = msgspec.structs.replace(timing, windows=[], calendars=[], jitter=None, starts_at=None, ends_at=None)
    for rule in timing.rules:
        found = ticks(msgspec.structs.replace(plain, rules=[rule]), name, now, _never_blocked)
        first = next(found, None)
        if first is not None:
            yield first
            yield from _before(first.at + span, found)


def _before(end: datetime, found: Iterator[Tick]) -> Iterator[Tick]:
    return takewhile(lambda tick: tick.at < end, found)


def _check_sizes(timing: Timing) -> None:
    for field, most in (("rules", MAX_RULES), ("windows", MAX_WINDOWS), ("calendars", MAX_CALENDARS)):
        if len(getattr(timing, field)) > most:
            raise InvalidInput(f"{field}: at most {most}", field=field)


def _check_rule(rule: Rule, name: str, where: str) -> None:
    if (rule.cron is None) == (rule.every is None):
        raise InvalidInput(f"{where}: give one of cron and every", field=where)
    if rule.cron is not None:
        parse(rule.cron, name, f"{where}.cron")
        if rule.anchor is not None:
            raise InvalidInput(f"{where}.anchor: only an interval (every) has one", field=f"{where}.anchor")
    elif parse_duration(rule.every or 0, f"{where}.every") < SHORTEST_INTERVAL:
        raise InvalidInput(f"{where}.every: {rule.every} is less than a second", field=f"{where}.every")
    if rule.anchor is not None:
        check_instant(rule.anchor, f"{where}.anchor")


def _check_bounds(timing: Timing) -> None:
    for field in ("starts_at", "ends_at"):
        if (bound := getattr(timing, field)) is not None:
            check_instant(bound, field)
    if timing.starts_at is not None and timing.ends_at is not None and timing.ends_at <= timing.starts_at:
        raise InvalidInput("ends_at: is not after starts_at", field="ends_at")


def _check_fires(timing: Timing, name: str, now: datetime) -> None:
    """Each rule alone, so that one which never fires is not hidden by others. Calendars are left out: they change."""
    if timing.ends_at is not None and timing.ends_at <= now:
        raise InvalidInput(f"ends_at: {timing.ends_at.isoformat()} has passed", field="ends_at")
    plain = msgspec.structs.replace(timing, windows=[], calendars=[], jitter=None)
    for index, rule in enumerate(timing.rules):
        alone = msgspec.structs.replace(plain, rules=[rule])
        where = f"rules[{index}]"
        first = next(_firing(alone, name, now), None)
        if first is None or first.at - max(now, timing.starts_at or now) > NEVER:
            said = repr(rule.cron) if rule.cron else f"every {rule.every}"
            bounds = " within starts_at and ends_at" if timing.starts_at or timing.ends_at else ""
            raise InvalidInput(f"{where}: {said} never fires{bounds} in the next ten years", field=where)
        if timing.windows and timing.outside == "skip" and not _meets_windows(alone, timing, name, now):
            raise InvalidInput(f"{where}: never fires, because it lies outside all windows", field=where)


def _meets_windows(alone: Timing, timing: Timing, name: str, now: datetime) -> bool:
    """From each tick that lies outside, the next opening is the next place to look."""
    openings = read_windows(timing.windows)
    clock = Clock(ZoneInfo(timing.tz), Gap.AFTER, Fold.FIRST)
    tick = next(_firing(alone, name, now), None)
    while tick is not None and tick.at - now <= NEVER:
        wall = tick.at.astimezone(clock.zone).replace(tzinfo=None)
        if is_open(openings, wall):
            return True
        opens = next_opening(openings, wall, lambda _: True)
        later = clock.place(opens).at - _MICROSECOND if opens else tick.at
        tick = next(_firing(alone, name, max(tick.at, later)), None)
    return False


def _firing(timing: Timing, name: str, after: datetime) -> Iterator[Tick]:
    return (tick for tick in ticks(timing, name, after, _never_blocked) if tick.skipped is None)


def _never_blocked(_day: date) -> None:
    return None


def shortest_gap(timing: Timing, name: str, now: datetime) -> timedelta:
    """The smallest distance of neighbouring ticks by the rules alone: calendars, windows and jitter are left out.

    It looks at a stretch of ticks from now on and at one from each rule's next tick on. A rule's times of day are the
    same on all its days, so that stretch shows its densest part. One that fires but once has a gap of `NEVER`.
    """
    plain = msgspec.structs.replace(timing, windows=[], calendars=[], jitter=None)
    starts = [now]
    for rule in timing.rules:
        first = next(_firing(msgspec.structs.replace(plain, rules=[rule]), name, now), None)
        starts += [first.at - _MICROSECOND] if first else []
    return min((_shortest(plain, name, start) for start in starts), default=NEVER)


def _shortest(timing: Timing, name: str, start: datetime) -> timedelta:
    sample = takewhile(lambda tick: tick.at - start <= NEVER, islice(_firing(timing, name, start), _SAMPLE))
    return min((later.at - earlier.at for earlier, later in pairwise(sample)), default=NEVER)
