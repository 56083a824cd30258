"""The days of a cron expression: which days of a month match its two day fields.

Day of month: values, `L` (last day), `L-3` (three days before it), `LW` (last Monday-to-Friday day), `15W` (the
Monday-to-Friday day nearest the 15th, within the month). Day of week: 0 and 7 are Sunday; `5L` or `FRIL` (last Friday),
`1#2` or `MON#2` (second Monday). As Debian's cron does it, a day must match both fields if one of them starts with `*`,
else either of them; `?` is read as `*`.
"""

import re
from calendar import monthrange
from functools import lru_cache
from typing import Final

import msgspec

from horae.model.cronfields import DAY, WEEKDAY, Reader, bits

_DAY_TERM: Final = re.compile(r"(?P<last>L(?:-(?P<back>\d{1,2}))?)|(?P<lastw>LW)|(?P<near>\d{1,2})W", re.ASCII)
_WEEKDAY_TERM: Final = re.compile(r"(?P<day>\w+?)(?:(?P<last>L)|#(?P<nth>\d+))", re.ASCII)
_ALL_DAYS: Final = (1 << 32) - 2
_ALL_WEEKDAYS: Final = 0b1111111
_WEEKLY: Final = 1 | 1 << 7 | 1 << 14 | 1 << 21 | 1 << 28


class Days(msgspec.Struct, frozen=True, kw_only=True):
    """Day of month: `days`, `back_from_last`, `last_weekday`, `nearest`. Day of week: `weekdays`, `nth`, `last`."""

    days: int
    back_from_last: tuple[int, ...] = ()
    last_weekday: bool = False
    nearest: tuple[int, ...] = ()
    weekdays: int
    nth: tuple[tuple[int, int], ...] = ()
    last: tuple[int, ...] = ()
    day_starred: bool
    weekday_starred: bool

    def in_month(self, year: int, month: int) -> int:
        """The mask of the days of that month which match."""
        first, length = _month(year, month)
        whole = (1 << length + 1) - 2
        if self.days == _ALL_DAYS and self.weekdays == _ALL_WEEKDAYS:
            return whole
        if self.day_starred or self.weekday_starred:
            return self._by_day(first, length) & self._by_weekday(first, length) & whole
        return (self._by_day(first, length) | self._by_weekday(first, length)) & whole

    def _by_day(self, first: int, length: int) -> int:
        found = self.days
        for back in self.back_from_last:
            found |= 1 << max(length - back, 0)
        if self.last_weekday:
            found |= 1 << _nearest_weekday(length, first, length)
        for day in self.nearest:
            if day <= length:
                found |= 1 << _nearest_weekday(day, first, length)
        return found

    def _by_weekday(self, first: int, length: int) -> int:
        if self.weekdays == _ALL_WEEKDAYS:
            return -1
        found = 0
        for weekday in bits(self.weekdays):
            found |= _WEEKLY << 1 + (weekday - first) % 7
        for weekday, nth in self.nth:
            found |= 1 << 1 + (weekday - first) % 7 + 7 * (nth - 1)
        for weekday in self.last:
            found |= 1 << length - (first + length - 1 - weekday) % 7
        return found


@lru_cache(maxsize=4096)
def _month(year: int, month: int) -> tuple[int, int]:
    """The day of the week of its first day (0 is Sunday) and how many days it has."""
    monday_based, length = monthrange(year, month)
    return (monday_based + 1) % 7, length


def _nearest_weekday(day: int, first: int, length: int) -> int:
    weekday = (first + day - 1) % 7
    if weekday == 6:
        return day - 1 if day > 1 else day + 2
    if weekday == 0:
        return day + 1 if day < length else day - 2
    return day


def read_days(reader: Reader, day_text: str, weekday_text: str) -> Days:
    day_starred, weekday_starred = day_text[:1] in "*?", weekday_text[:1] in "*?"
    days, back, last_weekday, nearest = _read_day(reader, "*" if day_text == "?" else day_text)
    weekdays, nth, last = _read_weekday(reader, "*" if weekday_text == "?" else weekday_text)
    return Days(
        days=days, back_from_last=back, last_weekday=last_weekday, nearest=nearest, weekdays=weekdays, nth=nth,
        last=last, day_starred=day_starred, weekday_starred=weekday_starred,
    )  # fmt: skip


def _read_day(reader: Reader, text: str) -> tuple[int, tuple[int, ...], bool, tuple[int, ...]]:
    mask, back, last_weekday, nearest = 0, [], False, []
    for term in text.split(","):
        match = _DAY_TERM.fullmatch(term)
        if match is None:
            mask |= reader.mask(DAY, term)
        elif match["lastw"]:
            last_weekday = True
        elif match["near"]:
            nearest.append(reader.value(DAY, match["near"]))
        else:
            back.append(_back(reader, match["back"]))
    return mask, tuple(back), last_weekday, tuple(nearest)


def _back(reader: Reader, text: str | None) -> int:
    if text is not None and int(text) > 30:
        raise reader.refuse(DAY, f"L-{text} is before every month's first day")
    return int(text or 0)


def _read_weekday(reader: Reader, text: str) -> tuple[int, tuple[tuple[int, int], ...], tuple[int, ...]]:
    mask, nth, last = 0, [], []
    for term in text.split(","):
        match = _WEEKDAY_TERM.fullmatch(term)
        if term == "L":
            raise reader.refuse(WEEKDAY, "L needs a day before it: FRIL is the last Friday")
        if match is None:
            mask |= reader.mask(WEEKDAY, term)
        elif match["last"]:
            last.append(reader.value(WEEKDAY, match["day"]) % 7)
        elif 1 <= int(match["nth"][:3]) <= 5:
            nth.append((reader.value(WEEKDAY, match["day"]) % 7, int(match["nth"])))
        else:
            raise reader.refuse(WEEKDAY, f"{term!r}: a month has a first to a fifth, #1…#5")
    return mask, tuple(nth), tuple(last)
