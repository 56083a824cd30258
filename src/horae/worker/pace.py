"""How long jobs take, learned as they end, and what follows from it: batch sizes and how much to hold.

A child gets as many jobs as should take BATCH_SECONDS together, so that tiny jobs travel by the hundred and nothing
waits long behind another. What has never been seen travels alone.
"""

from collections import deque
from typing import Final

from horae.worker.messages import Order

BATCH_SECONDS: Final = 0.05
LARGEST_BATCH: Final = 1000
MOST_HELD: Final = 8000
_MEMORY: Final = 0.8
"""How much of the old estimate stays after one more job."""
_MOST_WEIGHT: Final = 20
_LONG_MEMORY: Final = 0.995
"""The same for jobs of any task: one long job among many short ones is not forgotten at once."""
_MOST_LONG_WEIGHT: Final = 1000


class Pace:
    def __init__(self) -> None:
        self._tasks: dict[str, float] = {}
        self.mean: float | None = None
        """Seconds of a job of any task; None before the first one ended."""

    def learn(self, task: str, jobs: int, seconds: float) -> None:
        mean = seconds / jobs
        keep: float = _MEMORY ** min(jobs, _MOST_WEIGHT)
        self._tasks[task] = keep * self._tasks.get(task, mean) + (1 - keep) * mean
        keep = _LONG_MEMORY ** min(jobs, _MOST_LONG_WEIGHT)
        self.mean = keep * (mean if self.mean is None else self.mean) + (1 - keep) * mean

    def cut(self, waiting: deque[Order], spent: float, most: int, *, empty: bool) -> tuple[list[Order], float]:
        """Takes a batch off the queue's front for a child that already holds `spent` seconds of work.

        An empty child gets at least one job. Returns the batch and the seconds it should take.
        """
        batch: list[Order] = []
        seconds = 0.0
        tasks = self._tasks
        while waiting and len(batch) < most:
            expected = tasks.get(waiting[0].grant.task, BATCH_SECONDS)
            if spent + seconds + expected > BATCH_SECONDS and (batch or not empty):
                break
            batch.append(waiting.popleft())
            seconds += expected
        return batch, seconds

    def fitting(self, waiting: deque[Order], seconds: float, *, unknown: float) -> int:
        """How many from the queue's front take no longer than that together. When that is not all of them, `mean` was
        wrong, and is what these jobs take instead."""
        tasks = self._tasks
        spent, count = 0.0, len(waiting)
        for at, order in enumerate(waiting):
            spent += tasks.get(order.grant.task, unknown)
            if spent > seconds and count == len(waiting):
                count = at
        if count < len(waiting):
            self.mean = spent / len(waiting)
        return count

    def target(self, free: int, blocked: int, prefetch: float) -> int:
        """How many jobs to hold, running ones included, with that many children free for new ones and blocked."""
        ahead = 1.0 if self.mean is None else max(1.0, prefetch / max(self.mean, 1e-6))
        return min(blocked + int(free * ahead), max(MOST_HELD, free + blocked))
