"""Runs an App's jobs in this process, for users' own unit tests: no server, no worker, no waiting.

It stands in for the server below the clients, as a transport. So `submit`, handles, JSON encoding and errors are the
real ones, and a test that passes here has made the same round trip as in production. Differences that remain:
attempts are not stopped at their timeout, retries do not wait, and later jobs run when the test says so.
"""

import asyncio
import contextvars
import io
import logging
import sys
import time
import traceback
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TextIO
from uuid import UUID

import msgspec

from horae.client.app import App
from horae.client.calls import Call
from horae.client.client import AsyncClient, Client
from horae.client.context import Context
from horae.client.discovery import Connection
from horae.client.options import Instant, instant, seconds
from horae.client.outcomes import BadParams, Cancelled, Fatal
from horae.client.task import Task
from horae.client.transport import Answer
from horae.model.errors import (
    HoraeError,
    IdempotencyConflict,
    InvalidInput,
    InvalidParams,
    NotFound,
    UnknownTask,
    WrongState,
)
from horae.model.ids import JobIds
from horae.model.job import DEFAULT_QUEUE, DEFAULT_TENANT, JobRequest, check_request
from horae.model.rank import NORMAL
from horae.model.retry import DEFAULT_MAX_ATTEMPTS
from horae.model.states import State
from horae.model.work import JobError
from horae.wire.jobs import BulkAnswer, BulkItem, Job, JobEvent, JobResult, LogLine, LogPage, ProgressView, Submitted
from horae.wire.problems import encode_problem

_CONNECTION: Final = Connection("inline://", "inline")
_RETRYABLE: Final = frozenset({State.FAILED, State.CANCELLED})


@dataclass
class InlineJob:
    """One job as the test sees it; also the Runtime of its Context."""

    id: str
    task: Task[..., Any]
    request: JobRequest
    run_at: datetime
    created_at: datetime
    state: State = State.READY
    attempt: int = 0
    attempts_left: int = 0
    result: bytes | None = None
    error: JobError | None = None
    checkpoints: list[bytes] = field(default_factory=list)
    latest_progress: ProgressView | None = None
    lines: list[LogLine] = field(default_factory=list)
    cancel_requested: bool = False

    def cancelled(self) -> bool:
        return self.cancel_requested

    def progress(self, done: float, total: float | None, note: str | None) -> None:
        self.latest_progress = ProgressView(done, total, note)

    def checkpoint(self, data: bytes) -> None:
        self.checkpoints.append(data)

    @property
    def max_attempts(self) -> int:
        return self.request.max_attempts or self.task.definition.max_attempts or DEFAULT_MAX_ATTEMPTS

    def context(self) -> Context:
        timeout = seconds(self.request.timeout or self.task.definition.timeout, "timeout")
        return Context(
            job_id=self.id,
            attempt=self.attempt,
            max_attempts=self.max_attempts,
            task=self.task.name,
            runtime=self,
            deadline=None if timeout is None else time.monotonic() + timeout,
            saved=self.checkpoints[-1] if self.checkpoints else None,
        )

    def write(self, stream: str, text: str) -> None:
        self.lines.append(LogLine(self.attempt, len(self.lines), stream, datetime.now(UTC), text))


_running: contextvars.ContextVar[InlineJob | None] = contextvars.ContextVar("horae_inline_job", default=None)


class InlineRun:
    """What `inline(app)` gives: the jobs, and the time."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.now = datetime.now(UTC)
        self._ids = JobIds()
        self._jobs: dict[str, InlineJob] = {}
        self._keys: dict[str, tuple[bytes | None, str]] = {}

    @property
    def jobs(self) -> list[InlineJob]:
        return list(self._jobs.values())

    def until(self, when: Instant) -> None:
        """Moves the time on to `when` and runs what is due by then, in order."""
        end = instant(when, "when")
        if end is None or end.tzinfo is None:
            raise InvalidInput(f"until: {when} has no offset; write e.g. 2026-11-20T10:00:00Z")
        while job := self._next(end):
            self.now = max(self.now, job.run_at)
            self._attempt(job)
        self.now = max(self.now, end)

    def drain(self) -> None:
        """Runs everything that is left, moving the time on as far as it takes."""
        while job := self._next(None):
            self.now = max(self.now, job.run_at)
            self._attempt(job)

    async def adrain(self) -> None:
        """The same for async tasks that belong to the running event loop."""
        while job := self._next(None):
            self.now = max(self.now, job.run_at)
            await self._attempt_async(job)

    def run_due(self) -> None:
        while job := self._next(self.now):
            self._attempt(job)

    async def run_due_async(self) -> None:
        while job := self._next(self.now):
            await self._attempt_async(job)

    def _next(self, end: datetime | None) -> InlineJob | None:
        waiting = (job for job in self._jobs.values() if job.state in (State.READY, State.SCHEDULED))
        due = (job for job in waiting if end is None or job.run_at <= end)
        return min(due, key=lambda job: job.run_at, default=None)

    def _attempt(self, job: InlineJob) -> None:
        with self._recorded(job) as params:
            job.result = _call(job.task, params, job.context())

    async def _attempt_async(self, job: InlineJob) -> None:
        with self._recorded(job) as params:
            job.result = await job.task.invoke_async(params, job.context())

    @contextmanager
    def _recorded(self, job: InlineJob) -> Iterator[bytes]:
        """One attempt: what comes out of the body decides the job's next state."""
        job.state, job.attempt, job.attempts_left = State.RUNNING, job.attempt + 1, job.attempts_left - 1
        before = _running.set(job)
        try:
            yield msgspec.json.encode(job.request.params)
            job.state, job.error = State.SUCCEEDED, None
        except Cancelled as error:
            job.state, job.error = State.CANCELLED, _error(error)
        except Exception as error:  # noqa: BLE001 - whatever the user's task raises is its failure
            over = isinstance(error, Fatal) or job.attempts_left <= 0
            job.state, job.error = State.FAILED if over else State.READY, _error(error)
        finally:
            _running.reset(before)

    def answer(self, call: Call[Any]) -> Answer:
        try:
            status, body = self._route(call)
        except HoraeError as error:
            return Answer(error.status, encode_problem(error))
        return Answer(status, msgspec.json.encode(body))

    def _route(self, call: Call[Any]) -> tuple[int, Any]:
        match call.method, call.path.strip("/").split("/")[1:]:
            case "POST", ["jobs"]:
                return 201, self._submit_once(call)
            case "POST", ["jobs", "bulk"]:
                return 200, self._submit_bulk(call.body or b"")
            case "GET", ["jobs", job_id]:
                return 200, _view(self._job(job_id))
            case "DELETE", ["jobs", job_id]:
                return 200, _view(self._cancel(self._job(job_id)))
            case "POST", ["jobs", job_id, "retry"]:
                return 200, _view(self._retry(self._job(job_id)))
            case "GET", ["jobs", job_id, "result"]:
                return 200, self._result(self._job(job_id))
            case "GET", ["jobs", job_id, "logs"]:
                return 200, LogPage([] if call.query.get("cursor") else self._job(job_id).lines)
        raise NotFound(f"the inline mode has no {call.method} {call.path}: use a server, or look at run.jobs")

    def _job(self, job_id: str) -> InlineJob:
        if job_id not in self._jobs:
            raise NotFound(f"there is no job {job_id} in this inline run")
        return self._jobs[job_id]

    def _submit_once(self, call: Call[Any]) -> Submitted:
        key = call.headers.get("Idempotency-Key")
        body, job_id = self._keys.get(key or "", (None, ""))
        if job_id:
            if body != call.body:
                raise IdempotencyConflict(f"the idempotency key {key!r} was used with another body")
            return Submitted(job_id, self._job(job_id).state, existing=True)
        job = self._submit(msgspec.json.decode(call.body or b"", type=JobRequest))
        if key is not None:
            self._keys[key] = (call.body, job.id)
        return Submitted(job.id, job.state)

    def _submit_bulk(self, body: bytes) -> BulkAnswer:
        items = []
        for line in body.splitlines():
            try:
                job = self._submit(msgspec.json.decode(line, type=JobRequest))
                items.append(BulkItem(id=job.id, state=job.state))
            except HoraeError as error:
                items.append(BulkItem(code=error.code, detail=error.detail))
        accepted = sum(item.id is not None for item in items)
        return BulkAnswer(accepted, len(items) - accepted, items)

    def _submit(self, request: JobRequest) -> InlineJob:
        task = self.app.tasks.get(check_request(request).task)
        if task is None:
            raise UnknownTask(f"the app has no task {request.task!r}")
        try:
            task.signature.decode(msgspec.json.encode(request.params), None)
        except BadParams as error:
            raise InvalidParams(str(error)) from error
        run_at = request.run_at or self.now + timedelta(seconds=seconds(request.delay, "delay") or 0.0)
        job = InlineJob(str(self._ids.make(time.time())), task, request, run_at, self.now)
        job.attempts_left = job.max_attempts
        job.state = State.SCHEDULED if run_at > self.now else State.READY
        self._jobs[job.id] = job
        return job

    def _cancel(self, job: InlineJob) -> InlineJob:
        if job.state.ended:
            raise WrongState(f"job {job.id} has {job.state} already")
        job.cancel_requested = True
        if job.state is not State.RUNNING:
            job.state = State.CANCELLED
        return job

    def _retry(self, job: InlineJob) -> InlineJob:
        if job.state not in _RETRYABLE:
            raise WrongState(f"job {job.id} is {job.state}: only failed and cancelled jobs are retried")
        job.state, job.cancel_requested, job.attempts_left = State.READY, False, job.max_attempts
        return job

    def _result(self, job: InlineJob) -> JobResult:
        # A real server would wait; here nobody else could make the job run meanwhile.
        if not job.state.ended:
            raise WrongState(
                f"job {job.id} is {job.state}, due at {job.run_at}: call run.until(…) or run.drain() first"
            )
        result = None if job.result is None else msgspec.Raw(job.result)
        return JobResult(id=UUID(job.id), state=job.state, result=result, error=job.error)

    def stream(self, call: Call[Any]) -> Iterator[Answer | bytes]:
        """The whole of a stream at once: jobs do not run while somebody reads."""
        _, _, _, job_id, kind = call.path.split("/")
        job = self._job(job_id)
        self._result(job)
        yield Answer(200, b"")
        end = msgspec.json.encode(JobEvent(UUID(job.id), job.state, job.attempt, self.now, job.latest_progress))
        if kind == "logs":
            for line in job.lines:
                yield b"event: log\ndata: " + msgspec.json.encode(line) + b"\n\n"
        yield (b"event: end" if kind == "logs" else b"event: state") + b"\ndata: " + end + b"\n\n"


class InlineTransport:
    def __init__(self, run: InlineRun) -> None:
        self._run = run

    def send(self, call: Call[Any], timeout: float) -> Answer:
        answer = self._run.answer(call)
        self._run.run_due()
        return answer

    def stream(self, call: Call[Any], timeout: float) -> Generator[Answer | bytes, None, None]:
        yield from self._run.stream(call)

    def close(self) -> None: ...


class AsyncInlineTransport:
    def __init__(self, run: InlineRun) -> None:
        self._run = run

    async def send(self, call: Call[Any], timeout: float) -> Answer:
        answer = self._run.answer(call)
        await self._run.run_due_async()
        return answer

    async def stream(self, call: Call[Any], timeout: float) -> AsyncGenerator[Answer | bytes, None]:
        for piece in self._run.stream(call):
            yield piece

    async def close(self) -> None: ...


@contextmanager
def inline(app: App) -> Iterator[InlineRun]:
    """`with inline(app) as run:` – jobs that are due run at once, the others with `run.until(…)` or `run.drain()`."""
    run = InlineRun(app)
    former = app.clients.swap(
        Client(connection=_CONNECTION, transport=InlineTransport(run)),
        AsyncClient(connection=_CONNECTION, transport=AsyncInlineTransport(run)),
    )
    try:
        with _captured(app):
            yield run
    finally:
        app.clients.swap(*former)


@contextmanager
def _captured(app: App) -> Iterator[None]:
    """Copies what jobs print and log into their own logs; everything still goes where it went before."""
    handler = _JobHandler()
    levels = {name: logging.getLogger(name).level for name in app.tasks}
    for name, level in levels.items():
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.setLevel(level or logging.INFO)
    try:
        with redirect_stdout(_Tee("stdout", sys.stdout)), redirect_stderr(_Tee("stderr", sys.stderr)):
            yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).removeHandler(handler)
            logging.getLogger(name).setLevel(level)


class _JobHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if job := _running.get():
            job.write("stderr", self.format(record) + "\n")


class _Tee(io.TextIOBase):
    def __init__(self, stream: str, beyond: TextIO) -> None:
        self._stream = stream
        self._beyond = beyond

    def write(self, text: str) -> int:
        if (job := _running.get()) and text.strip():
            job.write(self._stream, text)
        return self._beyond.write(text)

    def flush(self) -> None:
        self._beyond.flush()


def _call(task: Task[..., Any], params: bytes, ctx: Context) -> bytes:
    """A coroutine needs a loop of its own, and so a thread of its own where a loop is running already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return task.invoke(params, ctx)
    if not task.is_async:
        return task.invoke(params, ctx)
    run: Callable[..., bytes] = contextvars.copy_context().run
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run, task.invoke, params, ctx).result()


def _error(error: BaseException) -> JobError:
    return JobError(type(error).__name__, str(error), "".join(traceback.format_exception(error)))


def _view(job: InlineJob) -> Job:
    asked, defaults = job.request, job.task.definition
    return Job(
        id=UUID(job.id),
        task=job.task.name,
        state=job.state,
        queue=asked.queue or defaults.queue or DEFAULT_QUEUE,
        tenant=asked.tenant or DEFAULT_TENANT,
        priority=asked.priority or defaults.priority or NORMAL,
        params=asked.params,
        run_at=job.run_at,
        created_at=job.created_at,
        attempt=job.attempt,
        max_attempts=job.max_attempts,
        error=job.error,
        deadline=asked.deadline,
        concurrency_key=asked.concurrency_key,
        labels=asked.labels,
        progress=job.latest_progress,
        cancel_requested=job.cancel_requested,
    )
