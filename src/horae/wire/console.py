"""What the console asks for: who is signed in, what happens, and how things stand."""

from datetime import datetime
from uuid import UUID

import msgspec

from horae.model.roles import Permission, Role


class SignIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One of the two."""

    key: str | None = None
    ticket: str | None = None


class Session(msgspec.Struct, kw_only=True, omit_defaults=True):
    name: str
    role: Role
    tenant: str | None = None
    permissions: list[Permission]
    expires_at: datetime | None = None
    """Absent for a caller that sent a key."""


class ConsoleTicket(msgspec.Struct, kw_only=True):
    ticket: str
    expires_at: datetime
    path: str
    """What to open on this server. The ticket is in its fragment, which a browser sends to nobody."""


class Hello(msgspec.Struct):
    """The first event of a stream: whoever was away looks at everything again."""

    at: datetime
    version: str


class Pulse(msgspec.Struct, kw_only=True):
    """What happened since the last one."""

    at: datetime
    seconds: float
    submitted: int
    started: int
    succeeded: int
    failed: int
    cancelled: int
    other: int
    """Expired and dropped."""
    retried: int
    jobs: list[UUID]
    """Some of the jobs it happened to."""
    more: bool
    """Whether it happened to others, too."""
    policy: bool
    """Whether limits, gates or weights have changed."""


class Series(msgspec.Struct, kw_only=True):
    """Columns of the same length: what happened in each step."""

    at: list[datetime]
    submitted: list[int]
    started: list[int]
    succeeded: list[int]
    failed: list[int]
    cancelled: list[int]
    other: list[int]
    retried: list[int]
    wait_p50: list[float | None]
    """Seconds from the time a job was due to its start: half of them waited less. Sampled."""
    wait_p99: list[float | None]
    run_mean: list[float | None]


class Delay(msgspec.Struct):
    p50: float | None
    p99: float | None


class OldestWaiting(msgspec.Struct, kw_only=True):
    id: UUID
    tenant: str
    task: str
    queue: str
    due_at: datetime


class WorkerLoad(msgspec.Struct, kw_only=True, omit_defaults=True):
    id: int
    name: str
    tenant: str | None = None
    state: str
    slots: int
    running: int
    region: str | None = None


class NextTick(msgspec.Struct, kw_only=True):
    schedule: str
    tenant: str
    task: str
    at: datetime


class FailureGroup(msgspec.Struct, kw_only=True):
    cause: str | None
    tenant: str
    task: str
    queue: str
    jobs: int
    """Among the newest failures, of which a bounded number is looked at."""
    last_at: datetime
    example: UUID
    message: str


class Overview(msgspec.Struct, kw_only=True):
    """How things stand, and how they went in a range of time."""

    at: datetime
    range: str
    step: int
    """Seconds."""
    pending: int
    scheduled: int
    blocked: int
    ready: int
    running: int
    series: Series
    wait: Delay
    oldest: OldestWaiting | None
    """The job that has waited longest, of those that are next in line."""
    workers: list[WorkerLoad]
    workers_total: int
    ticks: list[NextTick]
    failures: list[FailureGroup]
    gates: int
    limits: int
    limits_full: int
