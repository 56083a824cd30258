"""Which job goes to which child, which errand starts, and which job goes back to the server unstarted.

Invariant: busy children and running errands together take no more than the worker's slots. Where functions and errands
wait for the same slots, the one that came first goes first.

Nothing here costs a task, a future or a system call per job: jobs move in batches between a queue, a child's dict and
the list of completions (see `results`).
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from horae.model.matching import Free
from horae.model.states import End
from horae.model.work import Finished, Grant, Progress
from horae.worker.burden import Burden, Station
from horae.worker.clock import now
from horae.worker.config import AgentConfig
from horae.worker.crew import Crew
from horae.worker.ends import cancelled, moved, undelivered
from horae.worker.errands.roster import Place, Roster, is_concurrent
from horae.worker.logs import JobLog
from horae.worker.messages import Order, Revoke, Run, TaskInfo
from horae.worker.pace import LARGEST_BATCH, Pace
from horae.worker.process import Child

_PATIENCE: Final = 3.0
"""A job that waited this many prefetch times without starting goes back: its estimate was wrong."""

_STEP: Final = 1e-7
"""Seconds between jobs of one answer, so that across the queues they keep the order in which they came."""


class Dispatch:
    def __init__(
        self,
        config: AgentConfig,
        crew: Crew,
        burden: Burden,
        finish: Callable[[list[Finished]], None],
        finish_logged: Callable[[Finished, JobLog], None],
        begin: Callable[[Place], None],
    ) -> None:
        self._config = config
        self._finish = finish
        self._finish_logged = finish_logged
        self._begin = begin
        self.crew = crew
        self.roster = Roster()
        self.burden = burden
        self.pace = Pace()
        self.async_tasks: frozenset[str] = frozenset()
        self._sorts = {False}
        """Whether slots for processes (False) and those for coroutines and the like (True) are of use."""
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

    def learn(self, infos: list[TaskInfo], kinds: Iterable[str]) -> dict[bool, int]:
        """What the worker runs. Returns how many slots it has for that, by sort."""
        self.async_tasks = frozenset(info.definition.name for info in infos if info.is_async)
        self.roster.kinds = frozenset(kinds)
        self._sorts = {info.is_async for info in infos} | {is_concurrent(kind) for kind in kinds}
        return {sort: self._config.async_slots if sort else self._config.slots for sort in self._sorts}

    def is_concurrent(self, job: Grant) -> bool:
        return is_concurrent(job.kind) if job.kind else job.task in self.async_tasks

    def count_concurrent(self, jobs: list[Grant]) -> int:
        return sum(map(self.is_concurrent, jobs)) if True in self._sorts else 0

    @property
    def stations(self) -> Sequence[Station]:
        return [*self.crew.children, *self.roster.places]

    @property
    def running(self) -> int:
        functions = sum(len(child.jobs) if child.concurrent else bool(child.jobs) for child in self.crew.children)
        return functions + len(self.roster.places)

    @property
    def held(self) -> int:
        functions = len(self.waiting) + len(self.waiting_async) + sum(len(child.jobs) for child in self.crew.children)
        return functions + self.roster.held

    def holding(self) -> list[Child]:
        return [child for child in self.crew.children if child.jobs]

    def free(self) -> Free | None:
        """What is left for heavy jobs beside all that is held; None when nothing is held."""
        if not self.held:
            return None
        # The server does not know which tasks are coroutines: what it is told must hold for either sort.
        return self.burden.free(min(self._slots_left(concurrent=sort) for sort in self._sorts))

    def _slots_left(self, *, concurrent: bool) -> int:
        slots = self._config.async_slots if concurrent else self._config.slots
        queue = self.waiting_async if concurrent else self.waiting
        held = len(queue) + sum(len(child.jobs) for child in self.crew.children if child.concurrent is concurrent)
        held += self.roster.count(concurrent=concurrent)
        return slots - held - self.burden.extra_slots(self.is_concurrent, concurrent=concurrent)

    # From the server to a child.

    def give(self, jobs: list[Grant]) -> None:
        received = now()
        self.burden.note(jobs)
        if not self.async_tasks and not self.roster.kinds:
            self.waiting.extend([Order(0, received, job) for job in jobs])
        else:
            for place, job in enumerate(jobs):
                self._queue_of(job).append(Order(0, received + place * _STEP, job))
        if self.draining:
            self.hand_back()
        self.feed_all()
        self._hand_back_surplus()

    def _hand_back_surplus(self) -> None:
        """What will not start within the prefetch time may start elsewhere now.

        We asked for it because the jobs before it were shorter; until one of these has ended we ask for no more.
        """
        prefetch = self._config.prefetch_seconds
        for queue in (self.waiting, self.roster.waiting):
            fitting = self.pace.fitting(queue, self._config.slots * prefetch, unknown=prefetch)
            while len(queue) > fitting:
                self.report(undelivered(queue.pop()))

    def _queue_of(self, job: Grant) -> deque[Order]:
        if job.kind:
            return self.roster.queue_of(job)
        return self.waiting_async if job.task in self.async_tasks else self.waiting

    @property
    def queues(self) -> tuple[deque[Order], ...]:
        return self.waiting, self.waiting_async, self.roster.waiting, self.roster.waiting_async

    def feed_all(self) -> None:
        for child in sorted(self.crew.children, key=lambda child: len(child.jobs)):
            self.feed(child)
        for concurrent in (False, True):
            self._begin_errands(self.roster.queue(concurrent=concurrent), concurrent=concurrent)

    def _begin_errands(self, queue: deque[Order], *, concurrent: bool) -> None:
        while queue and self._may_start(queue[0], place := Place(queue[0], concurrent=concurrent)):
            queue.popleft()
            self.roster.places.append(place.take())
            self._begin(place)

    def errand_ended(self, place: Place) -> None:
        """The place is free. To be called before the end is reported."""
        self.roster.places.remove(place)

    def feed(self, child: Child) -> None:
        if not child.usable or child.slow:
            return
        if child.concurrent:
            if self.burden.held or self.roster.held:
                self._feed_measured(child)
                return
            room = self._config.async_slots - len(child.jobs)
            self._send(child, [self.waiting_async.popleft() for _ in range(min(room, len(self.waiting_async)))])
        elif self.waiting and len(child.jobs) <= LARGEST_BATCH // 2 and self._may_start(self.waiting[0], child):
            # No child takes more than its share: the others may be free in a moment.
            most = min(LARGEST_BATCH, -(-len(self.waiting) // self._config.slots))
            if self.burden.held and self.burden.waits(self.stations):
                most = 1
            batch, seconds = self.pace.cut(self.waiting, child.expected, most, empty=not child.jobs)
            child.expected += seconds
            self._send(child, batch)

    def _feed_measured(self, child: Child) -> None:
        while self.waiting_async and self._may_start(self.waiting_async[0], child):
            self._send(child, [self.waiting_async.popleft()])

    def _may_start(self, order: Order, station: Station) -> bool:
        """Whether the head of a queue fits beside what runs, and nothing older waits for the same slots."""
        if not self.burden.held and not self.roster.held:
            return True
        rivals = [queue[0] for queue in self.queues if queue and queue[0] is not order]
        for rival in rivals:
            if rival.received < order.received and self.is_concurrent(rival.grant) is station.concurrent:
                return False
        return self.burden.may_start(order, station, self.stations, rivals)

    def feed_after(self, child: Child) -> None:
        """The child has ended jobs: it may have more; and when a heavy job is gone, so may the others."""
        if self._eased or self.burden.held or self.roster.held:
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

    def reason_to_stop(self, grant: Grant, started: float | None) -> tuple[End, str] | None:
        """Why a job that runs, since then if it has started, is to stop now."""
        if grant.id in self.cancels:
            move = grant.id in self.moves
            text = self.cancels[grant.id] or f"the job was {'moved' if move else 'cancelled'}"
            return (End.MOVED if move else End.CANCELLED), text
        if started is not None and grant.timeout is not None and now() - started > grant.timeout:
            return End.TIMEOUT, f"it ran longer than its timeout of {grant.timeout:g} s"
        return None

    def hand_back(self) -> None:
        """Everything that has not started goes back to the server."""
        for queue in self.queues:
            while queue:
                self.report(undelivered(queue.popleft()))
        for child in self.crew.children:
            self.revoke(child)

    def hand_back_overdue(self) -> None:
        """What was expected to start long ago may start elsewhere: we were wrong about the jobs before it."""
        latest = now() - _PATIENCE * max(self._config.prefetch_seconds, 1.0)
        for queue in self.queues:
            while queue and queue[0].received < latest:
                self.report(undelivered(queue.popleft()))

    def forget(self) -> None:
        """Nothing of it is ours any more. Children that hold jobs, and errands, must be ended by the caller."""
        for queue in self.queues:
            queue.clear()
        for part in (self.progress, self.cancels, self.moves, self.burden.held):
            part.clear()
        for child in self.holding():
            child.discarded = True
