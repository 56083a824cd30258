"""Bulk actions and dead letters."""

from datetime import datetime
from uuid import UUID

import msgspec

from horae.model.actions import ActionKind, ActionState
from horae.model.work import JobError
from horae.wire.jobs import Job, JobChanges


class JobsFilter(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which jobs: the names are those of `GET /v1/jobs`. All that is given must hold."""

    status: str | None = None
    tenant: str | None = None
    """For keys that belong to none; an action is for one tenant."""
    user: str | None = None
    task: str | None = None
    queue: str | None = None
    worker: int | None = None
    label: dict[str, str] = {}
    since: datetime | None = None
    until: datetime | None = None
    cause: str | None = None
    """Dead letters with this fingerprint."""
    ids: list[UUID] | None = None
    text: str | None = None


class ActionRequest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    action: ActionKind
    filter: JobsFilter
    changes: JobChanges | None = None
    """What shall be different: for reprioritise, reschedule and change; for retry and redrive if wanted."""
    reason: str = ""
    rate: float | None = None
    """Jobs a second; retry and redrive have 100 unless told otherwise."""
    preview: bool = False
    """Only count, and show some of them."""


class DeadLetterRequest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Redrive or discard; an empty filter means all dead letters."""

    filter: JobsFilter = msgspec.field(default_factory=JobsFilter)
    changes: JobChanges | None = None
    reason: str = ""
    rate: float | None = None
    preview: bool = False


class Action(msgspec.Struct, kw_only=True, omit_defaults=True):
    action: ActionKind
    state: ActionState
    tenant: str
    filter: JobsFilter
    id: UUID | None = None
    """Absent in a preview."""
    changes: JobChanges | None = None
    reason: str = ""
    rate: float | None = None
    by: str | None = None
    created_at: datetime | None = None
    finished_at: datetime | None = None
    undo_until: datetime | None = None
    total: int | None = None
    """How many jobs matched at the beginning; with `more`, at least so many."""
    more: bool = False
    seen: int = 0
    done: int = 0
    skipped: int = 0
    """They had moved on when their turn came."""
    failed: int = 0
    undone: int = 0
    note: str | None = None
    """The last thing that went wrong."""
    sample: list[Job] = []
    """Of a preview: the newest jobs that match."""


class ActionPage(msgspec.Struct, omit_defaults=True):
    items: list[Action]
    next_cursor: str | None = None


class Cause(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Dead letters that failed in the same way."""

    cause: str | None
    """The fingerprint of the error; null for jobs that failed before there were fingerprints."""
    tenant: str
    count: int
    error: JobError | None
    """Of the newest one, without its traceback."""
    tasks: list[str]
    first_at: datetime
    last_at: datetime
    job_ids: list[UUID]
    """The newest ones."""


class DeadLetters(msgspec.Struct, omit_defaults=True):
    causes: list[Cause]
    jobs: list[Job] | None = None
    """With `cause`: the jobs themselves, a page of them."""
    next_cursor: str | None = None
