"""Promises: by when a job under a service level is to start, and whether that was kept.

A promise is about the first start. It is judged once: when its job has started or ended, or when the time is over and
it still waits. A job that ended before its time without a start (cancelled, expired, dropped) was neither kept nor
broken. Looking twice at the same thing counts once, for a late job remembers that it was counted.
"""

from datetime import datetime, timedelta
from enum import IntEnum
from typing import Final, NamedTuple

import msgspec

from horae.model.rank import EMERGENCY, HEAD_START_MICROS, micros

DEFAULT_TARGET: Final = 0.99
"""The share of promises to be kept."""
LONGEST_WARNING: Final = timedelta(minutes=10)
GRACE: Final = timedelta(seconds=1)
"""A claim that was made in time may be seen a moment after it."""
LOOK_AGAIN: Final = timedelta(seconds=5)
"""At a job that is at risk and could not be moved up, because it waits for something else than its turn."""
LATE_AGAIN: Final = timedelta(seconds=15)
"""At a job that is late, to forget its promise once it has started. The later it is, the less often."""


class Promise(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True):
    """Under which service level a job was submitted, and what that promised it."""

    level: str
    level_id: int
    within: float | None = None
    """Seconds from the moment it is due to its start."""
    start_by: datetime | None = None
    off_peak: bool = False
    """It was put off until the level's off-peak hours."""


class Stage(IntEnum):
    """How far a promise has got. Stored as these numbers."""

    MADE = 0
    AT_RISK = 1
    LATE = 2
    """It was counted as broken; its job still waited."""


class Seen(NamedTuple):
    """A promise and what became of its job by now."""

    due_at: datetime
    stage: Stage
    now: datetime
    started_at: datetime | None = None
    """The first start."""
    ended_at: datetime | None = None
    gone: bool = False
    """There is no such job any more."""


class Verdict(NamedTuple):
    kept: bool | None
    """None: nothing to count."""
    stage: Stage | None
    """None: the promise is over."""


def judge(seen: Seen) -> Verdict:
    counted = seen.gone or seen.stage is Stage.LATE
    if seen.started_at is not None:
        return Verdict(None if counted else seen.started_at <= seen.due_at, None)
    if seen.gone or seen.ended_at is not None:
        in_time = seen.ended_at is None or seen.ended_at <= seen.due_at
        return Verdict(None if counted or in_time else False, None)
    if seen.now >= seen.due_at + GRACE:
        return Verdict(None if counted else False, Stage.LATE)
    return Verdict(None, Stage.AT_RISK)


def renewed(promise: Promise, run_at: datetime, now: datetime, *, off_peak: bool = False) -> Promise:
    """The promise of a job that is due at another time. Nobody is late by backdating: the past counts as now."""
    start_by = None if promise.within is None else max(run_at, now) + timedelta(seconds=promise.within)
    return msgspec.structs.replace(promise, start_by=start_by, off_peak=off_peak)


def at_risk_from(start_by: datetime, within: float) -> datetime:
    """When three quarters of the time are gone, and no earlier than ten minutes before its end."""
    return start_by - min(timedelta(seconds=within / 4), LONGEST_WARNING)


def late_again(due_at: datetime, now: datetime) -> datetime:
    return now + max(LATE_AGAIN, (now - due_at) / 2)


def raised_rank(due_at: datetime) -> int:
    """Where a job at risk moves to: the head start of an emergency; among themselves, the earliest promise first."""
    return micros(due_at) - HEAD_START_MICROS[EMERGENCY]
