"""What a service says when it calls back: how the attempt ended, or how far it is. Pure."""

import hashlib
from enum import StrEnum

import msgspec

from horae.model.durations import parse_duration
from horae.model.errors import InvalidInput
from horae.model.states import End
from horae.model.work import JobError

SERVER = 0
"""The worker that holds parked attempts: the servers themselves. No agent ever has this number."""


class CallbackState(StrEnum):
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class CallbackProgress(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    done: float
    total: float | None = None
    note: str | None = None


class CallbackReport(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Either the end (`state`), which is told once, or `progress`, as often as one likes."""

    state: CallbackState | None = None
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    """Of a success: any JSON."""
    error: JobError | str | None = None
    """Of a failure."""
    retry: bool = True
    """Whether a failure is worth another attempt, if the job has one left."""
    retry_after: str | float | None = None
    """How long to wait before it; None: as the job's retry policy says."""
    progress: CallbackProgress | None = None


class CallbackAnswer(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True):
    """The end in a report, as it is kept until it has been carried out."""

    end: End
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: JobError | None = None
    retry_after: float | None = None

    @property
    def digest(self) -> bytes:
        """The same for whoever says the same, in whatever order and with whatever spaces."""
        result = None if self.result is msgspec.UNSET else msgspec.json.decode(self.result)
        said = [self.end, result, self.error, self.retry_after]
        return hashlib.sha256(msgspec.json.encode(said, order="deterministic")).digest()


def answer_of(report: CallbackReport) -> CallbackAnswer:
    if report.state is None or report.progress is not None:
        raise InvalidInput("a report tells the end (state) or progress, one of the two", field="state")
    return _success(report) if report.state is CallbackState.SUCCEEDED else _failure(report)


def _failure(report: CallbackReport) -> CallbackAnswer:
    if report.result is not msgspec.UNSET:
        raise InvalidInput("result: only a success has one; tell of a failure in error", field="result")
    error = JobError("callback", report.error) if isinstance(report.error, str) else report.error
    wait = None if report.retry_after is None else parse_duration(report.retry_after, "retry_after").total_seconds()
    return CallbackAnswer(
        end=End.ERROR if report.retry else End.FATAL,
        error=error or JobError("callback", "the service reported a failure and did not say why"),
        retry_after=wait if report.retry else None,
    )


def _success(report: CallbackReport) -> CallbackAnswer:
    for field in ("error", "retry_after"):
        if getattr(report, field) is not None:
            raise InvalidInput(f"{field}: a success has none", field=field)
    if report.result is not msgspec.UNSET:
        _check_json(report.result)
    return CallbackAnswer(end=End.SUCCEEDED, result=report.result)


def _check_json(result: msgspec.Raw) -> None:
    """Of a raw value only the ends have been looked for."""
    try:
        msgspec.json.decode(result)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise InvalidInput(f"result: not valid JSON: {str(error)[:200]}", field="result") from error
