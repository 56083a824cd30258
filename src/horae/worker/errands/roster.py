"""The errands in the worker's hands: those that wait for their turn, and those that run.

Scripts and containers share the slots of functions that run in processes; HTTP calls only wait for answers, so they
share those of coroutines. A running errand is a *place* to `burden`, as a child is, so one sum counts both.
"""

from collections import deque
from typing import Final

from horae.model.kinds import Kind
from horae.model.work import Grant
from horae.worker.clock import now
from horae.worker.messages import Order

_IN_THE_WAY: Final = 0.1


class Place:
    """Where one errand runs."""

    def __init__(self, order: Order, *, concurrent: bool) -> None:
        self.order = order
        self.concurrent = concurrent
        self.jobs: dict[int, Order] = {}
        """Its order, once it is taken."""
        self.taken_at = 0.0

    @property
    def slow(self) -> bool:
        """It takes so long that its slot is no prospect for what waits."""
        return now() - self.taken_at > _IN_THE_WAY

    def take(self) -> "Place":
        self.jobs[0] = self.order
        self.taken_at = now()
        return self


class Roster:
    def __init__(self) -> None:
        self.kinds: frozenset[str] = frozenset()
        """What this worker offers beside functions."""
        self.waiting: deque[Order] = deque()
        self.waiting_async: deque[Order] = deque()
        self.places: list[Place] = []

    @property
    def held(self) -> int:
        return len(self.waiting) + len(self.waiting_async) + len(self.places)

    def offers(self, *, concurrent: bool) -> bool:
        return any(is_concurrent(kind) is concurrent for kind in self.kinds)

    def queue(self, *, concurrent: bool) -> deque[Order]:
        return self.waiting_async if concurrent else self.waiting

    def queue_of(self, job: Grant) -> deque[Order]:
        return self.queue(concurrent=is_concurrent(job.kind))

    def running(self, *, concurrent: bool) -> list[Place]:
        return [place for place in self.places if place.concurrent is concurrent]

    def count(self, *, concurrent: bool) -> int:
        """Waiting or running in slots of this sort."""
        return len(self.queue(concurrent=concurrent)) + len(self.running(concurrent=concurrent))


def is_concurrent(kind: str) -> bool:
    return kind == Kind.HTTP
