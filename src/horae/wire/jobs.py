"""Jobs, their executions, results, logs and events."""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from horae.model.job import JobRequest
from horae.model.placement import Requirements, Traits
from horae.model.retry import RetryPolicy
from horae.model.states import End, State
from horae.model.unique import Unique
from horae.model.work import JobError

__all__ = [
    "BulkAnswer",
    "BulkItem",
    "Execution",
    "ExecutionPage",
    "Job",
    "JobChanges",
    "JobEvent",
    "JobPage",
    "JobRequest",
    "JobResult",
    "LogLine",
    "LogPage",
    "ProgressView",
    "Submitted",
]


class ProgressView(msgspec.Struct, omit_defaults=True):
    done: float
    total: float | None = None
    note: str | None = None
    at: datetime | None = None


class Job(msgspec.Struct, kw_only=True, omit_defaults=True):
    id: UUID
    task: str
    state: State
    queue: str
    tenant: str
    priority: int
    params: dict[str, Any] | msgspec.Raw
    run_at: datetime
    created_at: datetime
    attempt: int = 0
    """The latest attempt's number, its fence; 0 before the first."""
    max_attempts: int = 5
    user: str | None = None
    """The name of the key that submitted it."""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    worker_id: int | None = None
    error: JobError | None = None
    timeout: str | None = None
    deadline: datetime | None = None
    expires: datetime | None = None
    retry: RetryPolicy | None = None
    concurrency_key: str | None = None
    requires: Requirements | None = None
    prefers: Traits | None = None
    avoids: Traits | None = None
    sticky: str | None = None
    spread: int | None = None
    unique: Unique | None = None
    service_level: str | None = None
    start_by: datetime | None = None
    """What its service level promised."""
    labels: dict[str, str] | None = None
    progress: ProgressView | None = None
    cancel_requested: bool = False
    cloned_from: str | None = None


class Move(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    reason: str = ""
    force: bool = False
    """Even if no other worker could run the job now."""


class JobChanges(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """PATCH before the start, and what a retry or a clone varies. Only what is given changes."""

    params: dict[str, Any] | None = None
    run_at: datetime | None = None
    delay: str | float | None = None
    priority: int | None = None
    queue: str | None = None
    deadline: datetime | None = None
    expires: datetime | None = None
    expires_in: str | float | None = None
    max_attempts: int | None = None
    retry: RetryPolicy | None = None
    timeout: str | float | None = None
    concurrency_key: str | None = None
    requires: Requirements | None = None
    prefers: Traits | None = None
    avoids: Traits | None = None
    sticky: str | None = None
    spread: int | None = None
    labels: dict[str, str] | None = None


class Submitted(msgspec.Struct, omit_defaults=True):
    """The answer to a submit: the job is stored durably."""

    id: str
    state: State
    existing: bool = False
    """True when an idempotency key or uniqueness gave back the job that was there."""
    warnings: list[str] = []
    """Why no worker could run it as things stand; it waits for one."""


class JobPage(msgspec.Struct, omit_defaults=True):
    items: list[Job]
    next_cursor: str | None = None
    """Give it back as `cursor` for the next page; absent on the last one."""


class BulkItem(msgspec.Struct, omit_defaults=True, gc=False):
    """The answer to one item of a bulk submit, in the order of the items."""

    id: str | None = None
    state: State | None = None
    existing: bool = False
    """True when the job was there already, and the new one is the same."""
    code: str | None = None
    detail: str | None = None
    retry_after: float | None = None
    """Seconds: what was refused for now may be sent again then."""


class BulkAnswer(msgspec.Struct):
    accepted: int
    refused: int
    items: list[BulkItem]


class JobResult(msgspec.Struct, kw_only=True, omit_defaults=True):
    """`GET /jobs/{id}/result?wait=30`: the state, and the result or the error once it has ended."""

    id: UUID
    state: State
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: JobError | None = None


class Execution(msgspec.Struct, kw_only=True, omit_defaults=True):
    job_id: UUID
    attempt: int
    worker_id: int | None
    started_at: datetime | None
    ended_at: datetime | None = None
    end: End | None = None
    """Absent while it runs."""
    error: JobError | None = None
    cpu: float | None = None
    peak_memory: int | None = None
    isolation: str | None = None
    """Of scripts, containers and HTTP calls, as the next three: how well it was shut in; `none` is not at all."""
    task_version: int | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None
    task: str | None = None
    """In what a worker ran, where jobs of many tasks stand side by side."""


class ExecutionPage(msgspec.Struct, omit_defaults=True):
    items: list[Execution]
    next_cursor: str | None = None


class LogLine(msgspec.Struct, omit_defaults=True):
    """A chunk of output: one or more whole lines, as far as the job wrote whole lines."""

    attempt: int
    seq: int
    stream: str
    """`stdout`, `stderr` or `system` (a remark of the worker, such as a truncation)."""
    at: datetime
    text: str


class LogPage(msgspec.Struct, omit_defaults=True):
    items: list[LogLine]
    next_cursor: str | None = None
    """Always present while the job runs: ask again with it for what comes next."""


class JobEvent(msgspec.Struct, omit_defaults=True):
    """One server-sent event of `GET /jobs/{id}/events`."""

    id: UUID
    state: State
    attempt: int
    at: datetime
    progress: ProgressView | None = None
