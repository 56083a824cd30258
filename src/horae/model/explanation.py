"""Why a job is not running yet, when it will, and where the time of one that ended went: the answers, as records.

A reason is something that keeps the job from starting now. Its code is stable: programs may rely on it. What a code
means and what resolves it is told to people in `summary` and `resolve`, whose words may change.
"""

from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from horae.model.states import State


class Code(StrEnum):
    """In the order in which reasons are told: what must come first, first."""

    NOT_DUE = "not_due"
    OFF_PEAK = "off_peak"
    DEBOUNCED = "debounced"
    RETRY_WAIT = "retry_wait"
    GATE = "gate"
    GATE_PARTIAL = "gate_partial"
    GATE_PROBE = "gate_probe"
    GATE_RELEASE = "gate_release"
    LIMIT_RUNNING = "limit_running"
    LIMIT_RATE = "limit_rate"
    NO_WORKER_FOR_TASK = "no_worker_for_task"
    NO_WORKER_FOR_QUEUE = "no_worker_for_queue"
    NO_WORKER_MATCHES = "no_worker_matches"
    WORKERS_DRAINING = "workers_draining"
    WORKER_ON_PROBATION = "worker_on_probation"
    WORKER_RESERVED = "worker_reserved"
    SPREAD_FULL = "spread_full"
    WORKERS_BUSY = "workers_busy"
    LARGE_JOB_WAITS_FOR_ROOM = "large_job_waits_for_room"
    PREFERRED_WORKER_BUSY = "preferred_worker_busy"
    BEHIND_OWN_TENANT = "behind_own_tenant"
    BEHIND_OTHER_TENANTS = "behind_other_tenants"
    STARTING = "starting"
    CANCEL_REQUESTED = "cancel_requested"
    AWAITING_CALLBACK = "awaiting_callback"


class What(StrEnum):
    """What the time of a job went into."""

    WAITING_FOR_DUE = "waiting_for_due"
    HELD_BY_GATE = "held_by_gate"
    WAITING_FOR_LIMIT = "waiting_for_limit"
    RETRY_WAITS = "retry_waits"
    BEHIND_OTHERS = "behind_others"
    WAITING_FOR_WORKER = "waiting_for_worker"
    RUNNING = "running"


WAITS: Final = {
    Code.NOT_DUE: What.WAITING_FOR_DUE,
    Code.DEBOUNCED: What.WAITING_FOR_DUE,
    Code.RETRY_WAIT: What.RETRY_WAITS,
    Code.GATE: What.HELD_BY_GATE,
    Code.GATE_PARTIAL: What.HELD_BY_GATE,
    Code.GATE_PROBE: What.HELD_BY_GATE,
    Code.GATE_RELEASE: What.HELD_BY_GATE,
    Code.LIMIT_RUNNING: What.WAITING_FOR_LIMIT,
    Code.LIMIT_RATE: What.WAITING_FOR_LIMIT,
    Code.WORKERS_BUSY: What.BEHIND_OTHERS,
    Code.BEHIND_OWN_TENANT: What.BEHIND_OTHERS,
    Code.BEHIND_OTHER_TENANTS: What.BEHIND_OTHERS,
}
"""What a job's time goes into while a reason holds it; for all others it waits for a worker."""


class HoldingJob(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A job in a slot that this one waits for."""

    id: str
    task: str
    worker_id: int
    since: datetime
    tenant: str | None = None


class HoldingGate(msgspec.Struct, kw_only=True, omit_defaults=True):
    id: int
    action: str
    kind: str
    owner: str
    reason: str
    since: datetime | None = None
    expires_at: datetime | None = None


class HoldingLimit(msgspec.Struct, kw_only=True, omit_defaults=True):
    name: str
    """Of the rule, or the concurrency key that is a mutex."""
    max_running: int | None = None
    running: int = 0
    rate: float | None = None
    """Starts a second."""


class HoldingWorker(msgspec.Struct, kw_only=True, omit_defaults=True):
    id: int
    name: str
    slots: int
    running: int = 0
    """The slots that are taken."""
    lacks: list[str] = []
    """What the job wants and this worker has not."""
    reason: str | None = None
    """Why it is drained, and by whom."""


class Ahead(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Jobs that go first, or in turn with this one."""

    jobs: int
    more: bool = False
    """There are more than that: counting stopped."""
    tenant: str | None = None
    """None: other tenants, which the caller may not see."""


class HeldBy(msgspec.Struct, kw_only=True, omit_defaults=True):
    jobs: list[HoldingJob] = []
    other_jobs: int = 0
    """How many more are in the slots: of tenants that the caller may not see, or too many to tell."""
    gate: HoldingGate | None = None
    limit: HoldingLimit | None = None
    workers: list[HoldingWorker] = []
    other_workers: int = 0
    ahead: list[Ahead] = []


class Reason(msgspec.Struct, kw_only=True, omit_defaults=True):
    code: Code
    summary: str
    resolve: str
    command: str | None = None
    """A command that resolves it, or shows more."""
    until: datetime | None = None
    """When it resolves by itself, if that is known."""
    held_by: HeldBy | None = None


class Place(msgspec.Struct, omit_defaults=True):
    """1 is the next of its lane: of the jobs with the same task, queue, concurrency key and placement."""

    number: int
    more: bool = False
    """It is further back than that: counting stopped."""


class Estimate(msgspec.Struct, kw_only=True):
    """When it will start, or for a running job, end. Newcomers that go before it are not foreseen."""

    at: datetime
    earliest: datetime
    latest: datetime
    basis: str
    """What it is reckoned from, in words."""


class Spent(msgspec.Struct, kw_only=True, omit_defaults=True):
    what: What
    seconds: float
    detail: str | None = None
    """Which gate, which limit, behind whom mostly."""


class Stretch(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A part of a job's life that went into one thing."""

    what: What
    since: datetime
    until: datetime | None = None
    """Absent while it lasts."""
    detail: str | None = None
    """Which gate, which limit, behind whom mostly; of what lasts, why."""
    attempt: int | None = None
    """Of what runs."""


class Timeline(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A job's life from its submit on, in order and without gaps."""

    id: UUID
    state: State
    at: datetime
    """When this was told."""
    items: list[Stretch]


class RunningNow(msgspec.Struct, kw_only=True, omit_defaults=True):
    worker_id: int
    worker: str | None = None
    since: datetime
    attempt: int
    done: float | None = None
    total: float | None = None
    note: str | None = None


class Explanation(msgspec.Struct, kw_only=True, omit_defaults=True):
    id: UUID
    state: State
    answer: str
    """The whole in one sentence."""
    reasons: list[Reason] = []
    """All that keeps it from starting, in order. Empty unless it waits."""
    place: Place | None = None
    estimate: Estimate | None = None
    no_estimate: str | None = None
    """Why there is none."""
    running: RunningNow | None = None
    spent: list[Spent] = []
    """Of a job that ended: where its time went. The seconds add up to the whole, from the submit to the end."""
    notes: list[str] = []
