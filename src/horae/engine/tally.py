"""Tally: what happened on this server, counted by lane in memory and added to the database each second.

The hot path counts a batch at a time, a few additions a lane, and nothing is looked up: lanes become tenants, tasks and
queues when the counts are written. A server that dies takes the last second's counts with it; rates forget that by
themselves, and depths are corrected by the recount.
"""

import random
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from typing import Final, NamedTuple, Protocol

import asyncpg

from horae.engine.record import FAULTS
from horae.model.durations import LONGEST
from horae.model.states import End, State

LONGEST_RUN: Final = LONGEST.total_seconds()


MAX_CHANGED: Final = 100
"""Jobs that are named a second, of those something happened to."""
MAX_STARTS: Final = 50
"""Starts that are looked at a second, to know how late jobs start."""


class Laned(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def lane_id(self) -> int: ...


class Run(Protocol):
    """The end of an attempt: whose, its lane, how it ended, and how long it ran."""

    id: str
    lane: int
    end: End
    took: float


class Runs:
    """The ends of some attempts in one lane: how many, and of those whose time is known, how long they ran."""

    __slots__ = ("bad_seconds", "ends", "faults", "returned", "runs", "seconds", "squares")

    def __init__(self) -> None:
        self.ends = self.runs = 0
        self.seconds = self.squares = 0.0
        self.faults = 0
        """Of the ends, those for which the task or its worker is to blame."""
        self.returned = 0
        """Those that are neither that nor a success."""
        self.bad_seconds = 0.0
        """Of the seconds, those of both."""

    @property
    def good(self) -> int:
        return self.ends - self.faults - self.returned

    def spoil(self, end: End, seconds: float) -> None:
        """One of them was no success."""
        if end in FAULTS:
            self.faults += 1
        else:
            self.returned += 1
        self.bad_seconds += seconds


def sums_of(runs: Iterable[Run]) -> dict[int, Runs]:
    sums: dict[int, Runs] = {}
    for run in runs:
        lane = sums.get(run.lane)
        if lane is None:
            lane = sums[run.lane] = Runs()
        lane.ends += 1
        took = run.took
        if 0.0 < took <= LONGEST_RUN:
            lane.runs += 1
            lane.seconds += took
            lane.squares += took * took
        else:
            took = 0.0
        if run.end is not End.SUCCEEDED:
            lane.spoil(run.end, took)
    return sums


class Counts:
    """What happened in one lane since the last time it was written down."""

    __slots__ = (
        "cancelled", "failed", "other", "removed", "restored", "retried", "returned", "run_seconds",
        "run_squares", "runs", "started", "submitted", "succeeded", "wait_seconds", "waits",
    )  # fmt: skip

    def __init__(self) -> None:
        self.submitted = self.started = self.succeeded = self.failed = self.cancelled = self.other = 0
        self.retried = self.runs = self.waits = 0
        self.run_seconds = self.run_squares = self.wait_seconds = 0.0
        self.returned = 0
        """Attempts that ended while their job goes on waiting: retried, undelivered or lost ones."""
        self.removed = 0
        """Jobs that ended while they waited; they are among the ends as well."""
        self.restored = 0
        """Jobs that had ended and wait again."""

    @property
    def pending(self) -> int:
        """By how much the number of waiting jobs changed."""
        return self.submitted + self.restored + self.returned - self.started - self.removed

    @property
    def running(self) -> int:
        ends = self.succeeded + self.failed + self.cancelled + self.other - self.removed
        return self.started - ends - self.returned

    def note(self, runs: Runs) -> None:
        self.runs += runs.runs
        self.run_seconds += runs.seconds
        self.run_squares += runs.squares

    def add(self, other: "Counts") -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Start(NamedTuple):
    """A job that started, standing for all that were claimed with it."""

    lane_id: int
    id: str
    at: float
    """By the monotonic clock."""
    jobs: int


class Tally:
    def __init__(self) -> None:
        self._lanes: dict[int, Counts] = {}
        self._changed: dict[str, int] = {}
        self._starts: list[Start] = []

    def submitted(self, jobs: Sequence[Laned]) -> None:
        """These jobs were stored."""
        if len(self._changed) < MAX_CHANGED:
            self._changed.update((job.id, job.lane_id) for job in islice(jobs, MAX_CHANGED))
        for lane_id, count in Counter(map(_lane_id, jobs)).items():
            self._of(lane_id).submitted += count

    def submitted_in(self, lane_id: int, ids: Sequence[str]) -> None:
        """The same of jobs in one lane."""
        if len(self._changed) < MAX_CHANGED:
            self._changed.update(dict.fromkeys(islice(ids, MAX_CHANGED), lane_id))
        self._of(lane_id).submitted += len(ids)

    def started(self, lane_id: int, count: int = 1) -> None:
        """Jobs went from waiting to a worker."""
        self._of(lane_id).started += count

    def waited(self, lane_id: int, seconds: float, jobs: int) -> None:
        """A job that was looked at started so long after its time, and stands for so many."""
        counts = self._of(lane_id)
        counts.waits += jobs
        counts.wait_seconds += seconds * jobs

    def claimed(self, rows: Sequence[asyncpg.Record]) -> None:
        """The rows of one claim. One of them, by chance, tells how late they start; a retry would tell nothing."""
        if len(self._changed) < MAX_CHANGED:
            self._changed.update((row["id"], row["lane_id"]) for row in islice(rows, MAX_CHANGED))
        if rows and len(self._starts) < MAX_STARTS:
            row = rows[random.randrange(len(rows))]
            if row["attempt"] == 1:
                self._starts.append(Start(row["lane_id"], row["id"], time.monotonic(), len(rows)))

    def ended(self, runs: Sequence[Run], sums: Mapping[int, Runs], state: State) -> None:
        """Attempts ended, and their jobs with them."""
        if len(self._changed) < MAX_CHANGED:
            self._changed.update((run.id, run.lane) for run in islice(runs, MAX_CHANGED))
        for lane_id, more in sums.items():
            counts = self._of(lane_id)
            counts.note(more)
            self._end(counts, state, more.ends)

    def returned(self, runs: Iterable[Run], *, failed: bool) -> dict[int, Runs]:
        """Attempts ended and their jobs wait again: because they `failed`, or at no cost to them."""
        sums = sums_of(runs)
        for lane_id, more in sums.items():
            counts = self._of(lane_id)
            counts.note(more)
            counts.returned += more.ends
            counts.retried += more.ends if failed else 0
        return sums

    def lost(self, lane_id: int, state: State) -> None:
        """A worker went away with a job, which is now `state`: ended, or waiting again."""
        if state.ended:
            self._end(self._of(lane_id), state, 1)
        else:
            self._of(lane_id).returned += 1

    def removed(self, lane_id: int, state: State, count: int = 1) -> None:
        """Waiting jobs ended: cancelled, expired or dropped."""
        counts = self._of(lane_id)
        counts.removed += count
        self._end(counts, state, count)

    def restored(self, lane_id: int, count: int = 1) -> None:
        """Jobs that had ended wait again."""
        self._of(lane_id).restored += count

    def moved(self, old_lane_id: int, lane_id: int) -> None:
        """A waiting job changed its lane."""
        self._of(old_lane_id).restored -= 1
        self._of(lane_id).restored += 1

    def take(self) -> Mapping[int, Counts]:
        """All counts; from now on they are the caller's to write down, or to give back."""
        taken, self._lanes = self._lanes, {}
        return taken

    def take_changed(self) -> Mapping[str, int]:
        """Some of the jobs that something happened to, with their lanes."""
        taken, self._changed = self._changed, {}
        return taken

    def take_starts(self) -> Sequence[Start]:
        taken, self._starts = self._starts, []
        return taken

    def give_back(self, counts: Mapping[int, Counts]) -> None:
        for lane_id, more in counts.items():
            self._of(lane_id).add(more)

    def _of(self, lane_id: int) -> Counts:
        counts = self._lanes.get(lane_id)
        if counts is None:
            counts = self._lanes[lane_id] = Counts()
        return counts

    @staticmethod
    def _end(counts: Counts, state: State, count: int) -> None:
        name = state.value if state in _NAMED else "other"
        setattr(counts, name, getattr(counts, name) + count)


_NAMED: Final = frozenset({State.SUCCEEDED, State.FAILED, State.CANCELLED})
_lane_id = attrgetter("lane_id")
