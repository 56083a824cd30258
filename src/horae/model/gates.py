"""Gates: an operator's order to hold, drop or reject jobs, for as long as it is in force."""

import hashlib
from datetime import datetime
from enum import StrEnum

import msgspec

from horae.model.limits import Group, LaneFacts


class Action(StrEnum):
    HOLD = "hold"
    """Jobs wait; nothing starts."""
    DROP = "drop"
    """Waiting jobs end as dropped; they can be brought back for a day."""
    REJECT = "reject"
    """New jobs are refused; those that wait go on."""


class Running(StrEnum):
    """What becomes of jobs that run already."""

    LEAVE = "leave"
    CANCEL = "cancel"
    MOVE = "move"
    """Stopped and put back to wait behind the gate."""


class Kind(StrEnum):
    GATE = "gate"
    STOP = "stop"
    """The emergency stop of everything a key may touch."""
    BREAKER = "breaker"
    """Closed by the circuit breaker of a task."""


class Gate(msgspec.Struct, kw_only=True, frozen=True):
    id: int
    action: Action
    tenant_id: int | None = None
    queue: str | None = None
    task: str | None = None
    condition: str | None = None
    percent: int | None = None
    running: Running = Running.LEAVE
    kind: Kind = Kind.GATE
    probe_seconds: float | None = None
    owner: str = ""
    reason: str = ""
    made_at: datetime | None = None
    expires_at: datetime | None = None
    released_at: datetime | None = None
    release_rate: float | None = None

    @property
    def whole(self) -> bool:
        """Whether it closes its lanes entirely, or only to some of their jobs."""
        return self.condition is None and self.percent is None

    @property
    def releasing(self) -> bool:
        """Open again, but its backlog is let out at a rate."""
        return self.released_at is not None


def concerns(gate: Gate, lane: LaneFacts) -> bool:
    return (
        (gate.tenant_id is None or gate.tenant_id == lane.tenant_id)
        and (gate.queue is None or gate.queue == lane.queue)
        and (gate.task is None or gate.task == lane.task)
    )


def rate_group(gate: Gate) -> Group | None:
    """The limit that a gate puts on its lanes: the rate of its release, or of its probes.

    What a gate held of some jobs only is let out job by job, each at its time, and the others of the lane go on.
    """
    if gate.releasing and gate.release_rate is not None and gate.whole:
        return Group(_digest(gate, "release"), None, gate.release_rate, max(1.0, gate.release_rate), None)
    if gate.probe_seconds is not None and not gate.releasing:
        return Group(_digest(gate, "probe"), 1, 1 / gate.probe_seconds, 1.0, None)
    return None


def chosen(gate: Gate, job_id: str) -> bool:
    """Whether a gate for a percentage of the jobs is for this one: always the same answer for the same job."""
    if gate.percent is None:
        return True
    drawn = int.from_bytes(hashlib.blake2b(f"{gate.id}:{job_id}".encode(), digest_size=4).digest(), "big")
    return drawn % 100 < gate.percent


def _digest(gate: Gate, what: str) -> int:
    text = f"gate\x00{gate.id}\x00{what}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big", signed=True)
