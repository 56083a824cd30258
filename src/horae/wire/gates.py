"""Gates, the emergency stop, and what a drop took away."""

from datetime import datetime
from uuid import UUID

import msgspec

from horae.model.gates import Action, Kind, Running
from horae.model.states import State


class GateCreate(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    reason: str
    """Why, for everybody who wonders where their jobs are."""
    action: Action = Action.HOLD
    tenant: str | None = None
    """Left out by a key of a tenant: that tenant. Left out by a key of none: all tenants."""
    queue: str | None = None
    task: str | None = None
    condition: str | None = None
    """An expression in CEL on `params` and `labels`: only jobs for which it is true."""
    percent: int | None = None
    """Only so many of a hundred jobs, 1…99: always the same ones."""
    running: Running = Running.LEAVE
    """What becomes of jobs that run already."""
    expires_in: str | float | None = None
    """How long it is in force; left out: until it is released."""


class Gate(msgspec.Struct, kw_only=True, omit_defaults=True):
    id: int
    state: str
    """closed; releasing, while a backlog is let out; over."""
    action: Action
    kind: Kind
    tenant: str | None = None
    queue: str | None = None
    task: str | None = None
    condition: str | None = None
    percent: int | None = None
    running: Running = Running.LEAVE
    probe_seconds: float | None = None
    owner: str
    reason: str
    made_at: datetime
    expires_at: datetime | None = None
    released_at: datetime | None = None
    released_by: str | None = None
    release_rate: float | None = None
    """Jobs a second."""
    drained_at: datetime | None = None
    note: str | None = None
    """What its condition could not be applied to, or how far the probes of a circuit breaker are."""
    held: int = 0
    """Jobs that wait because of it; of a drop, jobs that can be brought back."""
    held_more: bool = False
    """There are more than that: it was not counted to the end."""


class GatePage(msgspec.Struct):
    items: list[Gate]
    more: bool = False
    """Only the latest are given: there may be more."""


class GateChanges(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    reason: str | None = None
    expires_in: str | float | None = None
    """From now on; "never" for until it is released."""


class GateRelease(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    rate: str | float | None = None
    """How fast what it held is let out, e.g. "10/s"; left out: all at once."""


class GateRestore(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    queue: str | None = None
    task: str | None = None
    ids: list[UUID] | None = None


class Restored(msgspec.Struct, kw_only=True):
    restored: int
    more: bool
    """There are more: call again."""


class PreviewJob(msgspec.Struct, kw_only=True):
    id: UUID
    task: str
    queue: str
    state: State


class GatePreview(msgspec.Struct, kw_only=True, omit_defaults=True):
    matching: int
    """Waiting jobs that such a gate would be for; of a percentage, an estimate."""
    looked_at: int
    complete: bool
    """Whether all waiting jobs were looked at."""
    sample: list[PreviewJob]
    note: str | None = None
    """What the condition could not be applied to."""


class Stop(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    reason: str = "emergency stop"
    running: Running = Running.LEAVE
    tenant: str | None = None
    """Only for keys that belong to no tenant, which stop all tenants if it is left out."""
    expires_in: str | float | None = None


class StoppedQueue(msgspec.Struct, kw_only=True):
    tenant: str
    queue: str
    pending: int
    running: int


class StopPreview(msgspec.Struct, kw_only=True, omit_defaults=True):
    """How far an emergency stop would reach. What waits is approximate and a second or two old."""

    tenant: str | None = None
    """Left out: all tenants."""
    pending: int
    """Jobs that wait, and would not start."""
    running: int
    """Jobs that run: they are left alone, cancelled or moved, as the stop says."""
    workers: int
    """Workers that run any of them."""
    tenants: int
    queues: int
    largest: list[StoppedQueue]
    """The fullest queues, at most ten."""
    stops: list[Gate] = []
    """The stops in force that the end of a stop would end."""
