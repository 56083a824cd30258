"""Rank: a job's whole claim to run, as one number fixed when the job is made. Smaller runs first.

`rank = due time − head start`, in microseconds since 1970. A priority is a head start, so waiting needs no
process to age it: a job is overtaken only by jobs due at most their head start later, and nothing starves.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

LOWEST, NORMAL, EMERGENCY = 1, 5, 10
STEP: Final = timedelta(seconds=60)
EMERGENCY_HEAD_START: Final = timedelta(hours=1)
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)

HEAD_START_MICROS: Final = {
    p: (EMERGENCY_HEAD_START if p == EMERGENCY else STEP * (p - NORMAL)) // _MICROSECOND
    for p in range(LOWEST, EMERGENCY + 1)
}


def micros(instant: datetime) -> int:
    return (instant - EPOCH) // _MICROSECOND


def rank(
    due: datetime,
    now: datetime,
    priority: int = NORMAL,
    deadline: datetime | None = None,
    expected: timedelta = timedelta(0),
) -> int:
    """`deadline` caps the rank, so a tight job is pulled forward: by then it should have run its `expected` time.

    Nobody gets ahead by backdating: a due time in the past counts as now, a deadline in the past as an emergency.
    """
    claim = micros(max(due, now)) - HEAD_START_MICROS[priority]
    return claim if deadline is None else min(claim, micros(max(deadline - expected, now - EMERGENCY_HEAD_START)))
