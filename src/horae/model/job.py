"""What a client asks for: a job, and the limits on what it may say."""

import re
from datetime import datetime
from typing import Any, Final

import msgspec

from horae.model.durations import parse_duration
from horae.model.errors import InvalidInput
from horae.model.placement import Requirements, Traits
from horae.model.promise import Promise
from horae.model.rank import EMERGENCY, LOWEST
from horae.model.retry import RetryPolicy, check_max_attempts
from horae.model.unique import Unique, check_unique

DEFAULT_QUEUE: Final = "default"
DEFAULT_TENANT: Final = "default"
MAX_PARAMS_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 64
MAX_LABELS: Final = 32
MAX_LABEL_LENGTH: Final = 200
MAX_KEY_LENGTH: Final = 200
INLINE_RESULT_BYTES: Final = 32 * 1024
MAX_RESULT_BYTES: Final = 64 * 1024 * 1024
MAX_PIECE_BYTES: Final = 64 * 1024
"""Of one partial result."""
LATEST_YEAR: Final = 2200
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,199}")


class JobRequest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """One job as a client asks for it. What is left out comes from the task's definition."""

    task: str
    params: dict[str, Any] = {}
    run_at: datetime | None = None
    """Run at this instant (RFC 3339 with an offset)."""
    delay: str | float | None = None
    """Run this much later than now, instead of `run_at`."""
    priority: int | None = None
    """1 (lowest) … 10 (emergency); 5 is normal."""
    queue: str | None = None
    deadline: datetime | None = None
    """Should have run by then: pulls the job forward when it gets tight."""
    expires: datetime | None = None
    """Start by then, or never: a job that still waits ends as `expired`."""
    expires_in: str | float | None = None
    """The same, counted from the moment it is due."""
    max_attempts: int | None = None
    retry: RetryPolicy | None = None
    timeout: str | float | None = None
    """How long one attempt may run."""
    concurrency_key: str | None = None
    """Jobs with the same key share a limit of their own; one at a time unless a limit says otherwise."""
    requires: Requirements | None = None
    prefers: Traits | None = None
    avoids: Traits | None = None
    sticky: str | None = None
    """Jobs with the same sticky key go to the same worker, as long as it is there."""
    spread: int | None = None
    """At most so many jobs like this one at once on one worker."""
    unique: Unique | None = None
    labels: dict[str, str] | None = None
    tenant: str | None = None
    """Only for keys that belong to no tenant; others submit to their own."""


class PlainRequest(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A `JobRequest` that names a task and params and nothing else: that is nearly every job of a large bulk."""

    task: str
    params: dict[str, Any] = {}


class JobOptions(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The rarer facts of a job, stored as one JSON column that is null when all are at their defaults."""

    max_attempts: int | None = None
    retry: RetryPolicy | None = None
    timeout: float | None = None
    deadline: datetime | None = None
    expires: datetime | None = None
    sticky: str | None = None
    unique: Unique | None = None
    labels: dict[str, str] | None = None
    promise: Promise | None = None
    cloned_from: str | None = None
    forgiven: int | None = None
    """Attempts up to this one came before a person's retry: they no longer count."""

    @property
    def urged_by(self) -> datetime | None:
        """What pulls it forward: its own deadline, else what its service level promises."""
        return self.deadline or (None if self.promise is None else self.promise.start_by)


_options_decoder: Final = msgspec.json.Decoder(JobOptions)


def read_options(text: str | None) -> JobOptions:
    """Stored options. Unreadable ones (written past us, by SQL) count as defaults: they must not stop a claim."""
    if text is None:
        return JobOptions()
    try:
        return _options_decoder.decode(text)
    except msgspec.MsgspecError:
        return JobOptions()


def expires_of(options: str | None) -> datetime | None:
    """When a job expires. Most never do, and looking for the word costs less than reading their options."""
    return read_options(options).expires if options is not None and '"expires"' in options else None


def promise_of(options: str | None) -> Promise | None:
    return read_options(options).promise if options is not None and '"promise"' in options else None


def unique_of(options: str | None) -> Unique | None:
    return read_options(options).unique if options is not None and '"unique"' in options else None


def check_name(value: str, field: str) -> str:
    if not _NAME.fullmatch(value):
        raise InvalidInput(
            f"{field}: {value[:80]!r} is not a name: letters, digits and _ . : / - only, at most 200", field=field
        )
    return value


def check_instant(value: datetime, field: str) -> datetime:
    if value.tzinfo is None:
        raise InvalidInput(f"{field}: {value.isoformat()} has no offset; write e.g. 2026-11-20T10:00:00Z", field=field)
    if not 1970 <= value.year <= LATEST_YEAR:
        raise InvalidInput(f"{field}: the year {value.year} is outside 1970…{LATEST_YEAR}", field=field)
    return value


def check_request(job: JobRequest) -> JobRequest:
    """Everything that can be refused without looking anything up. Returns the same request."""
    check_name(job.task, "task")
    if job.queue is not None:
        check_name(job.queue, "queue")
    if job.run_at is not None:
        check_instant(job.run_at, "run_at")
        if job.delay is not None:
            raise InvalidInput("run_at and delay exclude each other: give one", field="delay")
    if job.delay is not None:
        parse_duration(job.delay, "delay")
    if job.priority is not None and not LOWEST <= job.priority <= EMERGENCY:
        raise InvalidInput(f"priority: {job.priority} is outside {LOWEST}…{EMERGENCY}", field="priority")
    _check_rarer(job)
    return job


def is_plain(job: JobRequest) -> bool:
    """Whether a request names a task and params only: nothing of it can be refused by `check_request` but the name."""
    return (
        job.run_at is None and job.delay is None and job.priority is None and job.queue is None
        and job.deadline is None and job.max_attempts is None and job.retry is None and job.timeout is None
        and job.concurrency_key is None and job.labels is None and job.expires is None and job.expires_in is None
        and job.requires is None and job.prefers is None and job.avoids is None and job.sticky is None
        and job.spread is None and job.unique is None
    )  # fmt: skip


def is_usual(job: JobRequest) -> bool:
    """Whether a request goes into the usual lane of its task."""
    return (
        job.queue is None and job.concurrency_key is None and job.priority is None and job.requires is None
        and job.prefers is None and job.avoids is None and job.sticky is None and job.spread is None
    )  # fmt: skip


def _check_rarer(job: JobRequest) -> None:
    if job.deadline is not None:
        check_instant(job.deadline, "deadline")
    check_expiry(job.expires, job.expires_in)
    if job.unique is not None:
        check_unique(job.unique)
    if job.max_attempts is not None:
        check_max_attempts(job.max_attempts)
    if job.timeout is not None and parse_duration(job.timeout, "timeout").total_seconds() <= 0:
        raise InvalidInput("timeout: must be more than 0", field="timeout")
    key = job.concurrency_key
    if key is not None and (not 1 <= len(key) <= MAX_KEY_LENGTH or "\x00" in key):
        raise InvalidInput(f"concurrency_key: 1…{MAX_KEY_LENGTH} characters, no NUL", field="concurrency_key")
    if job.labels is not None:
        check_labels(job.labels)


def check_expiry(expires: datetime | None, expires_in: str | float | None) -> None:
    if expires is not None:
        check_instant(expires, "expires")
        if expires_in is not None:
            raise InvalidInput("expires and expires_in exclude each other: give one", field="expires_in")
    if expires_in is not None and not parse_duration(expires_in, "expires_in"):
        raise InvalidInput("expires_in: must be more than 0", field="expires_in")


def check_labels(labels: dict[str, str]) -> None:
    if len(labels) > MAX_LABELS:
        raise InvalidInput(f"labels: {len(labels)} are more than {MAX_LABELS}", field="labels")
    for name, value in labels.items():
        check_name(name, "labels")
        if len(value) > MAX_LABEL_LENGTH or "\x00" in value:
            raise InvalidInput(f"labels.{name}: at most {MAX_LABEL_LENGTH} characters, no NUL", field="labels")
