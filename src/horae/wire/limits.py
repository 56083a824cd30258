"""Limits on what runs."""

from datetime import datetime
from uuid import UUID

import msgspec

from horae.model.limits import Field
from horae.wire.quotas import WaitingLane


class LimitPut(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which jobs it is for (left out: all), and how many of them may run or start."""

    tenant: str | None = None
    """Only for keys that belong to no tenant; left out by one of those: all tenants together."""
    queue: str | None = None
    task: str | None = None
    key: str | None = None
    """A concurrency key, or the beginning of several with * behind it."""
    each: list[Field] = []
    """Every value of these has the limit for itself: ["key"] limits each concurrency key on its own."""
    max_running: int | None = None
    rate: str | float | None = None
    """Starts: 10/s, 600/m, 5/h, or a number a second."""
    burst: float | None = None
    """How many may start at once after a pause. Left out: a second's worth, at least one."""
    reason: str | None = None


class Limit(msgspec.Struct, kw_only=True, omit_defaults=True):
    name: str
    tenant: str | None = None
    queue: str | None = None
    task: str | None = None
    key: str | None = None
    each: list[Field] = []
    max_running: int | None = None
    rate: float | None = None
    """Starts a second."""
    burst: float | None = None
    running: int = 0
    """Jobs that run under it now."""
    groups: int = 0
    """How many of its groups have a job running."""
    of_task: bool = False
    """Declared with a task, and changed with it."""
    made_by: str
    made_at: datetime
    reason: str | None = None


class LimitPage(msgspec.Struct):
    items: list[Limit]


class LimitHolder(msgspec.Struct, kw_only=True, omit_defaults=True):
    job_id: UUID
    tenant: str
    queue: str
    task: str
    worker_id: int
    since: datetime


class LimitUse(msgspec.Struct, kw_only=True, omit_defaults=True):
    limit: Limit
    holders: list[LimitHolder]
    """Jobs that run under it, longest first; at most 50."""
    waiting: list[WaitingLane]
    """Who stands in line under it, longest waiting first."""
    more_waiting: bool = False
