"""Durations as people write them: `90`, `"30s"`, `"1h30m"`, `"250ms"`, `"PT1H30M"`."""

import re
from datetime import timedelta
from typing import Final

from horae.model.errors import InvalidInput

LONGEST: Final = timedelta(days=3660)
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|w)", re.ASCII)
_SIMPLE: Final = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+", re.ASCII)
_ISO: Final = re.compile(
    r"P(?:(?P<w>\d+(?:\.\d+)?)W)?(?:(?P<d>\d+(?:\.\d+)?)D)?"
    r"(?:T(?:(?P<h>\d+(?:\.\d+)?)H)?(?:(?P<m>\d+(?:\.\d+)?)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?"
)

type_hint = 'a duration such as "30s", "1h30m" or "PT1H30M"'


def parse_duration(value: str | float | timedelta, field: str = "duration") -> timedelta:
    """Reads a duration; a bare number is seconds. Negative ones and those over ten years are refused."""
    seconds = value.total_seconds() if isinstance(value, timedelta) else _seconds(value, field)
    if not 0 <= seconds <= LONGEST.total_seconds():
        raise InvalidInput(f"{field}: {value!r} is outside 0 … {LONGEST.days} days", field=field)
    return timedelta(seconds=seconds)


def _seconds(value: str | float, field: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    text = str(value).strip()
    if len(text) <= 64:
        if _SIMPLE.fullmatch(text):
            return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
        iso = _ISO.fullmatch(text)
        if iso and any(iso.groups()):
            return sum(float(number) * _UNITS[unit] for unit, number in iso.groupdict().items() if number)
    raise InvalidInput(f"{field}: {text[:64]!r} is not {type_hint}", field=field)


def format_duration(value: timedelta) -> str:
    """The shortest simple form that reads back as the same duration."""
    rest = value // timedelta(milliseconds=1)
    if rest == 0:
        return "0s"
    parts = []
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts)
