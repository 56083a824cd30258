"""Queueing: when a job will start, from what runs, what waits before it, and how long such jobs take.

A small simulation of what dispatch does: whenever a slot becomes free, the tenant that has used least for its weight
starts its next job. Every job takes what is expected of its kind. Who comes later is not foreseen.
"""

import heapq
import math
from collections.abc import Sequence
from typing import Final, NamedTuple

STEPS: Final = 2000
ROUNDS: Final = 4
"""Of very many jobs some are taken at a time, so that there are about so many steps, or rounds of all slots."""


class Line(NamedTuple):
    """The jobs of one tenant that wait."""

    jobs: int
    seconds: float
    """What one of them takes."""
    weight: float = 1.0


def starts_in(free_in: Sequence[float], own: Line, others: Sequence[Line]) -> float:
    """Seconds until the job behind `own` starts. `free_in` has an entry a slot: when it becomes free."""
    if not free_in:
        return math.inf
    waiting = own.jobs + sum(line.jobs for line in others)
    factor = max(1, math.ceil(waiting / max(STEPS, ROUNDS * len(free_in))))
    lines = [_coarse(line, factor) for line in (own, *others)]
    left = [line.jobs for line in lines]
    used = [0.0] * len(lines)
    slots = list(free_in)
    heapq.heapify(slots)
    while True:
        at = heapq.heappop(slots)
        # Ours is always among them: behind its own line comes the job itself.
        first = min((n for n in range(len(lines)) if left[n] > 0 or n == 0), key=lambda n: used[n])
        if left[first] == 0:
            return at
        left[first] -= 1
        used[first] += lines[first].seconds / lines[first].weight
        heapq.heappush(slots, at + lines[first].seconds)


def _coarse(line: Line, factor: int) -> Line:
    """Some jobs at a time, as one that takes as long as all of them."""
    return line._replace(jobs=math.ceil(line.jobs / factor), seconds=line.seconds * factor)


def remaining(elapsed: float, expected: float | None, spread: float | None) -> float:
    """How long a job that runs will go on. Of one that nobody knows, as long again as it has run."""
    if expected is None:
        return elapsed
    return expected - elapsed if elapsed < expected else max(spread or 0.0, expected / 10)
