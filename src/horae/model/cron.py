"""Cron expressions: five fields, or six with seconds first.

```
(second) minute hour day-of-month month day-of-week
```
Names in any case (`MON`, `jan`), lists, ranges, steps, `L`, `LW`, `15W`, `FRIL`, `MON#2`, `?`, hashed `H`, and
`@hourly @daily @midnight @weekly @monthly @yearly @annually`. `cronfields.py` and `crondays.py` state the dialect.

A rule is a *wildcard* rule if its second, minute or hour starts with `*` or `H/`: it means "again and again" and
follows the real clock through DST. All others mean "at that time", and DST must not lose or double them (`timing.Gap`).

Here are wall times only: naive datetimes without a fraction. `ticks.py` puts them on the world's clock.
"""

import re
from datetime import datetime
from functools import lru_cache
from typing import Final

import msgspec

from horae.model.crondays import Days, read_days
from horae.model.cronfields import HOUR, MINUTE, MONTH, SECOND, Reader, lowest
from horae.model.cronwords import describe
from horae.model.errors import InvalidInput
from horae.model.job import LATEST_YEAR

MAX_LENGTH: Final = 200
_NICKNAMES: Final = {
    "@HOURLY": "0 * * * *",
    "@DAILY": "0 0 * * *",
    "@MIDNIGHT": "0 0 * * *",
    "@WEEKLY": "0 0 * * 0",
    "@MONTHLY": "0 0 1 * *",
    "@YEARLY": "0 0 1 1 *",
    "@ANNUALLY": "0 0 1 1 *",
}
_USES_HASH: Final = re.compile(r"(?<![A-Z])H(?![A-Z])")


class Cron(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed expression: masks of what matches."""

    text: str
    seconds: int
    minutes: int
    hours: int
    months: int
    days: Days
    wildcard: bool

    def next(self, wall: datetime) -> datetime | None:
        """The first matching wall time that is not before `wall`; none after the year 2200."""
        time = self._time_from(wall.hour, wall.minute, wall.second)
        day = wall.day if time else wall.day + 1
        found = self._day_from(wall.year, wall.month, day)
        if found is None:
            return None
        year, month, day = found
        if time is None or day != wall.day or month != wall.month or year != wall.year:
            time = self._time_from(0, 0, 0)
        hour, minute, second = time or (0, 0, 0)
        return datetime(year, month, day, hour, minute, second)  # noqa: DTZ001 - wall times are naive

    def _time_from(self, hour: int, minute: int, second: int) -> tuple[int, int, int] | None:
        if self.hours >> hour & 1:
            if self.minutes >> minute & 1:
                found = lowest(self.seconds, second)
                if found >= 0:
                    return hour, minute, found
            minute = lowest(self.minutes, minute + 1)
            if minute >= 0:
                return hour, minute, lowest(self.seconds, 0)
        hour = lowest(self.hours, hour + 1)
        return (hour, lowest(self.minutes, 0), lowest(self.seconds, 0)) if hour >= 0 else None

    def _day_from(self, year: int, month: int, day: int) -> tuple[int, int, int] | None:
        """The first matching day from that one on; `day` may be one past the month's end."""
        while year <= LATEST_YEAR:
            if self.months >> month & 1:
                found = lowest(self.days.in_month(year, month), day)
                if found > 0:
                    return year, month, found
            month, day = lowest(self.months, month + 1), 1
            if month < 0:
                year, month = year + 1, lowest(self.months, 1)
        return None

    def describe(self) -> str:
        """The expression in plain words."""
        return describe(self.seconds, self.minutes, self.hours, self.days, self.months)


def parse(text: str, seed: str, field: str = "cron") -> Cron:
    """Reads an expression; `seed` (the schedule's name) settles what `H` stands for."""
    if len(text) > MAX_LENGTH:
        raise InvalidInput(f"{field}: an expression has at most {MAX_LENGTH} characters", field=field)
    upper = text.upper()
    return _parse(upper, seed if _USES_HASH.search(upper) else "", field)


@lru_cache(maxsize=8192)
def _parse(text: str, seed: str, where: str) -> Cron:
    fields = _split(text, where)
    second, minute, hour, day, month, weekday = fields
    reader = Reader(" ".join(text.split()), seed, where)
    return Cron(
        text=reader.text,
        seconds=reader.mask(SECOND, second),
        minutes=reader.mask(MINUTE, minute),
        hours=reader.mask(HOUR, hour),
        months=reader.mask(MONTH, month),
        days=read_days(reader, day, weekday),
        wildcard=any(part.startswith(("*", "H/")) for part in (second, minute, hour)),
    )


def _split(text: str, where: str) -> list[str]:
    if text.strip().startswith("@"):
        nickname = text.strip()
        if nickname not in _NICKNAMES:
            raise InvalidInput(f"{where}: {nickname.lower()!r} is none of {_nicknames()}", field=where)
        return ["0", *_NICKNAMES[nickname].split()]
    fields = text.split()
    if len(fields) not in (5, 6):
        raise InvalidInput(
            f"{where}: {text[:80]!r} has {len(fields)} fields; write five (minute, hour, day of month, month, "
            "day of week), or six with seconds first",
            field=where,
        )
    return ["0", *fields] if len(fields) == 5 else fields


def _nicknames() -> str:
    return ", ".join(name.lower() for name in _NICKNAMES)
