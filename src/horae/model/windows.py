"""Execution windows: hours of the week in which ticks may fire."""

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Final

import msgspec

from horae.model.cronfields import WEEKDAY, Reader
from horae.model.errors import InvalidInput
from horae.model.timing import Window

_DAY: Final = timedelta(days=1)
_TIME: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)|24:00", re.ASCII)
_LONGEST_WAIT: Final = 400
"""Days to look ahead for an opening on a good day."""


class Opening(msgspec.Struct, frozen=True):
    """One window, read: bit 0 of `days` is Sunday; `start` and `end` count from midnight of the day it opens."""

    days: int
    start: timedelta
    end: timedelta

    def opens_on(self, day: date) -> bool:
        return bool(self.days >> day.isoweekday() % 7 & 1)


def read_windows(windows: Sequence[Window]) -> tuple[Opening, ...]:
    return tuple(_read(window, f"windows[{index}]") for index, window in enumerate(windows))


@lru_cache(maxsize=1024)
def _read(window: Window, where: str) -> Opening:
    start, end = _time_of(window.start, f"{where}.start"), _time_of(window.end, f"{where}.end")
    if start == _DAY:
        raise InvalidInput(f"{where}.start: 24:00 is the end of a day; write 00:00", field=f"{where}.start")
    days = 0b1111111
    if window.days is not None:
        text = window.days.upper().replace(" ", "")
        days = Reader(text, "", f"{where}.days").mask(WEEKDAY, text)
    return Opening(days, start, end if end > start else end + _DAY)


def _time_of(text: str, where: str) -> timedelta:
    match = _TIME.fullmatch(text)
    if match is None:
        raise InvalidInput(f"{where}: {text[:20]!r} is not a time of day such as 08:30", field=where)
    return timedelta(hours=int(match[1]), minutes=int(match[2])) if match[1] else _DAY


def is_open(openings: Sequence[Opening], wall: datetime) -> bool:
    midnight = datetime.combine(wall, time())
    today, yesterday = wall.date(), wall.date() - _DAY
    since = wall - midnight
    return any(
        (opening.opens_on(today) and opening.start <= since < opening.end)
        or (opening.opens_on(yesterday) and since + _DAY < opening.end)
        for opening in openings
    )


def next_opening(openings: Sequence[Opening], wall: datetime, good: Callable[[date], bool]) -> datetime | None:
    """The next wall time after this one at which a window opens on a good day."""
    midnight = datetime.combine(wall, time())
    for ahead in range(_LONGEST_WAIT):
        day = midnight + ahead * _DAY
        if good(day.date()):
            found = [day + opening.start for opening in openings if opening.opens_on(day)]
            later = [opens for opens in found if opens > wall]
            if later:
                return min(later)
    return None
