"""When a schedule fires, and when work that can wait starts, as users write it: rules, zone, calendars, windows and
bounds. Records only.

`schedule.py` checks them, `ticks.py` turns them into instants.
"""

from datetime import datetime
from enum import StrEnum
from typing import Literal

import msgspec


class Gap(StrEnum):
    """What becomes of a wall time that the clock jumps over (the hour lost in spring)."""

    AFTER = "after"
    """It fires at the first instant after the gap; several of them fire once."""
    SKIP = "skip"


class Fold(StrEnum):
    """Which one counts of a wall time that happens twice (the hour repeated in autumn)."""

    FIRST = "first"
    SECOND = "second"
    BOTH = "both"


class OnBlocked(StrEnum):
    """What becomes of a tick on a day that a calendar blocks. A moved tick keeps its wall time."""

    SKIP = "skip"
    NEXT = "next"
    """The next good day."""
    PREVIOUS = "previous"
    """The last good day before."""


class Rule(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Exactly one of `cron` and `every`."""

    cron: str | None = None
    """Five fields, or six with seconds first; see `cron.py` for the dialect."""
    every: str | float | None = None
    """A fixed interval of at least a second, in elapsed time: zones and DST do not touch it."""
    anchor: datetime | None = None
    """Interval ticks are anchor + n × every, for every whole n. Left out: 1970-01-01T00:00Z."""


class Window(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """When ticks may fire: from `start` on and before `end`, by the schedule's wall clock."""

    days: str | None = None
    """Days of the week on which it opens: "MON-FRI", "SAT,SUN". Left out: every day."""
    start: str = "00:00"
    end: str = "24:00"
    """An end at or before the start lies on the next day."""


class OffPeak(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """When work that can wait may start: while any of the windows is open."""

    windows: tuple[Window, ...]
    tz: str = "UTC"


class Timing(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Everything that decides when a schedule fires."""

    rules: list[Rule] = []
    """Joined: it fires when any of them does, once for an instant."""
    tz: str = "UTC"
    gap: Gap | None = None
    """Left out, as Debian's cron: AFTER for rules at fixed times; a wildcard rule follows the real clock and has
    nothing to catch up. Set, it holds for all cron rules."""
    fold: Fold | None = None
    """Left out, as Debian's cron: FIRST for rules at fixed times, BOTH for wildcard rules. Set, it holds for all
    cron rules."""
    calendars: list[str] = []
    """Names of the calendars whose days are blocked; a day blocked by any of them is blocked."""
    on_blocked: OnBlocked = OnBlocked.SKIP
    windows: list[Window] = []
    outside: Literal["skip", "defer"] = "skip"
    """A tick outside all windows is skipped, or deferred to the next opening on a good day."""
    starts_at: datetime | None = None
    """No tick before this instant."""
    ends_at: datetime | None = None
    """No tick at or after this instant."""
    jitter: str | float | None = None
    """The longest delay of a tick. Its own delay is derived from (schedule, instant): the same on every server."""
