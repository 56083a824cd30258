"""The agent: joins, runs jobs until it is stopped or loses its lease, and in the latter case joins again.

Invariant: a job runs here only while the server has promised not to give it to anybody else. When the lease cannot be
renewed in time, or the server says it is gone (410), everything that runs is killed and forgotten first.
"""

import asyncio
import contextlib
import math
import os
import secrets
import socket
from collections.abc import Coroutine
from functools import partial
from typing import Any, Final, TypeVar

import structlog

import horae
from horae import failpoints
from horae.model.errors import HoraeError, SetupError, WorkerGone
from horae.model.kinds import Kind
from horae.model.matching import Free
from horae.model.work import Finished
from horae.wire.workers import Exchanged, Heartbeat, HeartbeatAnswer, Join, Joined
from horae.worker.appetite import Appetite
from horae.worker.backoff import Backoff
from horae.worker.burden import Burden
from horae.worker.clock import now
from horae.worker.config import AgentConfig, Connection
from horae.worker.courier import Courier
from horae.worker.crew import Crew
from horae.worker.disclosure import Disclosure
from horae.worker.dispatch import Dispatch
from horae.worker.endings import Endings
from horae.worker.errands import runners
from horae.worker.errands.collection import Collection
from horae.worker.errands.errands import Errands
from horae.worker.errands.presence import Services
from horae.worker.errands.quarters import Quarters, open_quarters
from horae.worker.errands.roster import Place
from horae.worker.errands.runners import MakeRunner
from horae.worker.heart import Heart
from horae.worker.host import resources
from horae.worker.lease import Lease
from horae.worker.link import Link, is_refusal
from horae.worker.load import HostLoad
from horae.worker.messages import TaskInfo
from horae.worker.orphans import Orphans
from horae.worker.race import first_of
from horae.worker.results import Results
from horae.worker.shipping import Shipper
from horae.worker.uploads import Uploads

log = structlog.get_logger()
_LOOK_SECONDS: Final = 0.1
_LOOKS_PER_SURVEY: Final = 10
_CHILD_MARK: Final = "HORAE_CHILD_OF"
T = TypeVar("T")

__all__ = ["Agent", "AgentConfig", "Connection"]


class Agent:
    def __init__(
        self, config: AgentConfig, connection: Connection, app_spec: str | None, make_runner: MakeRunner | None = None
    ) -> None:
        self._config = config
        self._connection = connection
        self._spec = app_spec
        usual = partial(runners.make_runner, url=connection.url, config=config)
        self._make_runner = make_runner or usual
        self._stopping = asyncio.Event()
        self._stopping_now = asyncio.Event()
        self._lease = Lease(0, 0)
        self._load = HostLoad()
        self._orphans = Orphans()
        self._resources = resources(config)

    def stop(self) -> None:
        """Finish what runs, hand back the rest, leave. The second time: at once."""
        (self._stopping_now if self._stopping.is_set() else self._stopping).set()

    async def run(self) -> None:
        """Until stopped. Raises when the app cannot be loaded, a kind not run, or the server refuses the worker."""
        quarters = open_quarters(self._config)
        self._assemble(quarters)
        try:
            introduction = await self._unless_stopped(self._get_ready(quarters))
            if introduction is not None:
                await self._serve(introduction)
        finally:
            await self._errands.close()
            await self._dispatch.crew.close()
            await self._link.close()
            if quarters is not None:
                await quarters.close()

    async def _get_ready(self, quarters: Quarters | None) -> Join:
        kinds, infos = await asyncio.gather(
            self._errands.prepare(quarters, self._make_runner), self._dispatch.crew.start(self._results)
        )
        if self._spec is not None and not infos:
            raise SetupError(f"{self._spec}: the app has no tasks; decorate a function with @app.task()")
        if not infos and not kinds:
            raise SetupError("there is nothing that this worker could run: the log says what each kind of task lacks")
        return self._introduction(infos, kinds)

    def _assemble(self, quarters: Quarters | None) -> None:
        link = self._link = Link(self._connection)
        self._courier = Courier(link, self._want, self._free, self._exchanged, lambda: self._lease.over)
        self._shipper = Shipper(link, self._finish)
        self._uploads = Uploads(link, self._courier.bring)
        marks = [] if quarters is None else [quarters.mark_of_all]
        crew = Crew(self._config, self._spec, f"{_CHILD_MARK}={secrets.token_hex(8)}", *marks)
        burden = Burden(self._config, self._resources)
        self._dispatch = Dispatch(self._config, crew, burden, self._finish, self._shipper.ended, self._begin_errand)
        self._appetite = Appetite(self._config, self._dispatch)
        self._results = Results(
            self._config, self._dispatch, self._shipper.wrote, self._uploads.save, self._courier.wake,
            Disclosure(link).give,
        )  # fmt: skip
        self._endings = Endings(self._config, self._dispatch)
        services = Services(
            self._shipper.wrote,
            self._shipper.piece,
            self._dispatch.progress,
            self._uploads.checkpoint,
            crew,
            Collection(link, self._config.files_limit).collect,
            self._config.log_limit,
        )
        self._errands = Errands(self._config, self._dispatch, link, services, self._courier.wake)
        self._heart = Heart(link, self._describe, self._dispatch.progress, self._answered, crew.extend)

    # The life of a worker.

    async def _serve(self, introduction: Join) -> None:
        while not self._stopping.is_set():
            joined = await self._unless_stopped(self._join(introduction))
            if joined is None:
                return
            try:
                await self._stay(joined)
            except WorkerGone as error:
                log.warning("membership_over", worker=joined.worker_id, reason=str(error))
                await self._forget_everything()

    async def _join(self, request: Join) -> Joined:
        backoff = Backoff()
        while True:
            sent = now()
            try:
                joined = await self._link.join(request)
            except HoraeError as error:
                if is_refusal(error) or error.status in (401, 403):
                    raise
                log.warning("join_failed", error=str(error))
                await backoff.wait()
            else:
                failpoints.reach("worker.after_join")
                self._lease = Lease(joined.lease_seconds, sent)
                log.info("joined", worker=joined.worker_id, slots=request.slots, tasks=len(request.tasks))
                return joined

    def _introduction(self, infos: list[TaskInfo], kinds: list[str]) -> Join:
        config, has = self._config, self._resources
        slots = self._dispatch.learn(infos, kinds)
        return Join(
            name=config.name,
            host=socket.gethostname(),
            pid=os.getpid(),
            version=horae.__version__,
            slots=sum(slots.values()),
            widest=min(slots.values()),
            tasks=[info.definition for info in infos],
            queues=config.queues,
            labels=config.labels,
            region=config.region,
            zone=config.zone,
            kind=config.kind,
            cpus=has.cpu,
            memory=has.memory,
            gpus=has.gpu,
            disk=has.disk,
            kinds=[Kind.FUNCTION.value, *kinds] if infos else kinds,
        )

    async def _stay(self, joined: Joined) -> None:
        """One membership. Returns when drained; raises WorkerGone when it is over before that."""
        courier = self._courier
        await first_of(
            courier.fetch(),
            courier.fetch_beside(),
            courier.report(),
            courier.report_beside(),
            self._heart.run(joined, self._lease),
            self._shipper.run(),
            self._watch(),
            self._drain(),
        )
        await self._errands.end_all()
        await self._dispatch.crew.end_all(lambda child: bool(child.jobs))
        with contextlib.suppress(HoraeError):
            await self._link.post("leave")
        log.info("left", worker=joined.worker_id)

    async def _watch(self) -> None:
        looks = 0
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if self._lease.over:
                raise WorkerGone(
                    "no heartbeat was answered in time: the lease may end, so what runs here must end first"
                )
            looks += 1
            self._endings.tick()
            self._errands.tick()
            self._dispatch.crew.tick()
            self._shipper.tick()
            if looks % _LOOKS_PER_SURVEY == 0:
                self._orphans.reap()
                self._dispatch.crew.recycle()
                self._dispatch.hand_back_overdue()

    async def _forget_everything(self) -> None:
        self._dispatch.forget()
        await asyncio.gather(self._errands.end_all(), self._dispatch.crew.end_all(lambda child: child.discarded))
        self._courier.reset()
        self._shipper.reset()
        self._uploads.reset()
        self._dispatch.crew.extend(math.inf)
        self._dispatch.draining = self._stopping.is_set()

    # Stopping.

    async def _drain(self) -> None:
        """Returns when nothing is left to do, or time is up."""
        await self._stopping.wait()
        log.info("draining", held=self._dispatch.held)
        self._set_draining(on=True)
        give_up = now() + self._config.drain_timeout
        # Four parts must be idle at the same moment: asking them is simpler than four events.
        while now() < give_up and not self._stopping_now.is_set() and not self._is_idle():  # noqa: ASYNC110
            await asyncio.sleep(0.02)

    def _is_idle(self) -> bool:
        return not self._dispatch.held and self._shipper.idle and self._uploads.idle and self._courier.idle

    def _set_draining(self, *, on: bool) -> None:
        on = on or self._stopping.is_set()
        if on and not self._dispatch.draining:
            self._dispatch.draining = True
            self._courier.stop_polling()
            self._dispatch.hand_back()
        elif not on and self._dispatch.draining:
            self._dispatch.draining = False
            self._courier.wake()

    async def _unless_stopped(self, work: Coroutine[Any, Any, T]) -> T | None:
        stopped = self._stopping.wait()
        task = asyncio.ensure_future(work)
        try:
            await first_of(asyncio.wait([task]), stopped)
            return task.result() if task.done() else None
        finally:
            task.cancel()
            # What it had begun it takes back, and must be done with that before we leave.
            await asyncio.gather(task, return_exceptions=True)

    # What comes and goes.

    def _want(self, asked: int) -> int:
        return self._appetite.want(asked)

    def _free(self) -> Free | None:
        return self._dispatch.free()

    def _exchanged(self, answer: Exchanged) -> None:
        self._set_draining(on=answer.drain)
        if answer.jobs:
            self._appetite.granted(len(answer.jobs), self._dispatch.count_concurrent(answer.jobs))
            failpoints.reach("worker.before_start")
            self._dispatch.give(answer.jobs)
        self._endings.cancel(answer.cancel)

    def _answered(self, answer: HeartbeatAnswer) -> None:
        self._set_draining(on=answer.drain)
        self._endings.cancel(answer.cancel)

    def _begin_errand(self, place: Place) -> None:
        self._errands.begin(place)

    def _finish(self, outcomes: list[Finished]) -> None:
        for outcome in outcomes:
            if outcome.blob is not None:
                self._uploads.result(outcome)
        self._courier.bring([outcome for outcome in outcomes if outcome.blob is None])

    def _describe(self) -> Heartbeat:
        dispatch, load = self._dispatch, self._load
        running = dispatch.running
        return Heartbeat(
            running=running,
            queued=dispatch.held - running,
            cpu=load.cpu(),
            memory=load.memory(),
            lost=self._courier.lost,
        )
