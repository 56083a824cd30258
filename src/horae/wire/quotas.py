"""Quotas, and the queues they keep in bounds."""

from datetime import datetime

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


class Queue(msgspec.Struct, kw_only=True):
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


class QueuePage(msgspec.Struct):
    items: list[Queue]
