"""Stops jobs that must stop: cancelled, out of time, or in the way of others. Looked at ten times a second.

A job is told first: the board's flag, then SIGTERM to its whole process group, which raises `Cancelled` inside the task
so that its `finally` blocks run. After the grace the whole tree is killed. Its end is reported when the tree is gone,
and a fresh child takes the place. A coroutine is cancelled by its loop instead; only one that does not heed it takes
its process down.
"""

import asyncio
import contextlib
import signal
from typing import Final

import structlog

from horae.model.states import End
from horae.model.work import CancelOrder
from horae.worker import tree
from horae.worker.board import CANCEL, MOVING, SPAWNED, Running
from horae.worker.clock import now
from horae.worker.config import AgentConfig
from horae.worker.dispatch import Dispatch
from horae.worker.ends import Ending
from horae.worker.messages import Cancel, Order
from horae.worker.process import Child

log = structlog.get_logger()
_IN_THE_WAY: Final = 0.1
_CLOCK_TICK: Final = 0.011
"""The kernel rounds the start of a process down to 10 ms."""


class Endings:
    def __init__(self, config: AgentConfig, dispatch: Dispatch) -> None:
        self._config = config
        self._dispatch = dispatch
        self._work: set[asyncio.Task[None]] = set()

    def cancel(self, orders: list[CancelOrder]) -> None:
        if not orders:
            return
        wanted = {(order.id, order.attempt): order.reason for order in orders}
        self._note_moves(orders)
        for queue in self._dispatch.queues:
            for order in [order for order in queue if _name(order) in wanted]:
                queue.remove(order)
                self._dispatch.report(self._dispatch.called_off(order, wanted[_name(order)]))
        for child in self._dispatch.crew.children:
            for order in child.jobs.values():
                if _name(order) in wanted:
                    self._dispatch.cancels[order.grant.id] = wanted[_name(order)]
                    self._dispatch.revoke(child)
        for place in self._dispatch.roster.places:
            if _name(place.order) in wanted:
                self._dispatch.cancels[place.order.grant.id] = wanted[_name(place.order)]
        self.tick()

    def _note_moves(self, orders: list[CancelOrder]) -> None:
        """A job that is both moved and cancelled is cancelled."""
        moves = self._dispatch.moves
        moves.update(order.id for order in orders if order.move)
        moves.difference_update(order.id for order in orders if not order.move)

    def tick(self) -> None:
        for child in self._dispatch.crew.children:
            if child.ready and child.jobs:
                if child.concurrent:
                    self._check_crowd(child)
                else:
                    self._check_solo(child)
            if child.ready and child.board.cells[SPAWNED] and not (child.concurrent and child.jobs):
                _end_leftovers(child)

    def _check_solo(self, child: Child) -> None:
        running = child.board.running()
        order = child.jobs.get(running.seq) if running else None
        if running is None or order is None or child.endings:
            return
        if now() - running.started > _IN_THE_WAY:
            child.slow = True
            self._dispatch.revoke(child)
        self._check_order(child, order, running.started)

    def _check_crowd(self, child: Child) -> None:
        for order in list(child.jobs.values()):
            if order.seq not in child.endings:
                self._check_order(child, order, order.sent)

    def _check_order(self, child: Child, order: Order, started: float) -> None:
        if (reason := self._dispatch.reason_to_stop(order.grant, started)) is not None:
            end, text = reason
            self._stop(child, order, Ending(end, text, started, asyncio.Event()))

    def _stop(self, child: Child, order: Order, ending: Ending) -> None:
        log.info("job_stopped", job=order.grant.id, attempt=order.grant.attempt, why=ending.end.value, pid=child.pid)
        child.endings[order.seq] = ending
        if child.concurrent:
            child.send(Cancel(order.seq, ending.end is End.MOVED))
        else:
            self._dispatch.revoke(child)
            if ending.end is End.MOVED:
                child.board.cells[MOVING] = order.seq
            child.board.cells[CANCEL] = order.seq
            child.signal_group(signal.SIGTERM)
        task = asyncio.create_task(self._see_through(child, ending))
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _see_through(self, child: Child, ending: Ending) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._config.grace):
                await ending.settled.wait()
        if child.concurrent:
            if ending.settled.is_set():
                return
            await self._let_others_finish(child)
        await self._dispatch.crew.end(child)

    async def _let_others_finish(self, child: Child) -> None:
        self._dispatch.crew.retire(child)
        give_up = now() + self._config.drain_timeout
        while now() < give_up and child.jobs.keys() - child.endings.keys():  # noqa: ASYNC110 - as `tick` does
            await asyncio.sleep(0.1)


def _name(order: Order) -> tuple[str, int]:
    return order.grant.id, order.grant.attempt


def _end_leftovers(child: Child) -> None:
    """Kills processes that an earlier job left behind. Those from the import of the app are the app's own."""
    at = now()
    child.board.cells[SPAWNED] = 0
    running: Running | None = child.board.running()
    latest = (running.started if running else at) - _CLOCK_TICK
    for process in tree.descendants(child.pid):
        child.board.cells[SPAWNED] = 1
        if process.pid not in child.own and process.started < latest:
            log.info("leftover_ended", pid=process.pid, child=child.pid)
            tree.send(process.pid, signal.SIGKILL)
