"""Workers and queues as the clients offer them. Two faces over the same calls."""

from datetime import datetime

from horae.client import calls
from horae.client.sender import AsyncSender, Sender
from horae.wire.quotas import QueuePage, WaitingPage
from horae.wire.tasks import TaskStatistics
from horae.wire.workers import Worker, WorkerHistory, WorkerPage


class FleetFace(Sender):
    def workers(self, state: str | None = None, cursor: str | None = None, *, runs: bool = False) -> WorkerPage:
        """Those that are active or draining, a thousand at a time; `runs` has each tell what it runs."""
        return self.send(calls.workers(state, cursor, runs=runs))

    def all_workers(self, state: str | None = None) -> list[Worker]:
        """Page after page."""
        page = self.workers(state)
        found = page.items
        while page.next_cursor is not None:
            page = self.workers(state, page.next_cursor)
            found += page.items
        return found

    def worker(self, worker_id: int) -> Worker:
        return self.send(calls.worker(worker_id))

    def worker_history(self, worker_id: int) -> WorkerHistory:
        """What happened to a worker: joined, late, drained, on probation, lost; latest first."""
        return self.send(calls.worker_history(worker_id))

    def drain(
        self, worker_id: int, reason: str = "", lasts: str | float | None = None, *, move: bool = False
    ) -> Worker:
        """Lets a worker take nothing new, for a time if `lasts` says so; `move` sends what it runs elsewhere."""
        return self.send(calls.drain(worker_id, reason, lasts, move=move))

    def resume(self, worker_id: int) -> Worker:
        return self.send(calls.resume(worker_id))

    def queues(self, tenant: str | None = None) -> QueuePage:
        return self.send(calls.queues(tenant))

    def queue_statistics(
        self, queue: str, tenant: str | None = None, since: datetime | None = None, until: datetime | None = None
    ) -> TaskStatistics:
        """What became of a queue's jobs, step by step; of the last day unless it is said."""
        return self.send(calls.queue_statistics(queue, tenant, since, until))

    def queue_waiting(self, queue: str, tenant: str | None = None) -> WaitingPage:
        """Who waits in a queue, since when, and for what."""
        return self.send(calls.queue_waiting(queue, tenant))


class AsyncFleetFace(AsyncSender):
    async def workers(self, state: str | None = None, cursor: str | None = None, *, runs: bool = False) -> WorkerPage:
        return await self.send(calls.workers(state, cursor, runs=runs))

    async def all_workers(self, state: str | None = None) -> list[Worker]:
        page = await self.workers(state)
        found = page.items
        while page.next_cursor is not None:
            page = await self.workers(state, page.next_cursor)
            found += page.items
        return found

    async def worker(self, worker_id: int) -> Worker:
        return await self.send(calls.worker(worker_id))

    async def worker_history(self, worker_id: int) -> WorkerHistory:
        """What happened to a worker: joined, late, drained, on probation, lost; latest first."""
        return await self.send(calls.worker_history(worker_id))

    async def drain(
        self, worker_id: int, reason: str = "", lasts: str | float | None = None, *, move: bool = False
    ) -> Worker:
        return await self.send(calls.drain(worker_id, reason, lasts, move=move))

    async def resume(self, worker_id: int) -> Worker:
        return await self.send(calls.resume(worker_id))

    async def queues(self, tenant: str | None = None) -> QueuePage:
        return await self.send(calls.queues(tenant))

    async def queue_statistics(
        self, queue: str, tenant: str | None = None, since: datetime | None = None, until: datetime | None = None
    ) -> TaskStatistics:
        """What became of a queue's jobs, step by step; of the last day unless it is said."""
        return await self.send(calls.queue_statistics(queue, tenant, since, until))

    async def queue_waiting(self, queue: str, tenant: str | None = None) -> WaitingPage:
        """Who waits in a queue, since when, and for what."""
        return await self.send(calls.queue_waiting(queue, tenant))
