"""The clients, sync and async: two faces with the same methods over the same descriptions of the calls (see `calls`).

Both are safe to share: the sync one between threads, the async one between coroutines and loops, either over a fork.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import aclosing, closing
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import urljoin

from horae.client import calls, following
from horae.client.calls import Call
from horae.client.face import QUIET_TIMEOUT, Face
from horae.client.files import Fetching
from horae.client.following import Following
from horae.client.sessions import SessionTransport
from horae.client.sockets import SocketTransport
from horae.client.transport import AsyncTransport, Broken, Transport
from horae.model.errors import HoraeError
from horae.model.job import JobRequest
from horae.model.task import TaskDefinition
from horae.wire.access import Key, KeyCreate, KeyCreated, KeyPage, Task, Tenant, TenantCreate, TenantPage, Whoami
from horae.wire.actions import Action, ActionPage, ActionRequest, DeadLetterRequest, DeadLetters
from horae.wire.console import ConsoleTicket, Overview
from horae.wire.explanation import Explanation, Timeline
from horae.wire.files import FileAddress, FilePage, FileView, Partial, PartialPage
from horae.wire.find import FoundPage
from horae.wire.gates import (
    Gate,
    GateChanges,
    GateCreate,
    GatePage,
    GatePreview,
    GateRestore,
    Restored,
    Stop,
    StopPreview,
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
from horae.wire.limits import Limit, LimitPage, LimitPut, LimitUse
from horae.wire.quotas import QueuePage, Quota, QuotaPage, WaitingPage
from horae.wire.secrets import Rotated, Secret, SecretPage
from horae.wire.servicelevels import ServiceLevel, ServiceLevelPage, ServiceLevelPut
from horae.wire.tasks import TaskStatistics
from horae.wire.workers import Worker, WorkerHistory, WorkerPage

if TYPE_CHECKING:
    from horae.client.schedules import AsyncSchedules, Schedules
    from horae.client.tasks import AsyncTasks, Tasks

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

    def move(self, job_id: str, reason: str = "", *, force: bool = False) -> Job:
        """Lets a running job stop and go on at another worker, from its last checkpoint."""
        return self.send(calls.move(job_id, reason, force=force))

    def clone(self, job_id: str, changes: JobChanges | None = None) -> Submitted:
        return self.send(calls.clone(job_id, changes))

    def act(self, request: ActionRequest) -> Action:
        """Does something to all jobs that match a filter, or with `preview` only counts them."""
        return self.send(calls.act(request))

    def actions(self, cursor: str | None = None, limit: int | None = None, tenant: str | None = None) -> ActionPage:
        return self.send(calls.actions(cursor, limit, tenant))

    def action(self, action_id: str) -> Action:
        return self.send(calls.action(action_id))

    def cancel_action(self, action_id: str) -> Action:
        return self.send(calls.cancel_action(action_id))

    def undo_action(self, action_id: str) -> Action:
        return self.send(calls.undo_action(action_id))

    def dead_letters(self, **filters: Any) -> DeadLetters:
        """The failed jobs by cause; with `cause` a page of the jobs themselves too."""
        return self.send(calls.dead_letters(**filters))

    def redrive(self, request: DeadLetterRequest) -> Action:
        return self.send(calls.redrive(request))

    def discard(self, request: DeadLetterRequest) -> Action:
        return self.send(calls.discard(request))

    def result(self, job_id: str, wait: float = 30.0) -> JobResult:
        return self.send(calls.result(job_id, wait))

    def explain(self, job_id: str) -> Explanation:
        """Why the job is not running yet, when it will start, or where its time went."""
        return self.send(calls.explain(job_id))

    def timeline(self, job_id: str) -> Timeline:
        """What its life went into, in order, each wait with its reason."""
        return self.send(calls.timeline(job_id))

    def executions(self, job_id: str) -> ExecutionPage:
        return self.send(calls.executions(job_id))

    def executions_by_worker(
        self, worker_id: int, cursor: str | None = None, limit: int | None = None
    ) -> ExecutionPage:
        return self.send(calls.executions_by_worker(worker_id, cursor, limit))

    def logs(self, job_id: str, cursor: str | None = None, limit: int | None = None) -> LogPage:
        return self.send(calls.logs(job_id, cursor, limit))

    def workers(self, state: str | None = None, *, runs: bool = False) -> WorkerPage:
        """Those that are active or draining; `runs` has each tell what it runs."""
        return self.send(calls.workers(state, runs=runs))

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

    @property
    def tasks(self) -> "Tasks":
        """Tasks: `client.tasks()` lists them, `client.tasks.put(…)` saves one."""
        from horae.client.tasks import Tasks

        return Tasks(self)

    def put_task(self, definition: TaskDefinition) -> Task:
        return self.send(calls.put_task(definition))

    def gates(self, *, over: bool = False) -> GatePage:
        return self.send(calls.gates(over=over))

    def gate(self, gate_id: int) -> Gate:
        return self.send(calls.gate(gate_id))

    def create_gate(self, gate: GateCreate) -> Gate:
        return self.send(calls.create_gate(gate))

    def preview_gate(self, gate: GateCreate) -> GatePreview:
        return self.send(calls.preview_gate(gate))

    def change_gate(self, gate_id: int, changes: GateChanges) -> Gate:
        return self.send(calls.change_gate(gate_id, changes))

    def release_gate(self, gate_id: int, rate: str | float | None = None) -> Gate:
        return self.send(calls.release_gate(gate_id, rate))

    def restore_gate(self, gate_id: int, which: GateRestore | None = None) -> Restored:
        return self.send(calls.restore_gate(gate_id, which))

    def preview_stop(self, tenant: str | None = None) -> StopPreview:
        """How far an emergency stop would reach."""
        return self.send(calls.preview_stop(tenant))

    def stop(self, order: Stop | None = None) -> Gate:
        return self.send(calls.stop(order))

    def go(self, tenant: str | None = None, rate: str | float | None = None) -> GatePage:
        return self.send(calls.go(tenant, rate))

    def tenants(self) -> TenantPage:
        return self.send(calls.tenants())

    def create_tenant(self, tenant: TenantCreate) -> Tenant:
        return self.send(calls.create_tenant(tenant))

    def change_tenant(self, name: str, weight: float) -> Tenant:
        return self.send(calls.change_tenant(name, weight))

    def limits(self, tenant: str | None = None) -> LimitPage:
        return self.send(calls.limits(tenant))

    def limit(self, name: str, tenant: str | None = None) -> Limit:
        return self.send(calls.limit(name, tenant))

    def limit_use(self, name: str, tenant: str | None = None) -> LimitUse:
        """Who runs under a limit, and who waits behind it."""
        return self.send(calls.limit_use(name, tenant))

    def put_limit(self, name: str, wanted: LimitPut) -> Limit:
        return self.send(calls.put_limit(name, wanted))

    def remove_limit(self, name: str, tenant: str | None = None) -> None:
        self.send(calls.remove_limit(name, tenant))

    def service_levels(self, tenant: str | None = None) -> ServiceLevelPage:
        return self.send(calls.service_levels(tenant))

    def service_level(self, name: str, tenant: str | None = None) -> ServiceLevel:
        return self.send(calls.service_level(name, tenant))

    def put_service_level(self, name: str, wanted: ServiceLevelPut) -> ServiceLevel:
        return self.send(calls.put_service_level(name, wanted))

    def delete_service_level(self, name: str, tenant: str | None = None) -> None:
        self.send(calls.delete_service_level(name, tenant))

    def keys(self) -> KeyPage:
        return self.send(calls.keys())

    def create_key(self, key: KeyCreate) -> KeyCreated:
        return self.send(calls.create_key(key))

    def revoke_key(self, key_id: int) -> Key:
        return self.send(calls.revoke_key(key_id))

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

    def secrets(self, tenant: str | None = None) -> SecretPage:
        """Which there are; values are never shown."""
        return self.send(calls.secrets(tenant))

    def secret(self, name: str, tenant: str | None = None) -> Secret:
        return self.send(calls.secret(name, tenant))

    def set_secret(self, name: str, value: str, tenant: str | None = None) -> Secret:
        return self.send(calls.set_secret(name, value, tenant))

    def delete_secret(self, name: str, tenant: str | None = None, *, force: bool = False) -> None:
        """Refused while tasks use it, unless forced."""
        return self.send(calls.delete_secret(name, tenant, force=force))

    def rotate_tenant_key(self, tenant: str | None = None) -> Rotated:
        """Seals the tenant's secrets with a new key."""
        return self.send(calls.rotate_tenant_key(tenant))

    def rotate_master_key(self) -> Rotated:
        """Wraps all tenants' keys with the first of the servers' master keys."""
        return self.send(calls.rotate_master_key())

    def quotas(self, tenant: str | None = None) -> QuotaPage:
        return self.send(calls.quotas(tenant))

    def set_quota(
        self,
        scope: str,
        name: str,
        *,
        submit_rate: str | float | None = None,
        burst: int | None = None,
        max_pending: int | None = None,
        tenant: str | None = None,
    ) -> Quota:
        limits = {"submit_rate": submit_rate, "burst": burst, "max_pending": max_pending}
        return self.send(calls.set_quota(scope, name, tenant, **limits))

    def remove_quota(self, scope: str, name: str, tenant: str | None = None) -> None:
        return self.send(calls.remove_quota(scope, name, tenant))

    def find(self, text: str, tenant: str | None = None, limit: int | None = None) -> FoundPage:
        """What a text may mean: jobs by the beginning of their id, the rest by any part of their name."""
        return self.send(calls.find(text, tenant, limit))

    def overview(self, time_range: str | None = None, tenant: str | None = None) -> Overview:
        """How things stand, and how they went in the last 15m, 1h, 6h, 1d, 7d or 30d."""
        return self.send(calls.overview(time_range, tenant))

    def console_ticket(self) -> ConsoleTicket:
        """What signs a browser in to the console with this key, once."""
        return self.send(calls.console_ticket())

    def whoami(self) -> Whoami:
        return self.send(calls.whoami())

    @property
    def schedules(self) -> "Schedules":
        """Schedules and calendars: `client.schedules.put(…)`."""
        from horae.client.schedules import Schedules

        return Schedules(self)

    def iter_jobs(self, **filters: Any) -> Iterator[Job]:
        """All jobs that match, page after page."""
        page = self.jobs(**filters)
        yield from page.items
        while page.next_cursor is not None:
            page = self.jobs(**filters | {"cursor": page.next_cursor})
            yield from page.items

    def partials(self, job_id: str, cursor: str | None = None, limit: int | None = None) -> PartialPage:
        return self.send(calls.partials(job_id, cursor, limit))

    def follow_partials(self, job_id: str, cursor: str | None = None) -> Iterator[Partial]:
        """The pieces of a result as the job gives them, until it has ended."""
        return self._follow(following.partials(job_id, cursor, self.connection.url, self._patience))

    def files(self, job_id: str) -> FilePage:
        """What an ended job left in its output folder."""
        return self.send(calls.files(job_id))

    def file_address(self, file_id: str, lifetime: str | float = "15m") -> FileAddress:
        found = self.send(calls.file_address(file_id, lifetime))
        return FileAddress(urljoin(self.connection.url, found.url), found.expires_at)

    def fetch_file(self, file: FileView) -> Iterator[bytes]:
        """A file in pieces; when the last has come, its SHA-256 was right."""
        fetching = Fetching(file, self.connection.url, self._patience)
        while not fetching.is_complete():
            try:
                with closing(self._transport.stream(fetching.call(), QUIET_TIMEOUT)) as pieces:
                    for piece in pieces:
                        if data := fetching.take(piece):
                            yield data
                if fetching.is_complete():
                    return
                broken = Broken("the file ended early", sent=True)
            except Broken as error:
                broken = error
            time.sleep(fetching.after_break(broken))

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

    async def move(self, job_id: str, reason: str = "", *, force: bool = False) -> Job:
        return await self.send(calls.move(job_id, reason, force=force))

    async def clone(self, job_id: str, changes: JobChanges | None = None) -> Submitted:
        return await self.send(calls.clone(job_id, changes))

    async def act(self, request: ActionRequest) -> Action:
        return await self.send(calls.act(request))

    async def actions(
        self, cursor: str | None = None, limit: int | None = None, tenant: str | None = None
    ) -> ActionPage:
        return await self.send(calls.actions(cursor, limit, tenant))

    async def action(self, action_id: str) -> Action:
        return await self.send(calls.action(action_id))

    async def cancel_action(self, action_id: str) -> Action:
        return await self.send(calls.cancel_action(action_id))

    async def undo_action(self, action_id: str) -> Action:
        return await self.send(calls.undo_action(action_id))

    async def dead_letters(self, **filters: Any) -> DeadLetters:
        return await self.send(calls.dead_letters(**filters))

    async def redrive(self, request: DeadLetterRequest) -> Action:
        return await self.send(calls.redrive(request))

    async def discard(self, request: DeadLetterRequest) -> Action:
        return await self.send(calls.discard(request))

    async def result(self, job_id: str, wait: float = 30.0) -> JobResult:
        return await self.send(calls.result(job_id, wait))

    async def explain(self, job_id: str) -> Explanation:
        return await self.send(calls.explain(job_id))

    async def timeline(self, job_id: str) -> Timeline:
        return await self.send(calls.timeline(job_id))

    async def executions(self, job_id: str) -> ExecutionPage:
        return await self.send(calls.executions(job_id))

    async def executions_by_worker(
        self, worker_id: int, cursor: str | None = None, limit: int | None = None
    ) -> ExecutionPage:
        return await self.send(calls.executions_by_worker(worker_id, cursor, limit))

    async def logs(self, job_id: str, cursor: str | None = None, limit: int | None = None) -> LogPage:
        return await self.send(calls.logs(job_id, cursor, limit))

    async def workers(self, state: str | None = None, *, runs: bool = False) -> WorkerPage:
        return await self.send(calls.workers(state, runs=runs))

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

    @property
    def tasks(self) -> "AsyncTasks":
        from horae.client.tasks import AsyncTasks

        return AsyncTasks(self)

    async def put_task(self, definition: TaskDefinition) -> Task:
        return await self.send(calls.put_task(definition))

    async def gates(self, *, over: bool = False) -> GatePage:
        return await self.send(calls.gates(over=over))

    async def gate(self, gate_id: int) -> Gate:
        return await self.send(calls.gate(gate_id))

    async def create_gate(self, gate: GateCreate) -> Gate:
        return await self.send(calls.create_gate(gate))

    async def preview_gate(self, gate: GateCreate) -> GatePreview:
        return await self.send(calls.preview_gate(gate))

    async def change_gate(self, gate_id: int, changes: GateChanges) -> Gate:
        return await self.send(calls.change_gate(gate_id, changes))

    async def release_gate(self, gate_id: int, rate: str | float | None = None) -> Gate:
        return await self.send(calls.release_gate(gate_id, rate))

    async def restore_gate(self, gate_id: int, which: GateRestore | None = None) -> Restored:
        return await self.send(calls.restore_gate(gate_id, which))

    async def preview_stop(self, tenant: str | None = None) -> StopPreview:
        """How far an emergency stop would reach."""
        return await self.send(calls.preview_stop(tenant))

    async def stop(self, order: Stop | None = None) -> Gate:
        return await self.send(calls.stop(order))

    async def go(self, tenant: str | None = None, rate: str | float | None = None) -> GatePage:
        return await self.send(calls.go(tenant, rate))

    async def tenants(self) -> TenantPage:
        return await self.send(calls.tenants())

    async def create_tenant(self, tenant: TenantCreate) -> Tenant:
        return await self.send(calls.create_tenant(tenant))

    async def change_tenant(self, name: str, weight: float) -> Tenant:
        return await self.send(calls.change_tenant(name, weight))

    async def limits(self, tenant: str | None = None) -> LimitPage:
        return await self.send(calls.limits(tenant))

    async def limit(self, name: str, tenant: str | None = None) -> Limit:
        return await self.send(calls.limit(name, tenant))

    async def limit_use(self, name: str, tenant: str | None = None) -> LimitUse:
        """Who runs under a limit, and who waits behind it."""
        return await self.send(calls.limit_use(name, tenant))

    async def put_limit(self, name: str, wanted: LimitPut) -> Limit:
        return await self.send(calls.put_limit(name, wanted))

    async def remove_limit(self, name: str, tenant: str | None = None) -> None:
        await self.send(calls.remove_limit(name, tenant))

    async def service_levels(self, tenant: str | None = None) -> ServiceLevelPage:
        return await self.send(calls.service_levels(tenant))

    async def service_level(self, name: str, tenant: str | None = None) -> ServiceLevel:
        return await self.send(calls.service_level(name, tenant))

    async def put_service_level(self, name: str, wanted: ServiceLevelPut) -> ServiceLevel:
        return await self.send(calls.put_service_level(name, wanted))

    async def delete_service_level(self, name: str, tenant: str | None = None) -> None:
        await self.send(calls.delete_service_level(name, tenant))

    async def keys(self) -> KeyPage:
        return await self.send(calls.keys())

    async def create_key(self, key: KeyCreate) -> KeyCreated:
        return await self.send(calls.create_key(key))

    async def revoke_key(self, key_id: int) -> Key:
        return await self.send(calls.revoke_key(key_id))

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

    async def secrets(self, tenant: str | None = None) -> SecretPage:
        """Which there are; values are never shown."""
        return await self.send(calls.secrets(tenant))

    async def secret(self, name: str, tenant: str | None = None) -> Secret:
        return await self.send(calls.secret(name, tenant))

    async def set_secret(self, name: str, value: str, tenant: str | None = None) -> Secret:
        return await self.send(calls.set_secret(name, value, tenant))

    async def delete_secret(self, name: str, tenant: str | None = None, *, force: bool = False) -> None:
        """Refused while tasks use it, unless forced."""
        return await self.send(calls.delete_secret(name, tenant, force=force))

    async def rotate_tenant_key(self, tenant: str | None = None) -> Rotated:
        """Seals the tenant's secrets with a new key."""
        return await self.send(calls.rotate_tenant_key(tenant))

    async def rotate_master_key(self) -> Rotated:
        """Wraps all tenants' keys with the first of the servers' master keys."""
        return await self.send(calls.rotate_master_key())

    async def quotas(self, tenant: str | None = None) -> QuotaPage:
        return await self.send(calls.quotas(tenant))

    async def set_quota(
        self,
        scope: str,
        name: str,
        *,
        submit_rate: str | float | None = None,
        burst: int | None = None,
        max_pending: int | None = None,
        tenant: str | None = None,
    ) -> Quota:
        limits = {"submit_rate": submit_rate, "burst": burst, "max_pending": max_pending}
        return await self.send(calls.set_quota(scope, name, tenant, **limits))

    async def remove_quota(self, scope: str, name: str, tenant: str | None = None) -> None:
        return await self.send(calls.remove_quota(scope, name, tenant))

    async def find(self, text: str, tenant: str | None = None, limit: int | None = None) -> FoundPage:
        return await self.send(calls.find(text, tenant, limit))

    async def overview(self, time_range: str | None = None, tenant: str | None = None) -> Overview:
        return await self.send(calls.overview(time_range, tenant))

    async def console_ticket(self) -> ConsoleTicket:
        return await self.send(calls.console_ticket())

    async def whoami(self) -> Whoami:
        return await self.send(calls.whoami())

    @property
    def schedules(self) -> "AsyncSchedules":
        from horae.client.schedules import AsyncSchedules

        return AsyncSchedules(self)

    async def iter_jobs(self, **filters: Any) -> AsyncIterator[Job]:
        page = await self.jobs(**filters)
        for job in page.items:
            yield job
        while page.next_cursor is not None:
            page = await self.jobs(**filters | {"cursor": page.next_cursor})
            for job in page.items:
                yield job

    async def partials(self, job_id: str, cursor: str | None = None, limit: int | None = None) -> PartialPage:
        return await self.send(calls.partials(job_id, cursor, limit))

    def follow_partials(self, job_id: str, cursor: str | None = None) -> AsyncIterator[Partial]:
        return self._follow(following.partials(job_id, cursor, self.connection.url, self._patience))

    async def files(self, job_id: str) -> FilePage:
        return await self.send(calls.files(job_id))

    async def file_address(self, file_id: str, lifetime: str | float = "15m") -> FileAddress:
        found = await self.send(calls.file_address(file_id, lifetime))
        return FileAddress(urljoin(self.connection.url, found.url), found.expires_at)

    async def fetch_file(self, file: FileView) -> AsyncIterator[bytes]:
        fetching = Fetching(file, self.connection.url, self._patience)
        while not fetching.is_complete():
            try:
                async with aclosing(self._transport.stream(fetching.call(), QUIET_TIMEOUT)) as pieces:
                    async for piece in pieces:
                        if data := fetching.take(piece):
                            yield data
                if fetching.is_complete():
                    return
                broken = Broken("the file ended early", sent=True)
            except Broken as error:
                broken = error
            await asyncio.sleep(fetching.after_break(broken))

    def follow_logs(self, job_id: str, cursor: str | None = None) -> AsyncIterator[LogLine]:
        return self._follow(following.log_lines(job_id, cursor, self.connection.url, self._patience))

    def events(self, job_id: str) -> AsyncIterator[JobEvent]:
        return self._follow(following.job_events(job_id, self.connection.url, self._patience))

    async def ready(self) -> bool:
        try:
            return await self.send(calls.ready())
        except HoraeError:
            return False
