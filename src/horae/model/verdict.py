"""What becomes of a job whose attempt did not succeed. Pure, so that it can be tested by properties."""

from datetime import timedelta
from typing import Final

import msgspec

from horae.model.retry import MAX_CRASHES, RetryPolicy
from horae.model.states import COSTS_NOTHING, COUNTS_AS_CRASH, End, State

DISPERSAL: Final = timedelta(seconds=30)
"""A job lost or crashed for the second time comes back at a random moment within this, so that the innocent part
company with the one that takes workers down."""


class Verdict(msgspec.Struct, frozen=True):
    state: State
    """FAILED, CANCELLED, SCHEDULED (after `pause`) or READY."""
    pause: timedelta = timedelta(0)


class History(msgspec.Struct, frozen=True):
    """What happened before this attempt."""

    failures: int = 0
    crashes: int = 0
    max_attempts: int = 5
    retry: RetryPolicy = RetryPolicy()
    cancel_requested: bool = False


_AT_ONCE: Final = Verdict(State.READY)


def judge(end: End, history: History, chance: float, retry_after: float | None = None) -> Verdict:
    """`chance` is a random number in [0, 1)."""
    if end is End.CANCELLED or (history.cancel_requested and end is not End.FATAL):
        return Verdict(State.CANCELLED)
    if end in COSTS_NOTHING:
        return _AT_ONCE
    if end is End.FATAL:
        return Verdict(State.FAILED)
    if end in COUNTS_AS_CRASH:
        return _after_crash(history.crashes + 1, chance)
    if history.failures + 1 >= history.max_attempts:
        return Verdict(State.FAILED)
    if retry_after is not None:
        return _later(timedelta(seconds=retry_after))
    return _later(history.retry.wait(history.failures + 1, chance))


def _after_crash(crashes: int, chance: float) -> Verdict:
    if crashes >= MAX_CRASHES:
        return Verdict(State.FAILED)
    return _AT_ONCE if crashes == 1 else _later(DISPERSAL * chance)


def _later(pause: timedelta) -> Verdict:
    return Verdict(State.SCHEDULED, pause) if pause > timedelta(0) else _AT_ONCE
