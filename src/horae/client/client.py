"""The clients, sync and async: two faces with the same methods over the same descriptions of the calls (see `calls`).

Both are safe to share: the sync one between threads, the async one between coroutines and loops, either over a fork.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import aclosing, closing
from typing import Any, Self, TypeVar

from horae.client import calls, following
from horae.client.calls import Call
from horae.client.face import QUIET_TIMEOUT, Face
from horae.client.following import Following
from horae.client.sessions import SessionTransport
from horae.client.sockets import SocketTransport
from horae.client.transport import AsyncTransport, Broken, Transport
from horae.model.errors import HoraeError
from horae.model.job import JobRequest
from horae.model.task import TaskDefinition
from horae.wire.access import (
    Key,
    KeyCreate,
    KeyCreated,
    KeyPage,
    Task,
    TaskPage,
    Tenant,
    TenantCreate,
    TenantPage,
    Whoami,
)
from horae.wire.jobs import (
    BulkAnswer,
    ExecutionPage,
    Job,
    JobChanges,
    JobEvent,
    JobPage,
    JobResult,
    LogLine,
    LogPage,
    Submitted,
)
from horae.wire.workers import Worker, WorkerPage

T = TypeVar("T")


class Client(Face[Transport]):
    def _make_transport(self) -> Transport:
        return SocketTransport(self.connection)

    def send(self, call: Call[T]) -> T:
        retries = self._retries(call)
        while True:
            try:
                answer = self._transport.send(call, self._timeout + call.waits)
                wait = retries.after_answer(answer)
            except Broken as broken:
                wait = retries.after_break(broken)
            else:
                if wait is None:
                    return call.read(answer.body)
            time.sleep(wait)

    def _follow(self, stream: Following[T]) -> Generator[T, None, None]:
        while True:
            try:
                with closing(self._transport.stream(stream.call(), QUIET_TIMEOUT)) as pieces:
                    for piece in pieces:
                        yield from stream.take(piece)
                        if stream.ended:
                            return
                broken = Broken("the stream ended early", sent=True)
            except Broken as error:
                broken = error
            time.sleep(stream.after_break(broken))

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, job: JobRequest, idempotency_key: str | None = None) -> Submitted:
        return self.send(calls.submit(job, idempotency_key))

    def submit_many(self, jobs: list[JobRequest]) -> BulkAnswer:
        return self.send(calls.submit_many(jobs))

    def job(self, job_id: str) -> Job:
        return self.send(calls.job(job_id))

    def jobs(self, **filters: Any) -> JobPage:
        return self.send(calls.jobs(**filters))

    def change(self, job_id: str, changes: JobChanges) -> Job:
        return self.send(calls.change(job_id, changes))

    def cancel(self, job_id: str, reason: str = "") -> Job:
        return self.send(calls.cancel(job_id, reason))

    def retry(self, job_id: str, changes: JobChanges | None = None) -> Job:
        return self.send(calls.retry(job_id, changes))

    def clone(self, job_id: str, changes: JobChanges | None = None) -> Submitted:
        return self.send(calls.clone(job_id, changes))

    def result(self, job_id: str, wait: float = 30.0) -> JobResult:
        return self.send(calls.result(job_id, wait))

    def executions(self, job_id: str) -> ExecutionPage:
        return self.send(calls.executions(job_id))

    def executions_by_worker(
        self, worker_id: int, cursor: str | None = None, limit: int | None = None
    ) -> ExecutionPage:
        return self.send(calls.executions_by_worker(worker_id, cursor, limit))

    def logs(self, job_id: str, cursor: str | None = None, limit: int | None = None) -> LogPage:
        return self.send(calls.logs(job_id, cursor, limit))

    def workers(self, state: str | None = None) -> WorkerPage:
        return self.send(calls.workers(state))

    def worker(self, worker_id: int) -> Worker:
        return self.send(calls.worker(worker_id))

    def drain(self, worker_id: int) -> Worker:
        return self.send(calls.drain(worker_id))

    def resume(self, worker_id: int) -> Worker:
        return self.send(calls.resume(worker_id))

    def tasks(self) -> TaskPage:
        return self.send(calls.tasks())

    def put_task(self, definition: TaskDefinition) -> Task:
        return self.send(calls.put_task(definition))

    def tenants(self) -> TenantPage:
        return self.send(calls.tenants())

    def create_tenant(self, tenant: TenantCreate) -> Tenant:
        return self.send(calls.create_tenant(tenant))

    def keys(self) -> KeyPage:
        return self.send(calls.keys())

    def create_key(self, key: KeyCreate) -> KeyCreated:
        return self.send(calls.create_key(key))

    def revoke_key(self, key_id: int) -> Key:
        return self.send(calls.revoke_key(key_id))

    def whoami(self) -> Whoami:
        return self.send(calls.whoami())

    def iter_jobs(self, **filters: Any) -> Iterator[Job]:
        """All jobs that match, page after page."""
        page = self.jobs(**filters)
        yield from page.items
        while page.next_cursor is not None:
            page = self.jobs(**filters | {"cursor": page.next_cursor})
            yield from page.items

    def follow_logs(self, job_id: str, cursor: str | None = None) -> Iterator[LogLine]:
        """The job's output as it comes, until the job has ended."""
        return self._follow(following.log_lines(job_id, cursor, self.connection.url, self._patience))

    def events(self, job_id: str) -> Iterator[JobEvent]:
        """The job's states and progress as they come, until its outcome."""
        return self._follow(following.job_events(job_id, self.connection.url, self._patience))

    def ready(self) -> bool:
        try:
            return self.send(calls.ready())
        except HoraeError:
            return False


class AsyncClient(Face[AsyncTransport]):
    def _make_transport(self) -> AsyncTransport:
        return SessionTransport(self.connection)

    async def send(self, call: Call[T]) -> T:
        retries = self._retries(call)
        while True:
            try:
                answer = await self._transport.send(call, self._timeout + call.waits)
                wait = retries.after_answer(answer)
            except Broken as broken:
                wait = retries.after_break(broken)
            else:
                if wait is None:
                    return call.read(answer.body)
            await asyncio.sleep(wait)

    async def _follow(self, stream: Following[T]) -> AsyncGenerator[T, None]:
        while True:
            try:
                async with aclosing(self._transport.stream(stream.call(), QUIET_TIMEOUT)) as pieces:
                    async for piece in pieces:
                        for item in stream.take(piece):
                            yield item
                        if stream.ended:
                            return
                broken = Broken("the stream ended early", sent=True)
            except Broken as error:
                broken = error
            await asyncio.sleep(stream.after_break(broken))

    async def close(self) -> None:
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def submit(self, job: JobRequest, idempotency_key: str | None = None) -> Submitted:
        return await self.send(calls.submit(job, idempotency_key))

    async def submit_many(self, jobs: list[JobRequest]) -> BulkAnswer:
        return await self.send(calls.submit_many(jobs))

    async def job(self, job_id: str) -> Job:
        return await self.send(calls.job(job_id))

    async def jobs(self, **filters: Any) -> JobPage:
        return await self.send(calls.jobs(**filters))

    async def change(self, job_id: str, changes: JobChanges) -> Job:
        return await self.send(calls.change(job_id, changes))

    async def cancel(self, job_id: str, reason: str = "") -> Job:
        return await self.send(calls.cancel(job_id, reason))

    async def retry(self, job_id: str, changes: JobChanges | None = None) -> Job:
        return await self.send(calls.retry(job_id, changes))

    async def clone(self, job_id: str, changes: JobChanges | None = None) -> Submitted:
        return await self.send(calls.clone(job_id, changes))

    async def result(self, job_id: str, wait: float = 30.0) -> JobResult:
        return await self.send(calls.result(job_id, wait))

    async def executions(self, job_id: str) -> ExecutionPage:
        return await self.send(calls.executions(job_id))

    async def executions_by_worker(
        self, worker_id: int, cursor: str | None = None, limit: int | None = None
    ) -> ExecutionPage:
        return await self.send(calls.executions_by_worker(worker_id, cursor, limit))

    async def logs(self, job_id: str, cursor: str | None = None, limit: int | None = None) -> LogPage:
        return await self.send(calls.logs(job_id, cursor, limit))

    async def workers(self, state: str | None = None) -> WorkerPage:
        return await self.send(calls.workers(state))

    async def worker(self, worker_id: int) -> Worker:
        return await self.send(calls.worker(worker_id))

    async def drain(self, worker_id: int) -> Worker:
        return await self.send(calls.drain(worker_id))

    async def resume(self, worker_id: int) -> Worker:
        return await self.send(calls.resume(worker_id))

    async def tasks(self) -> TaskPage:
        return await self.send(calls.tasks())

    async def put_task(self, definition: TaskDefinition) -> Task:
        return await self.send(calls.put_task(definition))

    async def tenants(self) -> TenantPage:
        return await self.send(calls.tenants())

    async def create_tenant(self, tenant: TenantCreate) -> Tenant:
        return await self.send(calls.create_tenant(tenant))

    async def keys(self) -> KeyPage:
        return await self.send(calls.keys())

    async def create_key(self, key: KeyCreate) -> KeyCreated:
        return await self.send(calls.create_key(key))

    async def revoke_key(self, key_id: int) -> Key:
        return await self.send(calls.revoke_key(key_id))

    async def whoami(self) -> Whoami:
        return await self.send(calls.whoami())

    async def iter_jobs(self, **filters: Any) -> AsyncIterator[Job]:
        page = await self.jobs(**filters)
        for job in page.items:
            yield job
        while page.next_cursor is not None:
            page = await self.jobs(**filters | {"cursor": page.next_cursor})
            for job in page.items:
                yield job

    def follow_logs(self, job_id: str, cursor: str | None = None) -> AsyncIterator[LogLine]:
        return self._follow(following.log_lines(job_id, cursor, self.connection.url, self._patience))

    def events(self, job_id: str) -> AsyncIterator[JobEvent]:
        return self._follow(following.job_events(job_id, self.connection.url, self._patience))

    async def ready(self) -> bool:
        try:
            return await self.send(calls.ready())
        except HoraeError:
            return False
