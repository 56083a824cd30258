"""What the rows of a job say: its state and its options."""

import asyncpg

from horae.model.job import JobOptions, read_options
from horae.model.states import State


def state_of(row: asyncpg.Record) -> State:
    """The state of a `job_get` row: the table that holds it."""
    if row["outcome"] is not None:
        return State(row["outcome"])
    if row["granted_at"] is not None:
        return State.RUNNING
    if row["is_blocked"]:
        return State.BLOCKED
    return State.SCHEDULED if row["timer_at"] is not None else State.READY


def options_of(row: asyncpg.Record) -> JobOptions:
    return read_options(row["options"])
