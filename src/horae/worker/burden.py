"""Heavy jobs, which take more than one slot or use up CPU, memory, GPU or disk, and what they leave for others.

Invariant: no job starts whose slots and resources do not fit beside what runs. One that does not fit yet waits at the
head of its queue and nothing behind it overtakes, so it cannot starve; between the queues the oldest heavy one goes
first. Light jobs cost nothing here as long as no heavy one is held.

A job can never wait for more than there is: what it takes is cut to what the worker has.
"""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from horae.model.matching import Free
from horae.model.work import Grant
from horae.worker.config import AgentConfig
from horae.worker.host import Resources
from horae.worker.messages import Order

_EPSILON: Final = 1e-9


class Station(Protocol):
    """Where jobs run: a child, or the place of an errand."""

    concurrent: bool
    jobs: dict[int, Order]


class Burden:
    def __init__(self, config: AgentConfig, has: Resources) -> None:
        self._slots = {False: config.slots, True: config.async_slots}
        self._has = has
        self.held: dict[str, Grant] = {}
        """The heavy jobs in this worker's hands, waiting or running, by id."""

    def note(self, jobs: Sequence[Grant]) -> None:
        for job in jobs:
            if is_heavy(job):
                self.held[job.id] = job

    def settle(self, job_id: str) -> bool:
        """A job is out of our hands. True when that makes room that others may wait for."""
        return self.held.pop(job_id, None) is not None

    def may_start(self, order: Order, child: Station, children: Sequence[Station], rivals: Sequence[Order]) -> bool:
        """Whether the job may go to this child now. `rivals` are the heads of the other queues."""
        grant = order.grant
        if child.jobs and not child.concurrent:
            # One that is busy with light jobs may get more of them: they run one after another.
            return not (is_heavy(grant) or self._is_burdened(child))
        limit = self._slots[child.concurrent]
        if self._slots_used(children, concurrent=child.concurrent) + min(grant.slots, limit) > limit:
            return False
        return not is_heavy(grant) or (self._is_turn(order, rivals) and self._is_enough(grant, children))

    def _is_turn(self, order: Order, rivals: Sequence[Order]) -> bool:
        return all(rival.grant.id not in self.held or order.received <= rival.received for rival in rivals)

    def _is_enough(self, grant: Grant, children: Sequence[Station]) -> bool:
        used = _total(self.running(children))
        return all(
            taken + min(needs, has) <= has + _EPSILON
            for taken, needs, has in zip(used, _needs(grant), self._has, strict=True)
        )

    def running(self, children: Sequence[Station]) -> list[Grant]:
        """The heavy jobs that a child has. A child that runs one job at a time has a heavy one alone."""
        return [
            order.grant
            for child in children
            if child.concurrent or len(child.jobs) == 1
            for order in child.jobs.values()
            if order.grant.id in self.held
        ]

    def _slots_used(self, children: Sequence[Station], *, concurrent: bool) -> int:
        if concurrent:
            return sum(order.grant.slots for child in children if child.concurrent for order in child.jobs.values())
        return sum(_widest(child) for child in children if child.jobs and not child.concurrent)

    def _is_burdened(self, child: Station) -> bool:
        return len(child.jobs) == 1 and next(iter(child.jobs.values())).grant.id in self.held

    def waits(self, children: Sequence[Station]) -> bool:
        """Whether a heavy job is held that has not started."""
        return len(self.held) > len(self.running(children))

    def extra_slots(self, is_concurrent: Callable[[Grant], bool], *, concurrent: bool) -> int:
        """Slots that heavy jobs take beyond one each."""
        return sum(job.slots - 1 for job in self.held.values() if is_concurrent(job) is concurrent)

    def free(self, slots: int) -> Free:
        """What is left beside all that is held, of which so many slots."""
        left = [max(0, has - taken) for has, taken in zip(self._has, _total(list(self.held.values())), strict=True)]
        return Free(slots=max(0, slots), cpu=left[0], memory=int(left[1]), gpu=left[2], disk=int(left[3]))


def is_heavy(grant: Grant) -> bool:
    return grant.slots > 1 or bool(grant.cpu or grant.memory or grant.gpu or grant.disk)


def _needs(grant: Grant) -> Resources:
    return Resources(grant.cpu, grant.memory, grant.gpu, grant.disk)


def _total(grants: Sequence[Grant]) -> Resources:
    needs = [_needs(grant) for grant in grants]
    return Resources(*(sum(one) for one in zip(*needs, strict=True))) if needs else Resources(0, 0, 0, 0)


def _widest(child: Station) -> int:
    """A child runs one job at a time, however many it was given."""
    return max(order.grant.slots for order in child.jobs.values()) if len(child.jobs) == 1 else 1
