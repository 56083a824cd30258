"""The server's part in the inline mode (`horae.testing.inline`): answers the clients' calls from memory."""

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import msgspec

from horae.client.calls import Call
from horae.client.inline_job import InlineJob
from horae.client.outcomes import BadParams
from horae.client.task import Task
from horae.client.transport import Answer
from horae.model.errors import HoraeError, IdempotencyConflict, InvalidParams, NotFound, UnknownTask, WrongState
from horae.model.ids import JobIds
from horae.model.job import JobRequest, check_request
from horae.model.states import State
from horae.wire.jobs import BulkAnswer, BulkItem, JobChanges, JobEvent, JobResult, LogPage, Submitted
from horae.wire.problems import encode_problem

_RETRYABLE: Final = frozenset({State.FAILED, State.CANCELLED})


class InlineServer:
    def __init__(self, tasks: dict[str, Task[..., Any]], secrets: Mapping[str, str]) -> None:
        self.now = datetime.now(UTC)
        self.jobs: dict[str, InlineJob] = {}
        self._tasks = tasks
        self._secrets = secrets
        self._ids = JobIds()
        self._keys: dict[str, tuple[bytes | None, str]] = {}

    def next_due(self, end: datetime | None) -> InlineJob | None:
        """The pending job whose time comes first, if it comes by `end`."""
        waiting = (job for job in self.jobs.values() if job.state in (State.READY, State.SCHEDULED))
        due = (job for job in waiting if end is None or job.run_at <= end)
        return min(due, key=lambda job: job.run_at, default=None)

    def answer(self, call: Call[Any]) -> Answer:
        try:
            status, body = self._route(call)
        except HoraeError as error:
            return Answer(error.status, encode_problem(error))
        return Answer(status, msgspec.json.encode(body))

    def stream(self, call: Call[Any]) -> Iterator[Answer | bytes]:
        """The whole of a stream at once: jobs do not run while somebody reads."""
        _, _, _, job_id, kind = call.path.split("/")
        job = self._job(job_id)
        self._result(job)
        yield Answer(200, b"")
        told: dict[str, tuple[bytes, Sequence[msgspec.Struct]]] = {
            "logs": (b"log", job.lines), "partial": (b"partial", job.pieces)
        }  # fmt: skip
        event, items = told.get(kind, (b"", ()))
        for item in items:
            yield b"event: " + event + b"\ndata: " + msgspec.json.encode(item) + b"\n\n"
        outcome = JobEvent(UUID(job.id), job.state, job.attempt, self.now, job.latest_progress)
        name = b"end" if kind in told else b"state"
        yield b"event: " + name + b"\ndata: " + msgspec.json.encode(outcome) + b"\n\n"

    def _route(self, call: Call[Any]) -> tuple[int, Any]:
        match call.method, call.path.strip("/").split("/")[1:]:
            case "POST", ["jobs"]:
                return 201, self._submit_once(call)
            case "POST", ["jobs", "bulk"]:
                return 200, self._submit_bulk(call.body or b"")
            case "GET", ["jobs", job_id]:
                return 200, self._job(job_id).view()
            case "DELETE", ["jobs", job_id]:
                return 200, self._cancel(self._job(job_id)).view()
            case "POST", ["jobs", job_id, "retry"]:
                return 200, self._retry(self._job(job_id), call.body or b"{}").view()
            case "GET", ["jobs", job_id, "result"]:
                return 200, self._result(self._job(job_id))
            case "GET", ["jobs", job_id, "logs"]:
                return 200, LogPage(self._job(job_id).lines)
        raise NotFound(f"the inline mode has no {call.method} {call.path}: use a server, or look at run.jobs")

    def _job(self, job_id: str) -> InlineJob:
        if job_id not in self.jobs:
            raise NotFound(f"there is no job {job_id} in this inline run")
        return self.jobs[job_id]

    def _submit_once(self, call: Call[Any]) -> Submitted:
        key = call.headers.get("Idempotency-Key")
        if key in self._keys:
            body, job_id = self._keys[key]
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
        task = self._tasks.get(check_request(request).task)
        if task is None:
            raise UnknownTask(f"the app has no task {request.task!r}")
        try:
            task.signature.decode(msgspec.json.encode(request.params), None)
        except BadParams as error:
            raise InvalidParams(str(error)) from error
        job = InlineJob(str(self._ids.make(time.time())), task, request, self.now, self.now, given=self._secrets)
        job.enqueue(self.now)
        self.jobs[job.id] = job
        return job

    def _cancel(self, job: InlineJob) -> InlineJob:
        if job.state.ended:
            raise WrongState(f"job {job.id} has {job.state} already")
        job.cancel_requested = True
        if job.state is not State.RUNNING:
            job.state = State.CANCELLED
        return job

    def _retry(self, job: InlineJob, body: bytes) -> InlineJob:
        if job.state not in _RETRYABLE:
            raise WrongState(f"job {job.id} is {job.state}: only failed and cancelled jobs are retried")
        changes = msgspec.structs.asdict(msgspec.json.decode(body, type=JobChanges))
        given = {"run_at": None, "delay": None} | {name: value for name, value in changes.items() if value is not None}
        job.request = check_request(msgspec.structs.replace(job.request, **given))
        job.enqueue(self.now)
        return job

    def _result(self, job: InlineJob) -> JobResult:
        # A real server would wait; here nobody else could make the job run meanwhile.
        if not job.state.ended:
            raise WrongState(f"job {job.id} is {job.state}, due at {job.run_at}: call run.until(…) or run.drain()")
        result = msgspec.UNSET if job.result is None else msgspec.Raw(job.result)
        return JobResult(id=UUID(job.id), state=job.state, result=result, error=job.error)
