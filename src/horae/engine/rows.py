"""What the rows of a job say: its state, its options and its error."""

from typing import Final

import asyncpg
import msgspec

from horae.model.job import JobOptions, read_options
from horae.model.states import State
from horae.model.work import JobError

MAX_ERROR_BYTES: Final = 32 * 1024
_encoder = msgspec.json.Encoder()


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


def error_text(error: JobError | None) -> str | None:
    """An error as it is stored: JSON, NUL-free, of bounded size."""
    if error is None:
        return None
    text = _encoder.encode(error)
    if len(text) > MAX_ERROR_BYTES:
        cut = JobError(error.kind[:200], error.message[:2000], (error.traceback or "")[-8000:] or None)
        text = _encoder.encode(cut)
    return text.decode()
