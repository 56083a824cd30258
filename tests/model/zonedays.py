"""Changes of the clock, found by trying every day and then every second half: slow, simple, and not the model's way."""

from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count, pairwise, takewhile
from zoneinfo import ZoneInfo, available_timezones

FIRST, LAST = datetime(2020, 1, 1, tzinfo=UTC), datetime(2041, 1, 1, tzinfo=UTC)
ZONES = sorted(available_timezones() - {"localtime"})
DAYS = list(takewhile(lambda day: day <= LAST, (FIRST + timedelta(hours=48) * n for n in count())))


def offset(zone, instant):
    return instant.astimezone(zone).utcoffset()


@cache
def changes(name):
    """The first instants of new offsets from 2020 to 2040."""
    zone = ZoneInfo(name)
    found, before = [], offset(zone, DAYS[0])
    for low, high in pairwise(DAYS):
        after = offset(zone, high)
        if after != before:
            found.append(_bisect(zone, int(low.timestamp()), int(high.timestamp()), before))
            before = after
    return found


def _bisect(zone, low, high, before):
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if offset(zone, datetime.fromtimestamp(middle, UTC)) == before else (low, middle)
    return datetime.fromtimestamp(high, UTC)


@cache
def moving():
    """The zones whose clock changes in these years."""
    return [name for name in ZONES if changes(name)]


@cache
def distinct():
    """One zone for each way in which clocks go in these years: many names are the same clock."""
    clocks = {}
    for name in ZONES:
        instants = (FIRST, *changes(name))
        clocks.setdefault(tuple((at, offset(ZoneInfo(name), at)) for at in instants), name)
    return list(clocks.values())
