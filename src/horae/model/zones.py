"""Time zones as spans of constant offset, so that wall times are mapped to instants without guessing.

`zoneinfo` answers for one instant but does not tell when a zone's clock changes. `spans` finds that out: within a span,
wall time and UTC differ by one offset and grow together. Between two spans the wall clock may jump over times (a gap:
the next span's wall starts later than this one's ends) or repeat some (a fold: it starts earlier). Spans also end with
the UTC year, where nothing need change: a year is what is kept in memory at a time.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from functools import lru_cache
from itertools import count, pairwise
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

import msgspec

from horae.model.errors import InvalidInput

_SECOND: Final = timedelta(seconds=1)
_PROBE: Final = timedelta(days=3)
"""Less than between any two changes of a zone's clock from 1970 on (by tzdata 2026: a week, in Gaza and Brazil)."""
_LONGEST_FOLD: Final = timedelta(hours=25)


class Span(msgspec.Struct, frozen=True):
    """Walls are naive. `start` and `end` are UTC; the clock shows `wall_start` first and never reaches `wall_end`."""

    start: datetime
    end: datetime
    wall_start: datetime
    wall_end: datetime
    calm_from: datetime
    calm_until: datetime
    """Wall times from one on and before the other happen once: no fold reaches so far."""

    def wall(self, instant: datetime) -> datetime:
        return self.wall_start + (instant - self.start)

    def instant(self, wall: datetime) -> datetime:
        return self.start + (wall - self.wall_start)


def check_zone(name: str, field: str = "tz") -> str:
    """Only what is in the zone database: a machine's own `localtime`, or `right/…`, would differ between servers."""
    known = _known_zones()
    if name in known:
        return name
    by_lower = {zone.lower(): zone for zone in known}
    tails = {zone.rpartition("/")[2]: zone for zone in by_lower}
    wanted = name[:80].strip().lower().replace(" ", "_")
    near = get_close_matches(wanted, [*by_lower, *tails], n=1, cutoff=0.6)
    hint = f"; did you mean {by_lower[tails.get(near[0], near[0])]!r}?" if near else ", such as Europe/Berlin"
    raise InvalidInput(f"{field}: {name[:80]!r} is not a zone of the IANA database{hint}", field=field)


@lru_cache(maxsize=1)
def _known_zones() -> frozenset[str]:
    return frozenset(available_timezones() - {"localtime"})


def spans(zone: ZoneInfo, instant: datetime) -> Iterator[Span]:
    """The span that holds the instant (UTC), then all that follow."""
    for year in count(instant.year):
        for span in year_spans(zone, year):
            if span.end > instant:
                yield span


@lru_cache(maxsize=8192)
def year_spans(zone: ZoneInfo, year: int) -> tuple[Span, ...]:
    start, end = datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)
    edges = [start, *_changes(zone, start, end), end]
    return tuple(_span(zone, low, high) for low, high in pairwise(edges))


def _span(zone: ZoneInfo, start: datetime, end: datetime) -> Span:
    wall_start = (start + offset_at(zone, start)).replace(tzinfo=None)
    wall_end = wall_start + (end - start)
    return Span(start, end, wall_start, wall_end, wall_start + _LONGEST_FOLD, wall_end - _LONGEST_FOLD)


def offset_at(zone: ZoneInfo, instant: datetime) -> timedelta:
    return instant.astimezone(zone).utcoffset() or timedelta(0)


def _changes(zone: ZoneInfo, start: datetime, end: datetime) -> Iterator[datetime]:
    """The first instants of new offsets, strictly between start and end."""
    low, offset = start, offset_at(zone, start)
    while low < end:
        high = min(low + _PROBE, end - _SECOND)
        changed = offset_at(zone, high)
        if changed != offset:
            yield _bisect(zone, low, high, offset)
            offset = changed
        low = high if high > low else end


def _bisect(zone: ZoneInfo, low: datetime, high: datetime, offset: timedelta) -> datetime:
    """The first second after `low` whose offset is another one; `high` has another one."""
    while high - low > _SECOND:
        middle = low + (high - low) // 2
        middle = middle.replace(microsecond=0)
        if offset_at(zone, middle) == offset:
            low = middle
        else:
            high = middle
    return high


def fold_of(zone: ZoneInfo, wall: datetime, span: Span) -> int | None:
    """0 or 1 if the span's wall time happens twice and this is its first or second time, else None."""
    if span.calm_from <= wall < span.calm_until:
        return None
    first, second = instant_of(zone, wall), instant_of(zone, wall, second=True)
    if first == second:
        return None
    return 0 if first == span.instant(wall) else 1


def after_gap(zone: ZoneInfo, wall: datetime) -> datetime | None:
    """The first instant (UTC) after the gap which swallows the wall time, or None if it exists."""
    before, after = zone.utcoffset(wall), zone.utcoffset(wall.replace(fold=1))
    if before is None or after is None or after <= before:
        return None
    instant = wall.replace(tzinfo=UTC)
    return _bisect(zone, instant - after, instant - before, before)


def instant_of(zone: ZoneInfo, wall: datetime, *, second: bool = False) -> datetime:
    """The instant (UTC) of a wall time that exists; of one that happens twice the first, or the second."""
    offset = zone.utcoffset(wall.replace(fold=int(second))) or timedelta(0)
    return (wall - offset).replace(tzinfo=UTC)
