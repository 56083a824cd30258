"""Fleet: workers join, renew, drain, leave, and their lost answers are taken back."""

from collections.abc import Sequence
from typing import Final

import asyncpg
import msgspec
import structlog

from horae import failpoints
from horae.engine.access import Caller
from horae.engine.clock import DatabaseClock
from horae.engine.complete import Complete
from horae.engine.offers import offer_of
from horae.engine.sessions import Session
from horae.engine.signals import Signals
from horae.engine.taskrows import SHARED
from horae.engine.tasks import Tasks
from horae.model.durations import parse_duration
from horae.model.errors import InvalidInput, NotFound, WorkerGone, WrongState
from horae.model.job import check_labels, check_name
from horae.model.kinds import Kind
from horae.model.sizes import LARGEST
from horae.model.states import End
from horae.model.task import TaskDefinition
from horae.model.wishes import check_word
from horae.model.work import CancelOrder, Finished, Grant, Progress
from horae.store.workers import Workers

log = structlog.get_logger()

LEASE_SECONDS: Final = 15.0
HEARTBEATS_A_LEASE: Final = 3
MAX_SLOTS: Final = 100_000
MAX_TASKS: Final = 10_000
MAX_REASON: Final = 500
RELEASE_BATCH: Final = 1000
MANY_SESSIONS: Final = 1000
MAX_EVENTS: Final = 200
MAX_RUNS: Final = 20_000
"""Pairs of worker and task."""
GONE: Final = "the worker's lease has ended: kill what it runs and join again"


class Joining(msgspec.Struct, kw_only=True, frozen=True):
    """What a worker says of itself."""

    name: str
    host: str
    slots: int
    tasks: Sequence[TaskDefinition]
    queues: Sequence[str] | None = None
    labels: dict[str, str] = {}
    version: str = ""
    pid: int | None = None
    cpus: float | None = None
    memory: int | None = None
    region: str | None = None
    zone: str | None = None
    kind: str | None = None
    gpus: float | None = None
    disk: int | None = None
    kinds: Sequence[str] = ()
    widest: int | None = None


class Steering(msgspec.Struct, kw_only=True, frozen=True):
    """Why a worker is drained, and for how long; without an end until somebody lets it go on."""

    reason: str = ""
    lasts: str | float | None = None


class Load(msgspec.Struct, frozen=True):
    running: int
    queued: int
    cpu: float | None
    memory: float | None


class Fleet:
    def __init__(
        self,
        workers: Workers,
        tasks: Tasks,
        complete: Complete,
        signals: Signals,
        clock: DatabaseClock,
        lease_seconds: float,
    ) -> None:
        self._workers = workers
        self._tasks = tasks
        self._complete = complete
        self._clock = clock
        self.lease_seconds = lease_seconds
        self._sessions: dict[int, Session] = {}
        signals.on_cancel.append(self._note_cancel)
        signals.on_lost.append(self._forget)

    @property
    def heartbeat_seconds(self) -> float:
        return self.lease_seconds / HEARTBEATS_A_LEASE

    async def join(self, by: Caller, worker: Joining) -> int:
        """Registers a worker and its tasks (shared with all tenants when it serves all) and starts its lease."""
        self._check(worker)
        for task in worker.tasks:
            await self._tasks.register(SHARED if by.tenant_id is None else by.tenant_id, task, by.name)
        names = sorted({task.name for task in worker.tasks})
        worker_id = await self._workers.worker_join(
            by.tenant_id,
            worker.name,
            worker.host,
            worker.slots,
            names,
            worker.queues,
            msgspec.json.encode(worker.labels).decode(),
            worker.version,
            worker.pid,
            worker.cpus,
            worker.memory,
            worker.region,
            worker.zone,
            worker.kind,
            worker.gpus,
            worker.disk,
            worker.kinds,
            worker.widest,
            self.lease_seconds,
        )
        log.info("worker_joined", worker=worker_id, name=worker.name, slots=worker.slots, tasks=len(names))
        return worker_id

    def _check(self, worker: Joining) -> None:
        check_name(worker.name, "name")
        if not 1 <= worker.slots <= MAX_SLOTS:
            raise InvalidInput(f"slots: {worker.slots} is outside 1…{MAX_SLOTS}", field="slots")
        if len(worker.tasks) > MAX_TASKS:
            raise InvalidInput(f"tasks: more than {MAX_TASKS}", field="tasks")
        if data := [task.name for task in worker.tasks if task.kind is not Kind.FUNCTION]:
            # A worker's key may not say what other workers run.
            raise InvalidInput(f"tasks: {data[0]!r} is data; a worker brings functions, people save the rest")
        check_labels(worker.labels)
        for queue in worker.queues or ():
            check_name(queue, "queues")
        self._check_offer(worker)

    def _check_offer(self, worker: Joining) -> None:
        for field in ("cpus", "memory", "gpus", "disk"):
            amount = getattr(worker, field)
            if amount is not None and not 0 <= amount <= LARGEST:
                raise InvalidInput(f"{field}: {amount} is less than 0 or more than there can be", field=field)
        for field in ("region", "zone", "kind"):
            word = getattr(worker, field)
            if word is not None:
                check_word(word, field)
        if worker.widest is not None and not 1 <= worker.widest <= worker.slots:
            raise InvalidInput(f"widest: {worker.widest} is outside 1…{worker.slots}", field="widest")
        for kind in worker.kinds:
            check_name(kind, "kinds")

    async def session(self, by: Caller, worker_id: int) -> Session:
        """The worker's session. Raises WorkerGone once its lease has ended."""
        session = self._sessions.get(worker_id)
        if session is None or not session.alive:
            session = await self._load(by, worker_id)
        if by.tenant_id != session.tenant_id:
            raise NotFound(f"there is no worker {worker_id}")
        return session

    async def _load(self, by: Caller, worker_id: int) -> Session:
        row = await self._workers.worker_get(worker_id, by.tenant_id)
        if row is None or row["tenant_id"] != by.tenant_id:
            raise NotFound(f"there is no worker {worker_id}")
        remaining = (row["expires_at"] - self._clock.steady()).total_seconds()
        if row["state"] not in {"active", "draining"} or remaining <= 0:
            self._sessions.pop(worker_id, None)
            raise WorkerGone(GONE)
        session = self._sessions.get(worker_id)
        if session is None:
            self._forget_the_gone()
            queues = None if row["queues"] is None else frozenset(row["queues"])
            session = Session(offer_of(row), row["tenant_id"], frozenset(row["tasks"]), queues, row["state"])
            self._sessions[worker_id] = session
        session.state = row["state"]
        session.renew(min(remaining, self.lease_seconds))
        return session

    async def heartbeat(self, by: Caller, worker_id: int, load: Load) -> Session:
        """Renews the worker's lease, and with it everything it runs."""
        session = await self.session(by, worker_id)
        failpoints.reach("heartbeat.before_commit")
        state = await self._workers.worker_heartbeat(
            worker_id, by.tenant_id, self._clock.steady(), self.lease_seconds, load.running, load.queued, load.cpu,
            load.memory,
        )  # fmt: skip
        if state is None:
            self._sessions.pop(worker_id, None)
            raise WorkerGone(GONE)
        session.state = state
        session.load = min(load.running / max(session.offer.slots, 1), 1.0) + (load.cpu or 0.0)
        session.renew(self.lease_seconds)
        session.orders_pending = True
        return session

    async def orders(self, session: Session) -> list[CancelOrder]:
        """What the worker should stop; asked of the database only when there may be something."""
        if not session.orders_pending:
            return []
        session.orders_pending = False
        rows = await self._workers.cancel_orders(session.worker_id)
        return [CancelOrder(row["id"], row["attempt"], row["reason"], row["move"]) for row in rows]

    async def take_back(self, worker_id: int, numbers: Sequence[int] | None) -> int:
        """Gives away what was granted in answers that never arrived (or, without numbers, everything)."""
        total = 0
        while rows := await self._workers.lease_of_worker(worker_id, numbers, RELEASE_BATCH):
            unstarted = [_undelivered(row["id"], row["lane_id"], row["attempt"]) for row in rows]
            if len(await self._complete.attempts(worker_id, unstarted)) == len(unstarted):
                break
            total += len(unstarted)
        if total:
            log.info("grants_taken_back", worker=worker_id, jobs=total)
        return total

    async def hand_back(self, worker_id: int, grants: Sequence[Grant]) -> None:
        """Gives away what its worker has not been told of."""
        await self._complete.attempts(
            worker_id, [_undelivered(grant.id, grant.lane, grant.attempt) for grant in grants]
        )
        log.info("grants_taken_back", worker=worker_id, jobs=len(grants))

    async def progress(self, worker_id: int, progress: Sequence[Progress]) -> None:
        """Notes how far jobs are. A note the store refuses is dropped: it must never cost a worker its heartbeat."""
        if not progress:
            return
        rows = [(p.id, p.attempt, p.done, p.total, (p.note or "").replace("\x00", "")[:500] or None) for p in progress]
        try:
            await self._workers.progress_save(worker_id, rows)
        except asyncpg.DataError as error:
            log.warning("progress_refused", worker=worker_id, error=repr(error))

    async def leave(self, by: Caller, worker_id: int) -> None:
        await self.session(by, worker_id)
        await self._workers.worker_set_state(worker_id, by.tenant_id, "left", ["active", "draining"])
        self._sessions.pop(worker_id, None)
        await self.take_back(worker_id, None)
        log.info("worker_left", worker=worker_id)

    async def steer(self, by: Caller, worker_id: int, state: str, steering: Steering | None = None) -> asyncpg.Record:
        """Drains a worker, or lets it take work again."""
        await self.get(by, worker_id)
        if not await self._steer(by, worker_id, state, steering or Steering()):
            raise WrongState(f"worker {worker_id} is gone or not this tenant's to steer")
        if worker_id in self._sessions:
            self._sessions[worker_id].steer(state)
        return await self.get(by, worker_id)

    async def _steer(self, by: Caller, worker_id: int, state: str, steering: Steering) -> bool:
        seconds = None if steering.lasts is None else parse_duration(steering.lasts, "lasts").total_seconds()
        if state == "active":
            return await self._workers.worker_steer(worker_id, by.tenant_id, state, by.name, None, None)
        check_word(steering.reason, "reason", MAX_REASON)
        return await self._workers.worker_steer(
            worker_id, by.tenant_id, state, by.name, steering.reason or None, seconds
        )

    async def get(self, by: Caller, worker_id: int) -> asyncpg.Record:
        row = await self._workers.worker_get(worker_id, by.tenant_id)
        if row is None:
            raise NotFound(f"there is no worker {worker_id}")
        return row

    async def page(
        self, tenant_id: int | None, states: Sequence[str], after: int | None, limit: int
    ) -> tuple[list[asyncpg.Record], int | None]:
        """Workers, and the one after which the next page goes on."""
        rows = await self._workers.worker_list(tenant_id, states, after, limit + 1)
        page = rows[:limit]
        return page, page[-1]["id"] if len(rows) > limit else None

    async def history(self, by: Caller, worker_id: int) -> list[asyncpg.Record]:
        """What happened to a worker, and to those of its name and host before it: each start has its own number."""
        await self.get(by, worker_id)
        return await self._workers.worker_history(worker_id, by.tenant_id, MAX_EVENTS)

    async def runs(self, tenant_id: int | None) -> dict[int, list[asyncpg.Record]]:
        """By worker: how many jobs of which task it runs, as far as the tenant may know."""
        found: dict[int, list[asyncpg.Record]] = {}
        for row in await self._workers.worker_runs(tenant_id, MAX_RUNS):
            found.setdefault(row["worker_id"], []).append(row)
        return found

    def nudge_all(self) -> None:
        """Ends every waiting exchange: the server stops, and the workers shall ask another."""
        for session in self._sessions.values():
            session.nudge()

    def _forget(self, worker_id: int) -> None:
        self._sessions.pop(worker_id, None)

    def _forget_the_gone(self) -> None:
        if len(self._sessions) >= MANY_SESSIONS:
            self._sessions = {i: session for i, session in self._sessions.items() if session.alive}

    def _note_cancel(self, worker_id: int) -> None:
        session = self._sessions.get(worker_id)
        if session is not None:
            session.orders_pending = True
            session.nudge()


def _undelivered(job_id: str, lane_id: int, attempt: int) -> Finished:
    return Finished(id=job_id, lane=lane_id, attempt=attempt, end=End.UNDELIVERED)
