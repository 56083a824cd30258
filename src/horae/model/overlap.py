"""What becomes of ticks that cannot simply fire: because an earlier run has not ended, or because their time is past.

Pure decisions. A tick is *missed* when nobody could see to it within `MISSED_AFTER` of its time: no server ran, the
schedule was paused, or the clock was set forward. Shorter delays are no reason to drop anything.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

MISSED_AFTER: Final = timedelta(minutes=1)
MAX_CATCH_UP: Final = 1000


class Overlap(StrEnum):
    """A tick is due while an earlier run of its schedule has not ended."""

    ALLOW = "allow"
    SKIP = "skip"
    QUEUE = "queue"
    """One waits until the run has ended; further ones are skipped."""
    REPLACE = "replace"
    """The run is cancelled, and the latest tick starts when it is gone."""


class Missed(StrEnum):
    SKIP = "skip"
    LATEST = "latest"
    ALL = "all"
    """All, up to `missed_limit`; the latest ones if there are more."""
    WINDOW = "window"
    """Those that are no later than `missed_window`."""


class Deed(StrEnum):
    FIRE = "fire"
    WAIT = "wait"
    SKIP = "skip"


class Decision(NamedTuple):
    deed: Deed
    why: str | None = None


FIRE: Final = Decision(Deed.FIRE)
WAIT: Final = Decision(Deed.WAIT)


def judge(overlap: Overlap, due: Sequence[datetime], busy: bool) -> list[Decision]:  # noqa: FBT001
    """What to do with the due ticks of one schedule, oldest first; `busy` says that an earlier run has not ended.

    Those that waited already are among them, and are judged anew. With REPLACE a WAIT asks for the run's end.
    """
    if overlap is Overlap.ALLOW or not due:
        return [FIRE] * len(due)
    if overlap is Overlap.REPLACE:
        replaced = [Decision(Deed.SKIP, f"replaced by the tick of {due[-1].isoformat()}")] * (len(due) - 1)
        return [*replaced, WAIT if busy else FIRE]
    decisions: list[Decision] = []
    room = 1 if overlap is Overlap.QUEUE else 0
    for _ in due:
        if not busy:
            decisions.append(FIRE)
            busy = True
        elif room:
            decisions.append(WAIT)
            room -= 1
        else:
            why = "another tick waits for the run before it" if overlap is Overlap.QUEUE else "a run has not ended"
            decisions.append(Decision(Deed.SKIP, why))
    return decisions


class CatchUp(NamedTuple):
    """Which of the missed ticks run: at most the latest `most`, and none that is later than `within`."""

    most: int
    within: timedelta | None = None


def catch_up(missed: Missed, limit: int, window: timedelta) -> CatchUp:
    match missed:
        case Missed.SKIP:
            return CatchUp(0)
        case Missed.LATEST:
            return CatchUp(1)
        case Missed.ALL:
            return CatchUp(limit)
        case Missed.WINDOW:
            return CatchUp(MAX_CATCH_UP, window)


def kept(rule: CatchUp, late: Sequence[datetime], now: datetime) -> list[bool]:
    """Whether each of the missed ticks, oldest first, runs all the same."""
    first = len(late) - rule.most
    return [number >= first and (rule.within is None or now - at <= rule.within) for number, at in enumerate(late)]


def is_missed(run_at: datetime, now: datetime) -> bool:
    return now - run_at > MISSED_AFTER
