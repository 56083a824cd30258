"""From how a run ended, in the runner's words, to the end of the attempt as the server hears of it."""

import traceback
from typing import Final

import msgspec

from horae.model.states import End
from horae.model.work import Finished, Grant, JobError
from horae.worker.child.verdict import clean, succeeded
from horae.worker.ends import ended
from horae.worker.errands.errand import Outcome, StopOrder
from horae.worker.errands.presence import Presence
from horae.worker.masking import Masker
from horae.worker.redaction import redact

_MESSAGE_CHARACTERS: Final = 2_000
_TRACEBACK_CHARACTERS: Final = 16_000


def conclude(presence: Presence, outcome: Outcome) -> Finished:
    finished = _success(presence, outcome) if outcome.end is End.SUCCEEDED else _failure(presence.grant, outcome)
    redact(finished, presence.masker)
    usage = msgspec.structs.replace(outcome.usage, version=presence.brief.version or None)
    finished.usage, finished.cpu, finished.peak_memory = usage, usage.cpu, usage.peak_memory
    return finished


def _success(presence: Presence, outcome: Outcome) -> Finished:
    finished = succeeded(presence.grant, outcome.result or b"null")
    if finished.blob is None and finished.result is not msgspec.UNSET and not _is_json(finished.result):
        return ended(presence.grant, End.ERROR, JobError("result", "the result is not JSON"))
    if presence.brief.task.sink is not None and finished.result is not msgspec.UNSET:
        # Whatever its size: the server writes the sink when the result is uploaded, before the job has ended.
        finished.blob = len(bytes(finished.result))
    return finished


def _failure(grant: Grant, outcome: Outcome) -> Finished:
    if outcome.end is End.PARKED:
        return ended(grant, End.PARKED)
    error = outcome.error or JobError(outcome.end.value, "the runner gave no reason")
    finished = ended(grant, outcome.end, _bounded(error))
    finished.retry_after = outcome.retry_after
    return finished


def _bounded(error: JobError) -> JobError:
    trace = error.traceback
    if trace is not None and len(trace) > _TRACEBACK_CHARACTERS:
        trace = "…" + trace[-_TRACEBACK_CHARACTERS:]
    message = clean(error.message[:_MESSAGE_CHARACTERS])
    return JobError(clean(error.kind), message, None if trace is None else clean(trace))


def _is_json(data: msgspec.Raw) -> bool:
    """One bad byte would spoil the exchange, and every other completion in it."""
    try:
        msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return True


def called_off(grant: Grant, order: StopOrder) -> Finished:
    """It was to stop before anything had started."""
    return ended(grant, order.end, JobError(order.end.value, clean(order.text)))


def broken(grant: Grant, error: Exception, masker: Masker) -> Finished:
    """The agent itself has failed at it."""
    finished = ended(grant, End.CRASHED, _bounded(JobError(type(error).__name__, str(error))))
    redact(finished, masker)
    return finished


def traceback_of(error: BaseException, masker: Masker) -> str:
    """For the worker's own log, which shows no secret either."""
    return clean(masker.mask_text("".join(traceback.format_exception(error))))
