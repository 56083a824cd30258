"""All that the checkers judge, as plain values: what clients did, what jobs did, what the database says in the end."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Final, NamedTuple

from faults.effects import Run

from .history import Call
from .part import Freeze
from .trail import Lease, Move, Step, by_job, leases, moves

PHASE: Final = "phase"
CALM, FIRE, QUIET, WELL = "calm", "fire", "quiet", "well"
"""Before the first fault; while they strike; when the last is over; and when nothing is wrong any more."""
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
    stored: bool = True
    """Whether there is a result, here or in object storage."""


class AttemptRow(NamedTuple):
    """An attempt that ended without ending its job."""

    job: str
    attempt: int
    ending: str


class ScheduleRow(NamedTuple):
    name: str
    first_at: datetime | None
    """Its first tick; none if it never had one."""
    cursor_at: datetime
    """Up to here every tick has been dealt with."""
    every: float
    made_at: datetime
    overlap: str = "allow"


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


class ActionRow(NamedTuple):
    """A bulk action, as it stands in the end."""

    state: str
    finished_at: datetime | None


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
    of_ticks: frozenset[str] = frozenset()
    """The ids of all jobs that the schedules' ticks make, also of those that were taken back."""
    actions: dict[str, ActionRow] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    """Idempotency key → job."""
    workers: list[WorkerRow] = field(default_factory=list)
    slots: int = 0
    """Slots of limits that are still taken."""
    freezes: list[Freeze] = field(default_factory=list)
    limits: Mapping[str, int] = field(default_factory=dict)
    """How many jobs of a task may run at once."""
    lease_seconds: float = 6.0
    repeated: Counter[str] = field(default_factory=Counter)
    """How often the network sent again what was asked for: without an idempotency key each time makes a job."""
    astray: list[tuple[float, float]] = field(default_factory=list)
    """When the database's clock was set, or what it showed then was still in force: its times of then tell nothing."""
    ahead: float | None = None
    """Seconds by which the database's clock is ahead of the one that nobody sets."""
    well_at: datetime | None = None
    """When all was well again, by the database's clock: schedules were still to tick then."""
    cursors: dict[str, datetime] = field(default_factory=dict)
    """How far each schedule had come some seconds later, just before it was stopped."""
    tracebacks: list[str] = field(default_factory=list)
    """What servers wrote about errors that nobody foresaw, while nothing was wrong with the world."""
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
    def phases(self) -> list[tuple[float, str]]:
        return sorted((call.invoked_at, call.asked["phase"]) for call in self.calls if call.name == PHASE)

    def phase(self, at: float) -> str | None:
        """What the campaign was doing at that instant."""
        return next((name for since, name in reversed(self.phases) if since <= at), None)

    @cached_property
    def leases_of(self) -> dict[str, list[Lease]]:
        found: dict[str, list[Lease]] = defaultdict(list)
        for lease in self.leases:
            found[lease.job].append(lease)
        return found

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

    def frozen(self, run: Run) -> list[Freeze]:
        """When a run was frozen with its whole host, so that nobody there could end it."""
        return [
            f for f in self.freezes if f.host and run.pid in f.pids and f.since <= run.last and run.first <= f.until
        ]

    def instant(self, at: datetime | None) -> float | None:
        """A time of the database by the clock that nobody sets; None if that cannot be told."""
        if at is None or self.ahead is None:
            return None
        instant = at.timestamp() - self.ahead
        return None if self.strayed(instant, instant) else instant

    def trusted(self, at: datetime | None) -> bool:
        """Whether the database's clock was right then, as far as is known."""
        return not self.astray or self.instant(at) is not None

    def strayed(self, since: float, until: float) -> bool:
        return any(since <= last and first <= until for first, last in self.astray)


class Violation(NamedTuple):
    checker: str
    what: str
    job: str | None = None
