"""The circuit breaker of a task: when too many of its jobs fail, the task is held, and released after trial jobs.

Pure decisions on counts of ends in short spans of time (see `rollup`). A failure is every attempt that failed, also one
that will be tried again: while what a task depends on is down, its jobs do little else.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from horae.model.durations import format_duration, parse_duration
from horae.model.errors import InvalidInput
from horae.model.limits import read_rate

SPAN: Final = timedelta(seconds=10)
"""The length of the spans in which ends are counted."""
LONGEST_WINDOW: Final = timedelta(hours=1)
MAX_COUNT: Final = 1_000_000


class Breaker(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    failure_rate: float = 0.5
    """Holds the task when this share of its attempts failed."""
    minimum: int = 20
    """Fewer ends than this in the window say nothing."""
    window: str | float = "1m"
    """How far back it looks."""
    pause: str | float = "30s"
    """Between one trial job and the next, and before the first."""
    probes: int = 3
    """So many trial jobs must succeed in a row."""
    release_rate: str | float = "10/s"
    """How fast what waited is let out then."""


class Ends(NamedTuple):
    """How many attempts ended in a span of time."""

    at: datetime
    """The beginning of the span."""
    succeeded: int
    failed: int


def check_breaker(breaker: Breaker) -> Breaker:
    if not 0 < breaker.failure_rate <= 1:
        raise InvalidInput("breaker.failure_rate: more than 0, at most 1", field="breaker")
    for name, count in (("minimum", breaker.minimum), ("probes", breaker.probes)):
        if not 1 <= count <= MAX_COUNT:
            raise InvalidInput(f"breaker.{name}: 1…{MAX_COUNT}", field="breaker")
    if not SPAN <= parse_duration(breaker.window, "breaker.window") <= LONGEST_WINDOW:
        raise InvalidInput(f"breaker.window: {SPAN.seconds}s … 1h", field="breaker")
    if not timedelta(seconds=1) <= parse_duration(breaker.pause, "breaker.pause") <= timedelta(days=1):
        raise InvalidInput("breaker.pause: 1s … 1d", field="breaker")
    read_rate(breaker.release_rate, "breaker.release_rate")
    return breaker


def trip(breaker: Breaker, ends: Iterable[Ends], now: datetime, since: datetime | None = None) -> str | None:
    """Why the task is to be held, or None. What ended before `since` does not count."""
    window = parse_duration(breaker.window, "breaker.window")
    counted = [e for e in ends if e.at + SPAN > now - window and (since is None or e.at >= since)]
    failed = sum(e.failed for e in counted)
    total = failed + sum(e.succeeded for e in counted)
    if total < breaker.minimum or failed < breaker.failure_rate * total:
        return None
    return f"{failed} of {total} failed in the last {format_duration(window)}"


def probes_succeeded(ends: Iterable[Ends], closed_at: datetime) -> int:
    """How many trial jobs have succeeded since the last one that failed.

    A span in which one failed counts as failed; so does, for the first moments, the span in which the task was held.
    """
    succeeded = 0
    for end in sorted(end for end in ends if end.at >= closed_at):
        succeeded = 0 if end.failed else succeeded + end.succeeded
    return succeeded
