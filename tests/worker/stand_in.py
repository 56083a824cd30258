"""A scripted server: plays the worker protocol exactly, and misbehaves on request."""

import asyncio
import uuid
from collections import deque
from typing import Any

import msgspec
from aiohttp import web

from horae.model.errors import HoraeError, NotReady, WorkerGone, WrongState
from horae.model.matching import Free
from horae.model.states import End
from horae.model.task import TaskDefinition
from horae.model.work import CancelOrder, Finished, Grant, Progress
from horae.wire.briefs import Brief, BriefRequest
from horae.wire.problems import CONTENT_TYPE, encode_problem
from horae.wire.workers import (
    CheckpointUpload,
    Exchange,
    Exchanged,
    Heartbeat,
    HeartbeatAnswer,
    Join,
    Joined,
    LogChunk,
    LogUpload,
    Stale,
)

DEADLINE = 100.0
"""Costs time only in tests that fail."""


class StandIn:
    def __init__(self) -> None:
        self.lease_seconds, self.heartbeat_seconds = 15.0, 0.2
        self.joins: list[Join] = []
        self.left: list[int] = []
        self.gone: set[int] = set()
        self.ready: deque[Grant] = deque()
        self.leased: dict[tuple[str, int], int] = {}
        self.finished: dict[str, Finished] = {}
        self.handed_back: list[str] = []
        """Ids of jobs that never started there, as they came. They are ready again."""
        self.order: list[str] = []
        """Ids of finished jobs and `log:ID` of uploads, as they came."""
        self.stale: list[Stale] = []
        self.lost: set[int] = set()
        self.beats: list[Heartbeat] = []
        self.progress: list[Progress] = []
        self.chunks: list[LogChunk] = []
        self.results: dict[str, bytes] = {}
        self.checkpoints: dict[str, bytes] = {}
        self.cancels: list[CancelOrder] = []
        self.mute = False
        """Heartbeats are not answered."""
        self.logs_down = False
        self.refuse_checkpoints = False
        self.tasks: dict[str, TaskDefinition] = {}
        """Those that are data, by the name that grants give them."""
        self.secrets: dict[str, str] = {}
        self.refuse_briefs: HoraeError | None = None
        self.briefed: list[BriefRequest] = []
        self.drain = False
        self.break_fetches = 0
        """So many fetches that grant something lose their answer."""
        self.break_completions: str | None = None
        """`before` or `after`: the next call that carries completions breaks before or after they are stored."""
        self.hold_completions = False
        """Calls that do nothing but bring completions are not answered, until `let_go`."""
        self.held: list[int] = []
        """How many completions each of those under way carries."""
        self.largest_want = 0
        self.free: list[Free | None] = []
        """What exchanges said of what is left, as they came."""
        self._granted: dict[tuple[int, int], list[Grant]] = {}
        self._grants: dict[str, Grant] = {}
        self._changed = asyncio.Condition()
        self._runner: web.AppRunner
        self.url = ""

    async def start(self) -> None:
        app = web.Application(client_max_size=1 << 28, middlewares=[_problems])
        app.router.add_post("/v1/workers", self._join)
        calls = {
            "exchange": self._exchange,
            "heartbeat": self._heartbeat,
            "logs": self._logs,
            "checkpoints": self._checkpoint,
            "briefs": self._brief,
            "leave": self._leave,
        }
        for name, handler in calls.items():
            app.router.add_post(f"/v1/workers/{{worker}}/{name}", handler)
        app.router.add_put("/v1/workers/{worker}/results/{job}/{attempt}", self._result)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def stop(self) -> None:
        await self._runner.cleanup()

    # What a test does.

    async def submit(
        self,
        task: str,
        timeout: float | None = None,
        attempt: int = 1,
        checkpoint: Any = None,
        needs: dict[str, Any] | None = None,
        **params: Any,
    ) -> str:
        return (await self.submit_many(task, [params], timeout, attempt, checkpoint, needs))[0]

    async def submit_many(
        self,
        task: str,
        params: list[dict[str, Any]],
        timeout: float | None = None,
        attempt: int = 1,
        checkpoint: Any = None,
        needs: dict[str, Any] | None = None,
    ) -> list[str]:
        saved = None if checkpoint is None else msgspec.Raw(msgspec.json.encode(checkpoint))
        grants = [
            Grant(
                id=str(uuid.uuid4()),
                lane=7,
                attempt=attempt,
                task=task,
                timeout=timeout,
                checkpoint=saved,
                params=msgspec.Raw(msgspec.json.encode(one)),
                **(needs or {}),
            )
            for one in params
        ]
        self.ready.extend(grants)
        await self._notify()
        return [grant.id for grant in grants]

    async def until(self, condition: Any, deadline: float = DEADLINE) -> None:
        async with asyncio.timeout(deadline), self._changed:
            await self._changed.wait_for(condition)

    async def done(self, *ids: str) -> list[Finished]:
        await self.until(lambda: all(job in self.finished for job in ids))
        return [self.finished[job] for job in ids]

    async def run(self, task: str, timeout: float | None = None, **params: Any) -> Finished:
        return (await self.done(await self.submit(task, timeout, **params)))[0]

    async def let_go(self) -> None:
        self.hold_completions = False
        await self._notify()

    def text(self, job: str, stream: str | None = None) -> str:
        chunks = sorted((c for c in self.chunks if c.id == job and stream in (None, c.stream)), key=lambda c: c.seq)
        return "".join(chunk.text for chunk in chunks)

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    # The protocol.

    def _worker(self, request: web.Request) -> int:
        worker = int(request.match_info["worker"])
        if worker in self.gone:
            raise WorkerGone(f"worker {worker} is gone")
        return worker

    async def _join(self, request: web.Request) -> web.Response:
        self.joins.append(msgspec.json.decode(await request.read(), type=Join))
        await self._notify()
        joined = Joined(len(self.joins), self.lease_seconds, self.heartbeat_seconds)
        return web.Response(body=msgspec.json.encode(joined), status=201, content_type="application/json")

    async def _exchange(self, request: web.Request) -> web.Response:
        worker = self._worker(request)
        call = msgspec.json.decode(await request.read(), type=Exchange)
        self._take_back(worker, call.lost)
        self.largest_want = max(self.largest_want, call.want)
        self.free.append(call.free)
        breaks = self.break_completions if call.finished else None
        if breaks:
            self.break_completions = None
        if breaks == "before":
            raise ConnectionResetError
        if self.hold_completions and not call.want:
            await self._hold(len(call.finished))
        stale = [Stale(job.id, job.attempt) for job in call.finished if not self._complete(worker, job)]
        self.stale += stale
        await self._notify()
        if breaks == "after":
            raise ConnectionResetError
        jobs = await self._claim(worker, call) if call.want else []
        if self.break_fetches and jobs:
            self.break_fetches -= 1
            raise ConnectionResetError
        return _json(Exchanged(jobs=jobs, stale=stale, cancel=self.cancels, drain=self.drain))

    async def _hold(self, completions: int) -> None:
        self.held.append(completions)
        try:
            await self._notify()
            await self.until(lambda: not self.hold_completions)
        finally:
            self.held.remove(completions)

    def _complete(self, worker: int, job: Finished) -> bool:
        if self.leased.pop((job.id, job.attempt), None) != worker:
            return False
        if job.end is End.UNDELIVERED:
            self._give_again(self._grants[job.id])
            self.handed_back.append(job.id)
            return True
        self.finished[job.id] = job
        self.order.append(job.id)
        return True

    async def _claim(self, worker: int, call: Exchange) -> list[Grant]:
        try:
            await self.until(lambda: (self.ready and not self.drain) or worker in self.gone, call.wait)
        except TimeoutError:
            return []
        if worker in self.gone:
            raise WorkerGone(f"worker {worker} is gone")
        jobs = [self.ready.popleft() for _ in range(min(call.want, len(self.ready)))]
        self.leased.update({(job.id, job.attempt): worker for job in jobs})
        self._grants.update({job.id: job for job in jobs})
        self._granted[worker, call.number] = jobs
        return jobs

    def _give_again(self, job: Grant) -> None:
        self.ready.append(msgspec.structs.replace(job, attempt=job.attempt + 1))

    def _take_back(self, worker: int, numbers: list[int]) -> None:
        """Jobs granted in answers that never arrived are ready again, under a new fence."""
        self.lost.update(numbers)
        for number in numbers:
            for job in self._granted.pop((worker, number), []):
                if self.leased.pop((job.id, job.attempt), None) is not None:
                    self._give_again(job)

    async def _heartbeat(self, request: web.Request) -> web.Response:
        worker = self._worker(request)
        beat = msgspec.json.decode(await request.read(), type=Heartbeat)
        if self.mute:
            raise NotReady("muted")
        self.beats.append(beat)
        self.progress += beat.progress
        self._take_back(worker, beat.lost)
        await self._notify()
        return _json(HeartbeatAnswer(cancel=self.cancels, drain=self.drain))

    async def _logs(self, request: web.Request) -> web.Response:
        self._worker(request)
        upload = msgspec.json.decode(await request.read(), type=LogUpload)
        if self.logs_down:
            raise NotReady("no logs now")
        self.chunks += upload.chunks
        self.order += [f"log:{chunk.id}" for chunk in upload.chunks]
        await self._notify()
        return web.Response(status=204)

    async def _checkpoint(self, request: web.Request) -> web.Response:
        self._worker(request)
        upload = msgspec.json.decode(await request.read(), type=CheckpointUpload)
        if self.refuse_checkpoints:
            raise WrongState("the lease is gone")
        self.checkpoints[upload.id] = bytes(upload.data)
        return web.Response(status=204)

    async def _brief(self, request: web.Request) -> web.Response:
        self._worker(request)
        asked = msgspec.json.decode(await request.read(), type=BriefRequest)
        self.briefed.append(asked)
        await self._notify()
        if self.refuse_briefs is not None:
            raise self.refuse_briefs
        task = self.tasks[self._task_of(asked.id)]
        return _json(Brief(id=asked.id, attempt=asked.attempt, tenant="t", task=task, version=3, secrets=self.secrets))

    def _task_of(self, job: str) -> str:
        return next(grant.task for granted in self._granted.values() for grant in granted if grant.id == job)

    async def _result(self, request: web.Request) -> web.Response:
        self._worker(request)
        self.results[request.match_info["job"]] = await request.read()
        return web.Response(status=204)

    async def _leave(self, request: web.Request) -> web.Response:
        worker = self._worker(request)
        self.left.append(worker)
        for name in [name for name, holder in self.leased.items() if holder == worker]:
            del self.leased[name]
        await self._notify()
        return web.Response(status=204)


@web.middleware
async def _problems(request: web.Request, handler: Any) -> web.StreamResponse:
    try:
        return await handler(request)
    except HoraeError as error:
        return web.Response(body=encode_problem(error), status=error.status, content_type=CONTENT_TYPE)
    except ConnectionResetError:
        request.transport.close()
        return web.Response(status=500)


def _json(answer: Any) -> web.Response:
    return web.Response(body=msgspec.json.encode(answer), content_type="application/json")


__all__ = ["DEADLINE", "End", "StandIn"]
