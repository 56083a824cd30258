"""From what a task returned or raised to how its attempt ended."""

import traceback
from types import TracebackType
from typing import Final

import msgspec

from horae.client.outcomes import Fatal, Retry
from horae.model.job import INLINE_RESULT_BYTES, MAX_RESULT_BYTES
from horae.model.states import End
from horae.model.work import Finished, Grant, JobError

_MESSAGE_CHARACTERS: Final = 2_000
_TRACEBACK_CHARACTERS: Final = 16_000


def succeeded(grant: Grant, result: bytes, *, sunk: bool = False) -> Finished:
    """`sunk`: the task has a sink, which the server writes when the result is uploaded."""
    size = len(result)
    if size > MAX_RESULT_BYTES:
        text = f"the result has {size:,} bytes, more than {MAX_RESULT_BYTES:,}: store it elsewhere and return where"
        return _ended(grant, End.FATAL, JobError("ResultTooLarge", text))
    finished = Finished(id=grant.id, lane=grant.lane, attempt=grant.attempt)
    if result != b"null":
        finished.result = msgspec.Raw(result)
    if size > INLINE_RESULT_BYTES or (sunk and finished.result is not msgspec.UNSET):
        finished.blob = size
    return finished


def failed(grant: Grant, error: BaseException) -> Finished:
    finished = _ended(grant, End.FATAL if isinstance(error, Fatal) else End.ERROR, describe(error))
    if isinstance(error, Retry):
        finished.retry_after = error.after_seconds
    return finished


def interrupted(grant: Grant) -> Finished:
    """The agent, which knows why, words the error."""
    return _ended(grant, End.CANCELLED, None)


def no_such_task(grant: Grant) -> Finished:
    text = f"this worker's app has no task {grant.task!r}: deploy the version that has it, or cancel the job"
    return _ended(grant, End.ERROR, JobError("UnknownTask", text))


def _ended(grant: Grant, end: End, error: JobError | None) -> Finished:
    return Finished(id=grant.id, lane=grant.lane, attempt=grant.attempt, end=end, error=error)


def describe(error: BaseException) -> JobError:
    try:
        message = str(error)
    except BaseException as other:  # noqa: BLE001 - a user's __str__ may raise anything
        message = f"<no message: its __str__ raised {type(other).__name__}>"
    where = "".join(traceback.format_exception(type(error), error, _users_part(error.__traceback__)))
    if len(where) > _TRACEBACK_CHARACTERS:
        where = "…" + where[-_TRACEBACK_CHARACTERS:]
    return JobError(clean(type(error).__name__), clean(message[:_MESSAGE_CHARACTERS]), clean(where))


def clean(text: str) -> str:
    """What JSON and PostgreSQL can hold: no lone surrogates, no NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _users_part(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_frame.f_globals.get("__name__", "").startswith("horae."):
        trace = trace.tb_next
    return trace
