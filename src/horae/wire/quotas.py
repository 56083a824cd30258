"""Quotas, and the queues they keep in bounds."""

from datetime import datetime
from uuid import UUID

import msgspec

from horae.model.quota import Scope


class QuotaPut(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    submit_rate: str | float | None = None
    """Submissions a second: a number, or such as `600/m`."""
    burst: int | None = None
    """Submissions at once; left out, one second's worth."""
    max_pending: int | None = None
    """How many jobs may wait."""


class Quota(msgspec.Struct, kw_only=True, omit_defaults=True):
    scope: Scope
    name: str
    tenant: str | None = None
    """Absent: for a user, a key of no tenant; for a queue, all tenants together."""
    submit_rate: float | None = None
    burst: int | None = None
    max_pending: int | None = None
    updated_at: datetime
    updated_by: str


class QuotaPage(msgspec.Struct):
    items: list[Quota]


class Queue(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Approximate, and a second or two old. Rates are a second's, over the last minute."""

    tenant: str
    queue: str
    pending: int
    """Jobs that wait: scheduled, blocked or ready."""
    running: int
    submit_rate: float
    start_rate: float
    success_rate: float
    failure_rate: float
    """Of jobs that failed for good."""
    retry_rate: float
    """Of attempts that failed and will be made again."""
    oldest_job: UUID | None = None
    """The job that has been due longest, of those first in line."""
    oldest_at: datetime | None = None
    """When it was due."""


class QueuePage(msgspec.Struct):
    items: list[Queue]
    more: bool = False
    """By tenant and name, only the first are given: there may be more."""


class WaitingLane(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Jobs that wait for the same: of one tenant, queue, task and concurrency key, with the same requirements."""

    tenant: str
    queue: str
    task: str
    key: str | None = None
    jobs: int
    more: bool = False
    """There are more than that: they were not counted to the end."""
    job_id: UUID
    """The first in line."""
    due_at: datetime
    """When that was due."""
    gate: int | None = None
    """The gate that holds them."""
    limit: str | None = None
    """The limit that has no room for them now."""
    no_worker: bool = False
    """No worker that is alive could run them."""


class WaitingPage(msgspec.Struct, kw_only=True, omit_defaults=True):
    items: list[WaitingLane]
    """Longest waiting first."""
    more: bool = False
