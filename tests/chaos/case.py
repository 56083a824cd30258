"""All that the checkers judge, as plain values: what clients did, what jobs did, what the database says in the end."""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Final, NamedTuple

from faults.effects import Run

from .history import Call
from .part import Freeze
from .trail import Lease, Move, Step, by_job, leases, moves

UNASKED: Final = "tick"
"""The beginning of the references of jobs that a schedule made."""


class JobRow(NamedTuple):
    id: str
    tenant: str
    task: str
    key: str
    """Its concurrency key, or nothing."""
    ref: str
    """What the client that asked for it called it: one of its own for each job asked for."""
    max_attempts: int = 5
    schedule: str | None = None
    tick: datetime | None = None


class OutcomeRow(NamedTuple):
    job: str
    state: str
    attempt: int
    ending: str
    result: tuple[str, int] | None = None
    """The job and attempt that the result says it comes from."""


class AttemptRow(NamedTuple):
    """An attempt that ended without ending its job."""

    job: str
    attempt: int
    ending: str


class ScheduleRow(NamedTuple):
    name: str
    first_at: datetime
    """Its first tick."""
    cursor_at: datetime
    """Up to here every tick has been dealt with."""
    every: float
    made_at: datetime


class TickRow(NamedTuple):
    schedule: str
    at: datetime
    state: str
    reason: str | None
    count: int = 1
    job: str | None = None


class WorkerRow(NamedTuple):
    id: int
    pid: int
    state: str
    joined_at: float = 0.0
    """By the clock that nobody sets; it is as wrong as the database's clock was when it was set."""


@dataclass
class Case:
    calls: list[Call] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    jobs: dict[str, JobRow] = field(default_factory=dict)
    outcomes: list[OutcomeRow] = field(default_factory=list)
    attempts: list[AttemptRow] = field(default_factory=list)
    left: dict[str, list[str]] = field(default_factory=dict)
    """The tables that still hold a job that has not ended."""
    steps: list[Step] = field(default_factory=list)
    schedules: list[ScheduleRow] = field(default_factory=list)
    ticks: list[TickRow] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)
    """Idempotency key → job."""
    workers: list[WorkerRow] = field(default_factory=list)
    slots: int = 0
    """Slots of limits that are still taken."""
    freezes: list[Freeze] = field(default_factory=list)
    limits: Mapping[str, int] = field(default_factory=dict)
    """How many jobs of a task may run at once."""
    lease_seconds: float = 6.0
    repeated: bool = False
    """Whether the network sent requests twice: without an idempotency key that makes two jobs."""
    clock_set: bool = False
    """Whether the database's clock was set: then its times tell nothing about what came first."""
    stale: int = 0
    """Completions that servers refused, by their own word."""

    @cached_property
    def submits(self) -> list[Call]:
        return [call for call in self.calls if "refs" in call.asked]

    @cached_property
    def runs_of(self) -> dict[str, list[Run]]:
        found: dict[str, list[Run]] = defaultdict(list)
        for run in sorted(self.runs, key=lambda run: (run.attempt, run.first)):
            found[run.job].append(run)
        return found

    @cached_property
    def moves_of(self) -> dict[str, list[Move]]:
        return {job: moves(steps) for job, steps in by_job(self.steps).items()}

    @cached_property
    def leases(self) -> list[Lease]:
        return leases(self.steps)

    @cached_property
    def endings(self) -> dict[tuple[str, int], str]:
        """How each attempt ended, whether the job ended with it or not."""
        ended = {(row.job, row.attempt): row.ending for row in self.outcomes}
        return ended | {(row.job, row.attempt): row.ending for row in self.attempts}

    @cached_property
    def first_waits(self) -> dict[str, tuple[float, float]]:
        """The answer to a submit and the first start, of jobs that were due at once; infinity if there was none."""
        first = {job: min(run.first for run in runs) for job, runs in self.runs_of.items()}
        answered = {
            job: call.ended_at
            for call in self.submits
            if call.ended_at is not None and not call.asked.get("delay")
            for job in call.answer.get("jobs", [])
        }
        return {job: (at, first.get(job, math.inf)) for job, at in answered.items()}

    @cached_property
    def waits(self) -> dict[str, float]:
        """Seconds between the two, of those that started."""
        spans = self.first_waits.items()
        return {job: max(0.0, started - answered) for job, (answered, started) in spans if started < math.inf}

    def thawed(self, run: Run) -> float | None:
        """Since when a run was frozen with its whole host, if it was."""
        frozen = [f.since for f in self.freezes if f.host and run.pid in f.pids and run.first <= f.until]
        return min(frozen, default=None)


class Violation(NamedTuple):
    checker: str
    what: str
    job: str | None = None
