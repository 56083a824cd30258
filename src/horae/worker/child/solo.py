"""Runs jobs one after another in the main thread, where a signal can interrupt them."""

import os
import signal
import time
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any, Final

from horae.client.outcomes import Cancelled
from horae.client.task import Task
from horae.model.states import End
from horae.model.work import Finished
from horae.worker.board import CANCEL, CURRENT, LOOK_SECONDS, MOVING, STARTED
from horae.worker.child.desk import Desk
from horae.worker.child.output import Output
from horae.worker.child.runtime import MEASURED_SECONDS, JobRuntime, Meter, make_context
from horae.worker.child.surroundings import Surroundings
from horae.worker.child.verdict import failed, interrupted, no_such_task, succeeded
from horae.worker.clock import now_ns
from horae.worker.messages import Order

_FLUSH_NS: Final = 5_000_000
_FLUSH_JOBS: Final = 250
"""Whoever has told of so many gets new ones before the last of the old is through."""


class Solo:
    def __init__(self, tasks: dict[str, Task[Any, Any]], desk: Desk, output: Output) -> None:
        self._tasks = tasks
        self._desk = desk
        self._output = output
        self._cells = desk.board.cells
        self._orders: SimpleQueue[Order | None] = SimpleQueue()
        self._meter = Meter()
        self._flushed = self._unflushed = 0
        self._inside = 0
        """The job whose code may be interrupted."""
        self._struck = 0
        """The job that was."""
        self._forked = False
        self._surroundings = Surroundings(self._terminate)
        os.register_at_fork(after_in_child=self._in_copy)

    # Called by the desk's thread.

    def take(self, orders: list[Order]) -> None:
        for order in orders:
            self._orders.put(order)

    def give_back(self) -> list[int]:
        seqs: list[int] = []
        while True:
            try:
                order = self._orders.get_nowait()
            except Empty:
                return seqs
            if order is not None:
                seqs.append(order.seq)

    def cancel(self, seq: int, *, move: bool) -> None:
        """Not for us: the agent sets the board's flag and sends a signal."""

    def quit(self) -> None:
        self._orders.put(None)

    # The main thread.

    def run(self) -> None:
        self._desk.serve(self)
        while (order := self._next()) is not None:
            started = now_ns()
            while self._desk.board.lease_is_over(started):
                time.sleep(LOOK_SECONDS)
                started = now_ns()
            self._cells[STARTED] = started
            self._cells[CURRENT] = order.seq
            try:
                finished = self._attempt(order)
            except Cancelled:
                # The signal came while the task's own exception was being caught.
                self._inside = 0
                finished = interrupted(order.grant)
            self._ended(order, finished, started)

    def _next(self) -> Order | None:
        try:
            return self._orders.get_nowait()
        except Empty:
            self._cells[CURRENT] = 0
            self._flush(now_ns())
            order = self._orders.get()
            self._meter.reset()
            return order

    def _attempt(self, order: Order) -> Finished:
        grant = order.grant
        task = self._tasks.get(grant.task)
        if task is None:
            return no_such_task(grant)
        context = None
        if task.wants_context:
            context = make_context(grant, self._runtime(order.seq), time.monotonic())
        try:
            self._inside = order.seq
            result = task.invoke(bytes(grant.params), context)
            self._inside = 0
            finished = succeeded(grant, result, sunk=task.definition.sink is not None)
        except BaseException as error:  # noqa: BLE001 - whatever a task raises is its outcome, SystemExit too
            self._inside = 0
            finished = failed(grant, error)
        return finished if self._struck != order.seq else interrupted(grant)

    def _ended(self, order: Order, finished: Finished, started: int) -> None:
        if self._forked:
            self._output.flush()
            os._exit(finished.end is not End.SUCCEEDED)
        ended = now_ns()
        finished.waited = started / 1e9 - order.received
        finished.took = took = (ended - started) / 1e9
        if took >= MEASURED_SECONDS:
            self._meter.read(finished)
        self._surroundings.restore()
        self._output.job_ended(order.seq)
        self._desk.journal(order.seq, finished)
        self._unflushed += 1
        if ended - self._flushed > _FLUSH_NS or self._unflushed >= _FLUSH_JOBS:
            self._flush(ended)

    def _flush(self, at: int) -> None:
        self._output.restore()
        self._desk.flush()
        self._flushed, self._unflushed = at, 0

    def _runtime(self, seq: int) -> JobRuntime:
        return JobRuntime(seq, self._desk, self._cancelled, self._moving)

    def _cancelled(self, seq: int) -> bool:
        return self._cells[CANCEL] == seq

    def _moving(self, seq: int) -> bool:
        return self._cells[MOVING] == seq

    def _terminate(self, number: int, frame: FrameType | None) -> None:
        """Interrupts the job that the agent named, once; a signal that comes too late interrupts nothing."""
        seq = self._inside
        if seq and self._cells[CANCEL] == seq and self._struck != seq:
            self._struck = seq
            raise Cancelled("the job was told to stop")

    def _in_copy(self) -> None:
        # A task that forks and returns twice: the copy leaves quietly. It must obey SIGTERM as any process does.
        self._forked = True
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
