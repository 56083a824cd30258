"""Which job goes to which child, and which goes back to the server unstarted.

Nothing here costs a task, a future or a system call per job: jobs move in batches between a queue, a child's dict and
the list of completions (see `results`).
"""

from collections import deque
from collections.abc import Callable
from typing import Final

from horae.model.work import Finished, Grant, Progress
from horae.worker.clock import now
from horae.worker.config import AgentConfig
from horae.worker.crew import Crew
from horae.worker.ends import cancelled, undelivered
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
        finish: Callable[[list[Finished]], None],
        finish_logged: Callable[[Finished, JobLog], None],
    ) -> None:
        self._config = config
        self._finish = finish
        self._finish_logged = finish_logged
        self.crew = crew
        self.pace = Pace()
        self.async_tasks: frozenset[str] = frozenset()
        self.waiting: deque[Order] = deque()
        self.waiting_async: deque[Order] = deque()
        self.progress: dict[str, Progress] = {}
        """The latest of each job that the server has not been told of."""
        self.cancels: dict[str, str] = {}
        """Reasons, by id, of jobs that are to stop and have not yet."""
        self.draining = False

    def learn_tasks(self, infos: list[TaskInfo]) -> None:
        self.async_tasks = frozenset(info.definition.name for info in infos if info.is_async)

    @property
    def running(self) -> int:
        return sum(len(child.jobs) if child.concurrent else bool(child.jobs) for child in self.crew.children)

    @property
    def held(self) -> int:
        return len(self.waiting) + len(self.waiting_async) + sum(len(child.jobs) for child in self.crew.children)

    def holding(self) -> list[Child]:
        return [child for child in self.crew.children if child.jobs]

    # From the server to a child.

    def give(self, jobs: list[Grant]) -> None:
        received = now()
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
            room = self._config.async_slots - len(child.jobs)
            self._send(child, [self.waiting_async.popleft() for _ in range(min(room, len(self.waiting_async)))])
        elif self.waiting and len(child.jobs) <= LARGEST_BATCH // 2:
            # No child takes more than its share: the others may be free in a moment.
            most = min(LARGEST_BATCH, -(-len(self.waiting) // self._config.slots))
            batch, seconds = self.pace.cut(self.waiting, child.expected, most, empty=not child.jobs)
            child.expected += seconds
            self._send(child, batch)

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
        if self.cancels or self.progress:
            for outcome in outcomes:
                self._settle(outcome)
        self._finish(outcomes)

    def _settle(self, outcome: Finished) -> None:
        self.cancels.pop(outcome.id, None)
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
                self.report(cancelled(order, self.cancels[order.grant.id]))
            elif self.draining:
                self.report(undelivered(order))
            else:
                self._queue_of(order.grant).appendleft(order)

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
        for part in (self.waiting, self.waiting_async, self.progress, self.cancels):
            part.clear()
        for child in self.holding():
            child.discarded = True
