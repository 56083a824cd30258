"""The worker's protocol (four calls and a few small ones) and the views of workers.

A worker numbers its exchanges that want work. When an answer never arrived, it lists that number in `lost` on
every later exchange and heartbeat for two minutes: jobs granted under it are given to others at once.
"""

from datetime import datetime
from typing import Any

import msgspec

from horae.model.kinds import Kind
from horae.model.matching import Free
from horae.model.task import TaskDefinition
from horae.model.work import CancelOrder, Finished, Grant, Progress


class Join(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    name: str
    host: str
    slots: int
    tasks: list[TaskDefinition]
    queues: list[str] | None = None
    """None: every queue."""
    labels: dict[str, str] = {}
    version: str = ""
    pid: int | None = None
    cpus: float | None = None
    memory: int | None = None
    """Bytes."""
    region: str | None = None
    zone: str | None = None
    kind: str | None = None
    """What kind of machine it is on."""
    gpus: float | None = None
    disk: int | None = None
    """Bytes that jobs may use."""
    kinds: list[str] = msgspec.field(default_factory=lambda: [Kind.FUNCTION.value])
    """The kinds of task it can run."""
    widest: int | None = None
    """The most slots that one job can take; None: all of them."""


class Joined(msgspec.Struct):
    worker_id: int
    lease_seconds: float
    """How long the server leaves the worker's jobs alone after it received a heartbeat."""
    heartbeat_seconds: float


class Exchange(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    want: int = 0
    """How many jobs the worker can start within about a second."""
    number: int = 0
    """The number of this call, when it wants work: 1, 2, 3 …, each once. One that comes again is refused."""
    lost: list[int] = []
    wait: float = 0.0
    """Seconds to wait for work when there is none; at most 30."""
    finished: list[Finished] = []
    free: Free | None = None
    """What is left beside what the worker holds; None: all that it announced."""


class Stale(msgspec.Struct):
    """A completion that was refused: the worker no longer held this attempt."""

    id: str
    attempt: int


class Exchanged(msgspec.Struct, omit_defaults=True):
    jobs: list[Grant] = []
    stale: list[Stale] = []
    cancel: list[CancelOrder] = []
    drain: bool = False


class Heartbeat(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    running: int = 0
    queued: int = 0
    cpu: float | None = None
    """0…1 of the host."""
    memory: float | None = None
    """0…1 of the host."""
    lost: list[int] = []
    progress: list[Progress] = []


class HeartbeatAnswer(msgspec.Struct, omit_defaults=True):
    cancel: list[CancelOrder] = []
    drain: bool = False


class LogChunk(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    id: str
    lane: int
    attempt: int
    seq: int
    """Counts up from 0 in each attempt; sending the same number twice stores it once."""
    stream: str = "stdout"
    text: str = ""


class LogUpload(msgspec.Struct, forbid_unknown_fields=True):
    chunks: list[LogChunk]


class CheckpointUpload(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    id: str
    lane: int
    attempt: int
    data: msgspec.Raw


class TaskRuns(msgspec.Struct):
    task: str
    jobs: int


class Worker(msgspec.Struct, kw_only=True, omit_defaults=True):
    id: int
    name: str
    host: str
    state: str
    """`active`, `draining`, `left` or `lost`."""
    health: str
    """`healthy`, `overloaded` (over 95 % CPU or memory), `degraded` (a heartbeat is late) or `gone`."""
    tenant: str | None
    slots: int
    running: int
    tasks: list[str]
    queues: list[str] | None = None
    labels: dict[str, Any] = {}
    version: str = ""
    joined_at: datetime
    seen_at: datetime
    cpus: float | None = None
    memory: int | None = None
    cpu_load: float | None = None
    memory_load: float | None = None
    region: str | None = None
    zone: str | None = None
    kind: str | None = None
    gpus: float | None = None
    disk: int | None = None
    kinds: list[str] = []
    steered_by: str | None = None
    """Who drains it, why, and until when."""
    steer_reason: str | None = None
    steer_until: datetime | None = None
    probation: bool = False
    """Its jobs kept failing while the same tasks do well elsewhere: it gets one at a time until one succeeds."""
    runs: list[TaskRuns] | None = None
    """In a list that was asked for it: how many jobs of which task it runs, of those that the key may see."""
    moving: int | None = None
    """In the answer to a drain that moves: how many running jobs are told to go on elsewhere, and how many stay,
    because no other worker could run them."""
    staying: int | None = None


class Drain(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Maintenance is a drain with a reason and an end."""

    reason: str = ""
    lasts: str | float | None = None
    """How long, such as "2h"; then the worker goes on by itself. None: until somebody resumes it."""
    move: bool = False
    """What it runs goes on elsewhere, where other workers could run it."""


class WorkerPage(msgspec.Struct, omit_defaults=True):
    items: list[Worker]
    next_cursor: str | None = None


class WorkerEvent(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Something that happened to a worker, or to the one of its name and host before it."""

    worker_id: int
    at: datetime
    """Of `late`: the beginning of the ten minutes that are summed up."""
    event: str
    """`joined`, `late` (a heartbeat came after more than half a lease), `drained`, `resumed`, `probation` (it gets one
    job at a time, because its jobs kept failing), `trusted` (no longer so), `left` or `lost`."""
    who: str | None = None
    reason: str | None = None
    seconds: float | None = None
    """Of `late`: the longest silence. Of `drained`: for how long."""
    times: int = 1
    """Of `late`: how often in these ten minutes."""


class WorkerHistory(msgspec.Struct):
    items: list[WorkerEvent]
    """Latest first; at most 200."""
