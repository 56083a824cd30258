"""The states of a job and the one table of moves between them.

A job's state is the table that holds its row: `State.table` names it. The store's statements, the
documentation's diagram and the Hypothesis state walk are all checked against `TRANSITIONS`.
"""

from enum import StrEnum
from typing import Final


class State(StrEnum):
    SCHEDULED = "scheduled"
    BLOCKED = "blocked"
    READY = "ready"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    DROPPED = "dropped"

    @property
    def ended(self) -> bool:
        return self in OUTCOMES

    @property
    def table(self) -> str:
        return "outcome" if self in OUTCOMES else TABLES[self]


TABLES: Final = {State.SCHEDULED: "timer", State.BLOCKED: "blocked", State.READY: "ready", State.RUNNING: "lease"}
PENDING: Final = frozenset({State.SCHEDULED, State.BLOCKED, State.READY})
OUTCOMES: Final = frozenset({State.SUCCEEDED, State.FAILED, State.CANCELLED, State.EXPIRED, State.DROPPED})

TRANSITIONS: Final[dict[State, frozenset[State]]] = {
    State.SCHEDULED: frozenset({State.READY, State.BLOCKED, State.CANCELLED, State.EXPIRED, State.DROPPED}),
    State.BLOCKED: frozenset({State.READY, State.SCHEDULED, State.CANCELLED, State.EXPIRED, State.DROPPED}),
    State.READY: frozenset(
        {State.RUNNING, State.SCHEDULED, State.BLOCKED, State.CANCELLED, State.EXPIRED, State.DROPPED}
    ),
    # Expired, dropped and blocked straight from a lease: a claim found out before the worker was told.
    State.RUNNING: frozenset(
        {
            State.SUCCEEDED,
            State.FAILED,
            State.CANCELLED,
            State.EXPIRED,
            State.DROPPED,
            State.SCHEDULED,
            State.READY,
            State.BLOCKED,
        }
    ),
    # A failed job is in the dead-letter queue; a retry asked for by a person takes it out again.
    State.FAILED: frozenset({State.READY, State.SCHEDULED}),
    State.CANCELLED: frozenset({State.READY, State.SCHEDULED}),
    State.SUCCEEDED: frozenset(),
    State.EXPIRED: frozenset(),
    State.DROPPED: frozenset({State.READY, State.SCHEDULED}),
}


class End(StrEnum):
    """How one execution ended. `attempt` and `outcome` rows carry it."""

    SUCCEEDED = "succeeded"
    ERROR = "error"
    """The task raised, or its process exited: counts against `max_attempts`."""
    FATAL = "fatal"
    """The task said that another try is useless."""
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    CRASHED = "crashed"
    """The job's process died under it (signal, exit, memory): counted apart, three send it to the dead letters."""
    LOST = "lost"
    """The worker went away while it held the job: counted apart, as CRASHED."""
    UNDELIVERED = "undelivered"
    """The grant never reached the worker, or was handed back unstarted: costs the job nothing."""
    MOVED = "moved"
    """Stopped to go on at another worker: costs the job nothing."""
    PARKED = "parked"
    """No end, and never stored: the worker is done, and the end comes by a callback. Until then the server holds the
    lease itself."""


USES_AN_ATTEMPT: Final = frozenset({End.ERROR, End.FATAL, End.TIMEOUT})
COUNTS_AS_CRASH: Final = frozenset({End.CRASHED, End.LOST})
COSTS_NOTHING: Final = frozenset({End.UNDELIVERED, End.MOVED})
