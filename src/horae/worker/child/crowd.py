"""Runs coroutine jobs side by side on one event loop, in the main thread."""

import asyncio
import time
from typing import Any

from horae.client.task import Task
from horae.model.work import Finished
from horae.worker.board import LOOK_SECONDS
from horae.worker.child.desk import Desk
from horae.worker.child.output import Output, task_seq
from horae.worker.child.runtime import JobRuntime, make_context
from horae.worker.child.verdict import failed, interrupted, no_such_task, succeeded
from horae.worker.clock import now, now_ns
from horae.worker.messages import Order


class Crowd:
    def __init__(self, tasks: dict[str, Task[Any, Any]], desk: Desk, output: Output) -> None:
        self._tasks = tasks
        self._desk = desk
        self._output = output
        self._running: dict[int, asyncio.Task[None]] = {}
        self._struck: set[int] = set()
        self._moving: set[int] = set()
        self._flush_due = False
        self._loop: asyncio.AbstractEventLoop
        self._quit: asyncio.Event

    # Called by the desk's thread.

    def take(self, orders: list[Order]) -> None:
        self._loop.call_soon_threadsafe(self._start, orders)

    def give_back(self) -> list[int]:
        """Nothing waits here: what arrives starts."""
        return []

    def cancel(self, seq: int, *, move: bool) -> None:
        self._loop.call_soon_threadsafe(self._strike, seq, move)

    def quit(self) -> None:
        self._loop.call_soon_threadsafe(self._quit.set)

    # The loop.

    async def run(self) -> None:
        self._loop, self._quit = asyncio.get_running_loop(), asyncio.Event()
        self._output.concurrent = True
        self._desk.serve(self)
        await self._quit.wait()
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        self._flush()

    def _start(self, orders: list[Order]) -> None:
        for order in orders:
            self._running[order.seq] = self._loop.create_task(self._run(order))

    def _strike(self, seq: int, move: bool) -> None:  # noqa: FBT001 - the loop calls with positions only
        task = self._running.get(seq)
        if task is not None:
            self._struck.add(seq)
            if move:
                self._moving.add(seq)
            # A turn later, so that a coroutine which has not begun yet does begin, and reports its end.
            self._loop.call_soon(task.cancel)

    async def _run(self, order: Order) -> None:
        task_seq.set(order.seq)
        started = now()
        finished = await self._attempt(order)
        finished.waited = started - order.received
        finished.took = now() - started
        self._output.job_ended(order.seq)
        self._desk.journal(order.seq, finished)
        self._struck.discard(order.seq)
        self._moving.discard(order.seq)
        del self._running[order.seq]
        if not self._flush_due:
            # Those that end in the same turn of the loop go out together.
            self._flush_due = True
            self._loop.call_soon(self._flush)

    async def _attempt(self, order: Order) -> Finished:
        grant = order.grant
        task = self._tasks.get(grant.task)
        if task is None:
            return no_such_task(grant)
        runtime = JobRuntime(order.seq, self._desk, self._struck.__contains__, self._moving.__contains__)
        context = make_context(grant, runtime, time.monotonic())
        try:
            while self._desk.board.lease_is_over(now_ns()):  # noqa: ASYNC110 - the agent writes it into shared memory
                await asyncio.sleep(LOOK_SECONDS)
            result = await task.invoke_async(bytes(grant.params), context)
            finished = succeeded(grant, result, sunk=task.definition.sink is not None)
        except BaseException as error:  # noqa: BLE001 - whatever a task raises is its outcome
            finished = failed(grant, error)
        return finished if order.seq not in self._struck else interrupted(grant)

    def _flush(self) -> None:
        self._flush_due = False
        self._desk.flush()
