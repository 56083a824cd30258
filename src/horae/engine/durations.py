"""Durations: how long a task's jobs run, learnt from those that ran.

An exponentially weighted mean and variance for each tenant's task, over about the last `MEMORY` runs. What ends on this
server is learnt at once, what ended on others from the rollups some seconds later. The rollups hold our own ends as
well, so those count twice: this shifts weight to what is nearest, not the mean. All of it is a hint that may be lost.
"""

import math
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Final, NamedTuple

from horae.engine.tally import Runs
from horae.store.control import LaneKey

MEMORY: Final = 100
MAX_KNOWN: Final = 200_000


class Sums(NamedTuple):
    """Runs of one task: how many, their seconds, and the seconds' squares."""

    runs: int
    seconds: float
    squares: float


NONE: Final = Sums(0, 0.0, 0.0)


class Estimate:
    __slots__ = ("mean", "variance", "weight")

    def __init__(self) -> None:
        self.weight = 0.0
        """How many runs it stands for, up to `MEMORY`."""
        self.mean = 0.0
        self.variance = 0.0

    def learn(self, sums: Sums) -> None:
        """Takes in a batch as if it had come run by run, all of them alike weighted."""
        mean = sums.seconds / sums.runs
        variance = max(0.0, sums.squares / sums.runs - mean * mean)
        kept = min(self.weight, MEMORY) * (1 - 1 / MEMORY) ** sums.runs
        share = sums.runs / (kept + sums.runs)
        distance = mean - self.mean
        self.mean += share * distance
        self.variance = (1 - share) * self.variance + share * variance + share * (1 - share) * distance * distance
        self.weight = min(kept + sums.runs, MEMORY)


class Durations:
    def __init__(self) -> None:
        self._known: dict[tuple[int, str], Estimate] = {}

    def expected(self, tenant_id: int, task: str) -> float | None:
        """Seconds that a run of this task takes; None when none has been seen."""
        estimate = self._known.get((tenant_id, task))
        return None if estimate is None else estimate.mean

    def spread(self, tenant_id: int, task: str) -> float | None:
        """The standard deviation of the same."""
        estimate = self._known.get((tenant_id, task))
        return None if estimate is None else math.sqrt(estimate.variance)

    def expected_span(self, tenant_id: int, task: str) -> timedelta:
        """`expected` for arithmetic with instants: nothing while it is unknown."""
        return timedelta(seconds=self.expected(tenant_id, task) or 0.0)

    def learn(self, tenant_id: int, task: str, sums: Sums) -> None:
        if sums.runs <= 0:
            return
        key = (tenant_id, task)
        if key not in self._known:
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            self._known[key] = Estimate()
        self._known[key].learn(sums)

    def learn_lanes(self, ran: Mapping[int, Runs], lanes: Mapping[int, LaneKey]) -> None:
        """What the tally has just summed up. A task's lanes, which may be many, are learnt as one batch."""
        tasks: dict[tuple[int, str], Sums] = {}
        for lane_id, more in ran.items():
            key = lanes[lane_id]
            runs, seconds, squares = tasks.get((key.tenant_id, key.task), NONE)
            tasks[key.tenant_id, key.task] = Sums(runs + more.runs, seconds + more.seconds, squares + more.squares)
        for (tenant_id, task), sums in tasks.items():
            self.learn(tenant_id, task, sums)

    def learn_all(self, rows: Iterable[tuple[int, str, Sums]]) -> int:
        """What the rollups say; returns how many tasks that were."""
        count = 0
        for tenant_id, task, sums in rows:
            self.learn(tenant_id, task, sums)
            count += 1
        return count
