"""One job of the inline mode (`horae.testing.inline`): its facts, and how an attempt at it changes them."""

import asyncio
import contextvars
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import msgspec

from horae.client.context import Context
from horae.client.localsecrets import local_secrets
from horae.client.options import seconds
from horae.client.outcomes import Cancelled, Fatal
from horae.client.task import Task
from horae.model.job import DEFAULT_QUEUE, DEFAULT_TENANT, JobRequest
from horae.model.rank import NORMAL
from horae.model.retry import DEFAULT_MAX_ATTEMPTS
from horae.model.states import State
from horae.model.work import JobError
from horae.wire.files import Partial
from horae.wire.jobs import Job, LogLine, ProgressView


@dataclass
class InlineJob:
    """Also the Runtime of its own Context."""

    id: str
    task: Task[..., Any]
    request: JobRequest
    created_at: datetime
    run_at: datetime
    state: State = State.READY
    attempt: int = 0
    attempts_left: int = 0
    result: bytes | None = None
    error: JobError | None = None
    checkpoints: list[bytes] = field(default_factory=list)
    latest_progress: ProgressView | None = None
    lines: list[LogLine] = field(default_factory=list)
    pieces: list[Partial] = field(default_factory=list)
    cancel_requested: bool = False
    given: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Secrets of the test."""

    def cancelled(self) -> bool:
        return self.cancel_requested

    def moving(self) -> bool:
        return False

    def progress(self, done: float, total: float | None, note: str | None) -> None:
        self.latest_progress = ProgressView(done, total, note)

    def checkpoint(self, data: bytes) -> None:
        self.checkpoints.append(data)

    def partial(self, data: bytes) -> None:
        self.pieces.append(Partial(self.attempt, len(self.pieces), datetime.now(UTC), msgspec.Raw(data)))

    def secrets(self) -> dict[str, str]:
        return local_secrets(self.task.definition, self.given)

    def write(self, stream: str, text: str) -> None:
        self.lines.append(LogLine(self.attempt, len(self.lines), stream, datetime.now(UTC), text))

    @property
    def max_attempts(self) -> int:
        return self.request.max_attempts or self.task.definition.max_attempts or DEFAULT_MAX_ATTEMPTS

    def enqueue(self, now: datetime) -> None:
        """Makes it wait for its time, with all its attempts before it."""
        self.run_at = self.request.run_at or now + timedelta(seconds=seconds(self.request.delay, "delay") or 0.0)
        self.state = State.SCHEDULED if self.run_at > now else State.READY
        self.cancel_requested, self.attempts_left = False, self.max_attempts

    def run(self) -> None:
        with self._attempting() as (params, ctx):
            self.result = _invoke(self.task, params, ctx)

    async def run_async(self) -> None:
        with self._attempting() as (params, ctx):
            self.result = await self.task.invoke_async(params, ctx)

    @contextmanager
    def _attempting(self) -> Iterator[tuple[bytes, Context]]:
        """One attempt: what comes out of the body decides the next state."""
        self.state, self.attempt, self.attempts_left = State.RUNNING, self.attempt + 1, self.attempts_left - 1
        before = RUNNING.set(self)
        try:
            yield msgspec.json.encode(self.request.params), self._context()
            self.state, self.error = State.SUCCEEDED, None
        except Cancelled as error:
            self.state, self.error = State.CANCELLED, _error(error)
        except Exception as error:  # noqa: BLE001 - whatever the user's task raises is its failure
            over = isinstance(error, Fatal) or self.attempts_left <= 0
            self.state, self.error = State.FAILED if over else State.READY, _error(error)
        finally:
            RUNNING.reset(before)

    def _context(self) -> Context:
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

    def view(self) -> Job:
        asked, defaults = self.request, self.task.definition
        return Job(
            id=UUID(self.id),
            task=self.task.name,
            state=self.state,
            queue=asked.queue or defaults.queue or DEFAULT_QUEUE,
            tenant=asked.tenant or DEFAULT_TENANT,
            priority=asked.priority or defaults.priority or NORMAL,
            params=asked.params,
            run_at=self.run_at,
            created_at=self.created_at,
            attempt=self.attempt,
            max_attempts=self.max_attempts,
            error=self.error,
            deadline=asked.deadline,
            retry=asked.retry or defaults.retry,
            concurrency_key=asked.concurrency_key,
            labels=asked.labels,
            progress=self.latest_progress,
            cancel_requested=self.cancel_requested,
        )


RUNNING: Final[contextvars.ContextVar[InlineJob | None]] = contextvars.ContextVar("horae_inline_job", default=None)
"""The job that the current thread or coroutine runs: its output goes to that job's log."""


def _invoke(task: Task[..., Any], params: bytes, ctx: Context) -> bytes:
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
