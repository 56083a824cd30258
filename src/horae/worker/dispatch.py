"""Which job goes to which child, and which goes back to the server unstarted.

Nothing here costs a task, a future or a system call per job: jobs move in batches between a queue, a child's dict and
the list of completions (see `results`).
"""

from collections import deque
from collections.abc import Callable
from typing import Final

from horae.model.matching import Free
from horae.model.work import Finished, Grant, Progress
from horae.worker.burden import Burden
from horae.worker.clock import now
from horae.worker.config import AgentConfig
from horae.worker.crew import Crew
from horae.worker.ends import cancelled, moved, undelivered
from horae.worker.logs import JobLog
from horae.worker.messages import Order, Revoke, Run, TaskInfo
from horae.worker.pace import LARGEST_BATCH, Pace
from horae.worker.process import Child

_PATIENCE: Final = 3.0
"""A job that waited this many prefetch times without starting goes back: its estimate was wrong."""


class Dispatch:
    def __init__(
        self,
        config: AgentConfig,
        crew: Crew,
        burden: Burden,
        finish: Callable[[list[Finished]], None],
        finish_logged: Callable[[Finished, JobLog], None],
    ) -> None:
        self._config = config
        self._finish = finish
        self._finish_logged = finish_logged
        self.crew = crew
        self.burden = burden
        self.pace = Pace()
        self.async_tasks: frozenset[str] = frozenset()
        self._kinds = {False}
        """Whether there are tasks that are functions (False) and coroutines (True)."""
        self.waiting: deque[Order] = deque()
        self.waiting_async: deque[Order] = deque()
        self.progress: dict[str, Progress] = {}
        """The latest of each job that the server has not been told of."""
        self.cancels: dict[str, str] = {}
        """Reasons, by id, of jobs that are to stop and have not yet."""
        self.moves: set[str] = set()
        """Those of them that are to go on elsewhere."""
        self.draining = False
        self._eased = False
        """A heavy job has ended since the last time all children were fed."""

    def learn_tasks(self, infos: list[TaskInfo]) -> None:
        self.async_tasks = frozenset(info.definition.name for info in infos if info.is_async)
        self._kinds = {info.is_async for info in infos}

    @property
    def running(self) -> int:
        return sum(len(child.jobs) if child.concurrent else bool(child.jobs) for child in self.crew.children)

    @property
    def held(self) -> int:
        return len(self.waiting) + len(self.waiting_async) + sum(len(child.jobs) for child in self.crew.children)

    def holding(self) -> list[Child]:
        return [child for child in self.crew.children if child.jobs]

    def free(self) -> Free | None:
        """What is left for heavy jobs beside all that is held; None when nothing is held."""
        if not self.held:
            return None
        # The server does not know which tasks are coroutines: what it is told must hold for either kind.
        return self.burden.free(min(self._slots_left(concurrent=kind) for kind in self._kinds))

    def _slots_left(self, *, concurrent: bool) -> int:
        slots = self._config.async_slots if concurrent else self._config.slots
        queue = self.waiting_async if concurrent else self.waiting
        held = len(queue) + sum(len(child.jobs) for child in self.crew.children if child.concurrent is concurrent)
        return slots - held - self.burden.extra_slots(self.async_tasks, concurrent=concurrent)

    # From the server to a child.

    def give(self, jobs: list[Grant]) -> None:
        received = now()
        self.burden.note(jobs)
        if not self.async_tasks:
            self.waiting.extend([Order(0, received, job) for job in jobs])
        else:
            for job in jobs:
                self._queue_of(job).append(Order(0, received, job))
        if self.draining:
            self.hand_back()
        self.feed_all()
        self._hand_back_surplus()

    def _hand_back_surplus(self) -> None:
        """What will not start within the prefetch time may start elsewhere now.

        We asked for it because the jobs before it were shorter; until one of these has ended we ask for no more.
        """
        prefetch = self._config.prefetch_seconds
        fitting = self.pace.fitting(self.waiting, self._config.slots * prefetch, unknown=prefetch)
        while len(self.waiting) > fitting:
            self.report(undelivered(self.waiting.pop()))

    def _queue_of(self, job: Grant) -> deque[Order]:
        return self.waiting_async if job.task in self.async_tasks else self.waiting

    def feed_all(self) -> None:
        for child in sorted(self.crew.children, key=lambda child: len(child.jobs)):
            self.feed(child)

    def feed(self, child: Child) -> None:
        if not child.usable or child.slow:
            return
        if child.concurrent:
            if self.burden.held:
                self._feed_measured(child)
                return
            room = self._config.async_slots - len(child.jobs)
            self._send(child, [self.waiting_async.popleft() for _ in range(min(room, len(self.waiting_async)))])
        elif self.waiting and len(child.jobs) <= LARGEST_BATCH // 2 and self._may_start(child):
            # No child takes more than its share: the others may be free in a moment.
            most = min(LARGEST_BATCH, -(-len(self.waiting) // self._config.slots))
            if self.burden.held and self.burden.waits(self.crew.children):
                most = 1
            batch, seconds = self.pace.cut(self.waiting, child.expected, most, empty=not child.jobs)
            child.expected += seconds
            self._send(child, batch)

    def _feed_measured(self, child: Child) -> None:
        while self.waiting_async and self._may_start(child):
            self._send(child, [self.waiting_async.popleft()])

    def _may_start(self, child: Child) -> bool:
        """Whether the head of the child's queue fits beside what runs."""
        if not self.burden.held:
            return True
        own, other = (self.waiting_async, self.waiting) if child.concurrent else (self.waiting, self.waiting_async)
        return self.burden.may_start(own[0], child, self.crew.children, other[0] if other else None)

    def feed_after(self, child: Child) -> None:
        """The child has ended jobs: it may have more; and when a heavy job is gone, so may the others."""
        if self._eased or self.burden.held:
            self._eased = False
            self.feed_all()
        else:
            self.feed(child)

    def _send(self, child: Child, batch: list[Order]) -> None:
        if not batch:
            return
        seq, sent = child.jobs_sent, now()
        for order in batch:
            seq += 1
            order.seq, order.sent = seq, sent
            child.jobs[seq] = order
        child.jobs_sent = seq
        child.send(Run(batch))

    # Back to the server.

    def report(self, outcome: Finished, job_log: JobLog | None = None) -> None:
        self._settle(outcome)
        if job_log is None:
            self._finish([outcome])
        else:
            self._finish_logged(outcome, job_log)

    def report_all(self, outcomes: list[Finished]) -> None:
        if self.cancels or self.progress or self.burden.held:
            for outcome in outcomes:
                self._settle(outcome)
        self._finish(outcomes)

    def _settle(self, outcome: Finished) -> None:
        self.cancels.pop(outcome.id, None)
        self.moves.discard(outcome.id)
        self._eased = self.burden.settle(outcome.id) or self._eased
        # What no heartbeat has told yet goes with the end.
        outcome.progress = self.progress.pop(outcome.id, None)

    def revoke(self, child: Child) -> None:
        """Asks for what the child has not started; `take_back` follows with the answer."""
        if len(child.jobs) > 1 and not child.revoking and not child.concurrent:
            child.revoking = True
            child.send(Revoke())

    def take_back(self, orders: list[Order]) -> None:
        """Orders that were given out and never started, to the front of the queue as they were."""
        for order in reversed(orders):
            if order.grant.id in self.cancels:
                self.report(self.called_off(order, self.cancels[order.grant.id]))
            elif self.draining:
                self.report(undelivered(order))
            else:
                self._queue_of(order.grant).appendleft(order)

    def called_off(self, order: Order, reason: str) -> Finished:
        """The end of a job that has not started and is to stop."""
        return moved(order, reason) if order.grant.id in self.moves else cancelled(order, reason)

    def hand_back(self) -> None:
        """Everything that has not started goes back to the server."""
        for queue in (self.waiting, self.waiting_async):
            while queue:
                self.report(undelivered(queue.popleft()))
        for child in self.crew.children:
            self.revoke(child)

    def hand_back_overdue(self) -> None:
        """What was expected to start long ago may start elsewhere: we were wrong about the jobs before it."""
        latest = now() - _PATIENCE * max(self._config.prefetch_seconds, 1.0)
        for queue in (self.waiting, self.waiting_async):
            while queue and queue[0].received < latest:
                self.report(undelivered(queue.popleft()))

    def forget(self) -> None:
        """Nothing of it is ours any more. The children that hold jobs must be ended by the caller."""
        for part in (self.waiting, self.waiting_async, self.progress, self.cancels, self.moves, self.burden.held):
            part.clear()
        for child in self.holding():
            child.discarded = True
