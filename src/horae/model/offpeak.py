"""Off-peak hours: when work that can wait is let in. Windows of the week by a zone's wall clock, as of schedules.

`off_peak_start` walks over the zone's spans of constant offset, so it is exact where the clock jumps: a window whose
beginning the clock leaps over opens right after the leap, and one in the hour that comes twice opens both times. The
database has the same rule over `week_ranges`, for submits inside users' transactions; a test compares the two.
"""

from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from horae.model.cronfields import bits
from horae.model.errors import InvalidInput
from horae.model.timing import OffPeak
from horae.model.windows import Opening, is_open, next_opening, read_windows
from horae.model.zones import check_zone, spans

MAX_WINDOWS: Final = 32
_DAY: Final = 24 * 60
_WEEK: Final = 7 * _DAY
_MINUTE: Final = timedelta(minutes=1)


def check_off_peak(off_peak: OffPeak) -> OffPeak:
    check_zone(off_peak.tz, "off_peak.tz")
    if not 1 <= len(off_peak.windows) <= MAX_WINDOWS:
        raise InvalidInput(f"off_peak.windows: 1…{MAX_WINDOWS} of them", field="off_peak.windows")
    read_windows(off_peak.windows)
    return off_peak


def off_peak_start(off_peak: OffPeak, instant: datetime) -> datetime:
    """The first moment from this one on at which a window is open."""
    openings = read_windows(off_peak.windows)
    for span in spans(ZoneInfo(off_peak.tz), instant):
        wall = max(span.wall(instant), span.wall_start)
        opens = wall if is_open(openings, wall) else next_opening(openings, wall, _any_day)
        if opens is not None and opens < span.wall_end:
            return span.instant(opens)
    raise AssertionError("every window opens at least once a week")


def _any_day(_: date) -> bool:
    return True


def week_ranges(off_peak: OffPeak) -> list[tuple[int, int]]:
    """The same windows as ranges of minutes from Sunday's midnight on."""
    found = (part for opening in read_windows(off_peak.windows) for part in _ranges(opening))
    return sorted(set(found))


def _ranges(opening: Opening) -> list[tuple[int, int]]:
    start, end = opening.start // _MINUTE, opening.end // _MINUTE
    found = [(day * _DAY + start, day * _DAY + end) for day in bits(opening.days)]
    wrapped = [(0, until - _WEEK) for _, until in found if until > _WEEK]
    return [(since, min(until, _WEEK)) for since, until in found] + wrapped
