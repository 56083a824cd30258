"""Bulk actions: what can be done to all jobs that match a filter, to which of them, and how quickly."""

from collections.abc import Collection
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from horae.model.errors import InvalidInput
from horae.model.states import PENDING, State

MIN_RATE: Final = 0.0001
"""Jobs a second: below one in three hours, a rate is a mistake, and in the end no instant can be reckoned from it."""
MAX_RATE: Final = 100_000.0
DEFAULT_RATE: Final = 100.0
"""Of jobs a second that are run again, when nobody says: what made them fail may not bear all of them at once."""


class ActionKind(StrEnum):
    CANCEL = "cancel"
    RETRY = "retry"
    REDRIVE = "redrive"
    REPRIORITISE = "reprioritise"
    RESCHEDULE = "reschedule"
    DISCARD = "discard"
    CHANGE = "change"


class ActionState(StrEnum):
    PREVIEW = "preview"
    """Nothing was done: the answer to a question."""
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"
    UNDOING = "undoing"
    UNDONE = "undone"


AGAIN: Final = frozenset({ActionKind.RETRY, ActionKind.REDRIVE})
DEAD: Final = frozenset({ActionKind.REDRIVE, ActionKind.DISCARD})
"""These concern dead letters: failed jobs that nobody has discarded."""
CHANGING: Final = frozenset({ActionKind.REPRIORITISE, ActionKind.RESCHEDULE, ActionKind.CHANGE})
UNDOABLE: Final = frozenset({ActionKind.CANCEL, ActionKind.DISCARD, *CHANGING})
"""A job that was run again may have done its work."""

APPLIES: Final[dict[ActionKind, frozenset[State]]] = {
    ActionKind.CANCEL: PENDING | {State.RUNNING},
    ActionKind.RETRY: frozenset({State.FAILED, State.CANCELLED, State.DROPPED}),
    ActionKind.REDRIVE: frozenset({State.FAILED}),
    ActionKind.DISCARD: frozenset({State.FAILED}),
    **dict.fromkeys(CHANGING, PENDING),
}
_MAY_CHANGE: Final[dict[ActionKind, frozenset[str]]] = {
    ActionKind.CANCEL: frozenset(),
    ActionKind.DISCARD: frozenset(),
    ActionKind.REPRIORITISE: frozenset({"priority"}),
    ActionKind.RESCHEDULE: frozenset({"run_at", "delay"}),
}


def concerned(kind: ActionKind, states: frozenset[State] | None) -> frozenset[State]:
    """The states of the jobs that an action with this filter is for."""
    both = APPLIES[kind] if states is None else APPLIES[kind] & states
    if not both:
        names = ", ".join(sorted(APPLIES[kind]))
        raise InvalidInput(f"filter.status: {kind} is for jobs that are {names}", field="filter")
    return both


def check_action(kind: ActionKind, changes: Collection[str], rate: float | None) -> None:
    if rate is not None and not MIN_RATE <= rate <= MAX_RATE:
        raise InvalidInput(f"rate: {rate:g} is outside {MIN_RATE:g}…{MAX_RATE:g} jobs a second", field="rate")
    allowed = _MAY_CHANGE.get(kind)
    if allowed is not None and not allowed.issuperset(changes):
        wrong = ", ".join(sorted(set(changes) - allowed))
        raise InvalidInput(f"changes: {kind} does not take {wrong}", field="changes")
    if kind in CHANGING and not changes:
        names = ", ".join(sorted(allowed)) if allowed else "what shall be different"
        raise InvalidInput(f"changes: say {names}", field="changes")


def slots(paced_until: datetime | None, now: datetime, rate: float, horizon: timedelta, most: int) -> list[datetime]:
    """The instants from now to the horizon that have not been given to jobs. Time that went by unused is gone: after
    a pause nothing catches up."""
    start = now if paced_until is None else max(paced_until, now)
    step = timedelta(seconds=1) / rate
    room = now + horizon - start
    count = -(-room // step) if room > timedelta(0) else 0
    return [start + step * number for number in range(min(count, most))]
