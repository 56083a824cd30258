"""Text for people: control characters made harmless, times and durations short."""

import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

_STEPS: Final = ((86400.0, "d", 3600.0, "h"), (3600.0, "h", 60.0, "m"), (60.0, "m", 1.0, "s"))


def printable(text: str, *, lines: bool = False) -> str:
    """What others wrote must not command the terminal: control characters become visible escapes."""
    keep = "\n\t" if lines else ""
    return "".join(c if c in keep or unicodedata.category(c)[0] != "C" else ascii(c)[1:-1] for c in text)


def short(value: timedelta | float | None) -> str:
    """`820µs`, `340ms`, `4.2s`, `3m05s`, `2h10m`, `3d04h`."""
    if value is None:
        return ""
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    if 0 < seconds < 0.0009995:
        return f"{max(1, round(seconds * 1e6))}µs"
    if seconds < 1:
        return f"{round(max(seconds, 0.0) * 1000)}ms"
    if seconds < 60:
        return f"{seconds:.1f}".removesuffix(".0") + "s"
    for size, unit, part, part_unit in _STEPS:
        if seconds >= size:
            return f"{int(seconds // size)}{unit}{int(seconds % size // part):02d}{part_unit}"
    raise AssertionError(seconds)


def relative(instant: datetime | None, now: datetime | None = None) -> str:
    """`3m05s ago` or `in 10s`."""
    if instant is None:
        return ""
    away = instant - (now or datetime.now(UTC))
    return f"in {short(away)}" if away > timedelta(0) else f"{short(-away)} ago"


def absolute(instant: datetime) -> str:
    """In the time zone of whoever reads it, with its offset."""
    return instant.astimezone().strftime("%Y-%m-%d %H:%M:%S%z")


def when(instant: datetime | None, now: datetime | None = None) -> str:
    return "" if instant is None else f"{relative(instant, now)} ({absolute(instant)})"


def size(count: float | None) -> str:
    """`512B`, `1.5MiB`."""
    if count is None:
        return ""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.1f}".removesuffix(".0") + unit
        count /= 1024
    return f"{count:.1f}TiB"


def share(part: float | None) -> str:
    return "" if part is None else f"{part:.0%}"


def compact(value: Any) -> str:
    """A JSON value on one line."""
    return msgspec.json.encode(value).decode()


def cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
