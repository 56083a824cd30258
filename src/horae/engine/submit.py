"""Submit: a request becomes a durable job.

Single submits that arrive together go down in one statement (group commit): a flush starts at once when none is under
way, and whatever arrives meanwhile makes the next one. So an idle system answers after one commit, a busy one shares
each commit among all that wait, and there is no timer to tune. The answer is given only after the commit.
"""

import asyncio
import hashlib
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

import asyncpg
import msgspec
import structlog

from horae.engine.access import Access, Caller
from horae.engine.admission import Admission
from horae.engine.clock import Clock
from horae.engine.durations import Durations
from horae.engine.gatekeeper import Gatekeeper
from horae.engine.lanes import Lanes
from horae.engine.policy import Policy
from horae.engine.prospects import Prospects
from horae.engine.rows import state_of
from horae.engine.schemas import Schemas
from horae.engine.signals import Signals
from horae.engine.tally import Tally
from horae.engine.tasks import KnownTask, Tasks
from horae.model.durations import parse_duration
from horae.model.errors import (
    HoraeError,
    IdempotencyConflict,
    InvalidInput,
    OutcomeUnknown,
    Overloaded,
    StoreUnavailable,
    TooLarge,
)
from horae.model.ids import JobIds
from horae.model.job import (
    DEFAULT_QUEUE,
    MAX_KEY_LENGTH,
    MAX_PARAMS_BYTES,
    JobOptions,
    JobRequest,
    check_request,
    is_plain,
    is_usual,
    unique_of,
)
from horae.model.matching import placement_of
from horae.model.offpeak import off_peak_start
from horae.model.overload import STRAINED
from horae.model.placement import canonical
from horae.model.promise import Promise, renewed
from horae.model.rank import EMERGENCY, HEAD_START_MICROS, NORMAL, rank
from horae.model.servicelevels import ServiceLevel
from horae.model.states import State
from horae.model.unique import Unique, check_by
from horae.store.control import LaneKey
from horae.store.jobs import Jobs, NewJob
from horae.store.unique import Once

if TYPE_CHECKING:
    from horae.engine.unique import Uniqueness

log = structlog.get_logger()

BATCH: Final = 1000
MAX_WAITING: Final = 20_000
STRAINED_WAITING: Final = int(MAX_WAITING * STRAINED)
FLUSHES_AT_ONCE: Final = 2
UNIQUES_AT_ONCE: Final = 3
"""Of one bulk submit: each takes a connection for itself."""
_encoder = msgspec.json.Encoder()


class Submitted(msgspec.Struct, omit_defaults=True, gc=False):
    id: str
    state: State
    existing: bool = False
    warnings: list[str] = []
    """Why no worker could run it as things stand."""


class Now(NamedTuple):
    """One reading of the clock, in the three forms a submit needs. A batch shares it."""

    unix: float
    instant: datetime
    micros: int


class Submit:
    def __init__(
        self,
        jobs: Jobs,
        lanes: Lanes,
        tasks: Tasks,
        access: Access,
        clock: Clock,
        signals: Signals,
        ids: JobIds,
        uniqueness: "Uniqueness",
        admission: Admission,
        policy: Policy,
        gatekeeper: Gatekeeper,
        tally: Tally,
        durations: Durations,
        prospects: Prospects,
        schemas: Schemas,
    ) -> None:
        self._jobs = jobs
        self._lanes = lanes
        self._tasks = tasks
        self._access = access
        self._clock = clock
        self._signals = signals
        self._ids = ids
        self._uniqueness = uniqueness
        self._admission = admission
        self._policy = policy
        self._gatekeeper = gatekeeper
        self._tally = tally
        self._durations = durations
        self._prospects = prospects
        self.schemas = schemas
        self._waiting: list[tuple[NewJob, asyncio.Future[None]]] = []
        self._flushing = 0
        self._flushes: set[asyncio.Task[None]] = set()
        admission.watch(lambda: len(self._waiting) / MAX_WAITING)

    async def one(self, caller: Caller, request: JobRequest) -> Submitted:
        job = self._quick(caller, request, self._now()) or await self.prepare(caller, request)
        return await self._warned(job, await self.store(job))

    async def _warned(self, job: NewJob, done: Submitted) -> Submitted:
        """Says so when no worker could run the job. As a rule this is a look into memory."""
        if self._prospects.poor(job.lane_id) and not done.existing:
            done.warnings = await self._prospects.warnings(job.lane_id)
        return done

    async def store(self, job: NewJob) -> Submitted:
        """Stores a prepared job together with whatever else is being submitted."""
        self._admit(job)
        unique = unique_of(job.options)
        if unique is not None:
            return await self._store_unique(job, unique)
        await self._store(job)
        return Submitted(job.id, State.READY if job.due else State.SCHEDULED)

    def _admit(self, job: NewJob) -> None:
        """Raises when the job may not be submitted now. Without quotas and strain, this is a look at a flag."""
        if self._admission.active or len(self._waiting) >= STRAINED_WAITING:
            key = self._lanes.key(job.lane_id)
            self._admission.admit(job.tenant_id, key.queue if key else "", job.key_id, job.priority)
        self.check_gates(job)

    def check_gates(self, job: NewJob) -> None:
        """Raises when a gate rejects the job. Ticks of schedules have no quota, but gates concern them too."""
        if not self._policy.rejecting:
            return
        key = self._lanes.key(job.lane_id)
        gates = () if key is None else self._policy.of(job.lane_id, key).rejecting
        if gates:
            self._gatekeeper.check_admission(gates, job.id, job.params, job.options)

    def _admitted(self, item: NewJob | HoraeError) -> NewJob | HoraeError:
        try:
            if isinstance(item, NewJob):
                self._admit(item)
        except HoraeError as error:
            return error
        return item

    async def _store_unique(self, job: NewJob, unique: Unique) -> Submitted:
        answer = await self._settle(job, unique, None)
        if answer is None:
            raise AssertionError("only a submit under an idempotency key can have been made before")
        return answer

    async def _settle(self, job: NewJob, unique: Unique, once: Once | None) -> Submitted | None:
        task = (await self._lanes.keys([job.lane_id]))[job.lane_id].task
        answer = await self._uniqueness.submit(job, task, unique, once)
        if answer is not None and not answer.existing:
            self._announce([job])
        return answer

    async def once(self, caller: Caller, request: JobRequest, key: str, body: bytes) -> Submitted:
        """Submits under an idempotency key: the same key and body give the same job, another body is refused."""
        if not 1 <= len(key) <= MAX_KEY_LENGTH or "\x00" in key:
            raise InvalidInput(f"Idempotency-Key: 1…{MAX_KEY_LENGTH} characters", field="Idempotency-Key")
        job = await self.prepare(caller, request)
        self._admit(job)
        fingerprint = hashlib.sha256(body).digest()
        unique = unique_of(job.options)
        if unique is not None:
            answer = await self._settle(job, unique, Once(key, fingerprint))
            if answer is not None:
                return await self._warned(job, answer)
        elif await self._jobs.job_submit_once([job], [key], [fingerprint]):
            self._announce([job])
            return await self._warned(job, Submitted(job.id, State.READY if job.due else State.SCHEDULED))
        found = await self._jobs.idempotency_find([job.tenant_id], [key])
        if (job.tenant_id, key) not in found:
            raise Overloaded("the idempotency key expired this very moment; send the request again", retry_after=1)
        before, job_id = found[job.tenant_id, key]
        if before != fingerprint:
            raise IdempotencyConflict(f"the idempotency key {key!r} stands for job {job_id}, made with another body")
        return Submitted(job_id, await self._state(job.tenant_id, job_id), existing=True)

    async def many(self, caller: Caller, requests: Sequence[JobRequest | HoraeError]) -> list[Submitted | HoraeError]:
        """Submits a batch; each item is answered for itself, and a bad one does not spoil the others."""
        answers: list[Submitted | HoraeError] = []
        for start in range(0, len(requests), BATCH):
            answers += await self._chunk(caller, requests[start : start + BATCH])
        return answers

    async def _chunk(self, caller: Caller, requests: Sequence[JobRequest | HoraeError]) -> list[Submitted | HoraeError]:
        prepared: list[NewJob | HoraeError] = []
        now = self._now()
        for request in requests:
            try:
                prepared.append(
                    request
                    if isinstance(request, HoraeError)
                    else self._quick(caller, request, now) or await self.prepare(caller, request)
                )
            except HoraeError as error:
                prepared.append(error)
        if self._policy.rejecting or self._admission.concerns(caller.key_id, caller.tenant_id):
            # In order: what a quota has left goes to the first, and the rest is refused one by one.
            prepared = [self._admitted(item) for item in prepared]
        keyed = await self._each_unique([job for job in prepared if isinstance(job, NewJob)])
        good = [job for job in prepared if isinstance(job, NewJob) and job.id not in keyed]
        if good:
            try:
                await self._jobs.job_submit_bulk(good)
            except (StoreUnavailable, OutcomeUnknown) as error:
                keyed |= dict.fromkeys((job.id for job in good), error)
            else:
                self._announce(good)
        return [
            keyed.get(item.id) or Submitted(item.id, State.READY if item.due else State.SCHEDULED)
            if isinstance(item, NewJob)
            else item
            for item in prepared
        ]

    async def _each_unique(self, jobs: Sequence[NewJob]) -> dict[str, Submitted | HoraeError]:
        """Settles those that are unique, each for itself; of the same key, in the order of the batch."""
        found = [(job, unique) for job in jobs if (unique := unique_of(job.options)) is not None]
        places = asyncio.Semaphore(UNIQUES_AT_ONCE)

        async def settle(job: NewJob, unique: Unique) -> Submitted | HoraeError:
            async with places:
                try:
                    return await self._store_unique(job, unique)
                except HoraeError as error:
                    return error

        answers = await asyncio.gather(*(settle(job, unique) for job, unique in found))
        return {job.id: answer for (job, _), answer in zip(found, answers, strict=True)}

    def _quick(self, caller: Caller, request: JobRequest, now: "Now") -> NewJob | None:
        """`prepare` without waiting, when the task and the lane are in memory already and nothing is wrong."""
        tenant_id = self._access.tenant_known(caller, request.tenant)
        task = None if tenant_id is None else self._tasks.recall(tenant_id, request.task)
        if tenant_id is None or task is None:
            return None
        lane_id = task.plain_lane
        if lane_id is None or not is_usual(request):
            lane_id = self._lanes.known(_lane_key(tenant_id, request, task))
            if lane_id is None:
                return None
            if is_usual(request):
                task.plain_lane = lane_id
        params = encode_params(request.params)
        if not task.schema.passes(request.params, len(params)):
            return None
        return self._make(caller, tenant_id, request, task, lane_id, params, now)

    def place(self, caller: Caller, request: JobRequest) -> tuple[int, str] | None:
        """The tenant and queue that a request goes to, as far as they are in memory: for those that just submitted."""
        tenant_id = self._access.tenant_known(caller, request.tenant)
        task = None if tenant_id is None else self._tasks.recall(tenant_id, request.task)
        if tenant_id is None or task is None:
            return None
        return tenant_id, request.queue or task.definition.queue or DEFAULT_QUEUE

    async def prepare(self, caller: Caller, request: JobRequest) -> NewJob:
        """Checks a request, fills in the task's defaults and makes it a row."""
        check_request(request)
        tenant_id = await self._access.tenant_for(caller, request.tenant)
        task = await self._tasks.find(tenant_id, request.task)
        params = encode_params(request.params)
        await self.schemas.check_params(tenant_id, task.schema, request, len(params))
        key = _lane_key(tenant_id, request, task)
        lane_id = (await self._lanes.intern([key]))[key]
        return self._make(caller, tenant_id, request, task, lane_id, params, self._now())

    def _now(self) -> "Now":
        unix = self._clock.unix()
        return Now(unix, datetime.fromtimestamp(unix, UTC), int(unix * 1_000_000))

    def _make(
        self,
        caller: Caller,
        tenant_id: int,
        request: JobRequest,
        task: KnownTask,
        lane_id: int,
        params: str,
        now: "Now",
    ) -> NewJob:
        level = self._policy.level_of(tenant_id, request.task)
        priority = request.priority or task.definition.priority or (level and level.priority) or NORMAL
        promise: Promise | None = None
        if level is None and is_plain(request):
            run_at, due, place = now.instant, True, now.micros - HEAD_START_MICROS[priority]
        else:
            check_request(request)
            run_at, due = _due(request, now)
            if level is not None:
                run_at, promise = _promised(level, request, run_at, priority, now)
                due = run_at <= now.instant
            place = self._rank(tenant_id, request, run_at, priority, promise, now)
        return NewJob(
            self._ids.make(now.unix, tenant_id),
            place,
            run_at,
            tenant_id,
            lane_id,
            caller.key_id,
            priority,
            params,
            _options(request, task, run_at, promise, now),
            due,
        )

    def _rank(
        self, tenant_id: int, request: JobRequest, run_at: datetime, priority: int, promise: Promise | None, now: "Now"
    ) -> int:
        """A deadline is for the end, so the job should start earlier; a promise is for the start."""
        if request.deadline is not None:
            expected = self._durations.expected_span(tenant_id, request.task)
            return rank(run_at, now.instant, priority, request.deadline, expected)
        return rank(run_at, now.instant, priority, None if promise is None else promise.start_by)

    async def _store(self, job: NewJob) -> None:
        if len(self._waiting) >= MAX_WAITING:
            raise Overloaded("too many submits are waiting for the database; try again", retry_after=1)
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((job, stored))
        if self._flushing < FLUSHES_AT_ONCE and (self._flushing == 0 or len(self._waiting) >= BATCH):
            self._flushing += 1
            flush = asyncio.create_task(self._flush())
            self._flushes.add(flush)
            flush.add_done_callback(self._flushes.discard)
        await stored

    async def _flush(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
                await self._flush_batch(batch)
        finally:
            self._flushing -= 1

    async def _flush_batch(self, batch: list[tuple[NewJob, "asyncio.Future[None]"]]) -> None:
        jobs = [job for job, _ in batch]
        started = time.monotonic()
        try:
            await self._jobs.job_submit(jobs)
        except asyncpg.PostgresError as error:
            if len(batch) > 1:
                # One job the database refuses must not fail its neighbours: find it by trying each alone.
                for single in batch:
                    await self._flush_batch([single])
                return
            log.warning("submit_refused", error=repr(error))
            _fail(batch, _refusal(error))
        except HoraeError as error:
            _fail(batch, error)
        except BaseException:
            _fail(batch, OutcomeUnknown("the server is stopping; whether the job was stored is unknown"))
            raise
        else:
            self._admission.flushed(time.monotonic() - started)
            self._announce(jobs)
            for _, stored in batch:
                if not stored.done():
                    stored.set_result(None)

    def _announce(self, jobs: Sequence[NewJob]) -> None:
        """Tells whoever waits on this server what there is to do."""
        self._tally.submitted(jobs)
        if self._admission.holding:
            self._admission.note_stored(jobs)
        heads: dict[int, int] = {}
        first: datetime | None = None
        for job in jobs:
            if job.due:
                if job.rank < heads.get(job.lane_id, job.rank + 1):
                    heads[job.lane_id] = job.rank
            elif first is None or job.run_at < first:
                first = job.run_at
        if heads:
            self._signals.ready(heads)
        if first is not None:
            self._signals.scheduled(first)

    async def _state(self, tenant_id: int, job_id: str) -> State:
        row = await self._jobs.job_get(tenant_id, UUID(job_id))
        return State.READY if row is None else state_of(row)


def encode_params(params: dict[str, object]) -> str:
    text = _encoder.encode(params)
    if len(text) > MAX_PARAMS_BYTES:
        raise TooLarge(f"params: {len(text)} bytes are more than {MAX_PARAMS_BYTES}; store large input elsewhere")
    return text.decode()


def _lane_key(tenant_id: int, request: JobRequest, task: KnownTask) -> LaneKey:
    definition = task.definition
    return LaneKey(
        tenant_id,
        request.queue or definition.queue or DEFAULT_QUEUE,
        request.task,
        request.concurrency_key or "",
        canonical(placement_of(request, definition)),
        (request.priority or definition.priority) == EMERGENCY,
    )


def _due(request: JobRequest, now: Now) -> tuple[datetime, bool]:
    if request.run_at is not None:
        return request.run_at, request.run_at <= now.instant
    if request.delay is not None:
        pause = parse_duration(request.delay, "delay")
        return now.instant + pause, not pause
    return now.instant, True


def _promised(
    level: ServiceLevel, request: JobRequest, run_at: datetime, priority: int, now: Now
) -> tuple[datetime, Promise]:
    """When it is due under a service level, and what that promises. Who says when, or cries for help, need not wait."""
    starts = run_at
    if level.off_peak is not None and request.run_at is None and request.delay is None and priority != EMERGENCY:
        starts = off_peak_start(level.off_peak, run_at)
    return starts, renewed(level.promise, starts, now.instant, off_peak=starts > run_at)


def _expires(request: JobRequest, task: KnownTask, run_at: datetime, now: Now) -> datetime | None:
    """A span counts from the moment the job is due: one for tomorrow shall not expire tonight."""
    wait = request.expires_in or task.definition.expires_in
    if request.expires is not None or wait is None:
        return request.expires
    return max(run_at, now.instant) + parse_duration(wait, "expires_in")


def _unique(request: JobRequest, task: KnownTask) -> Unique | None:
    unique = request.unique or task.definition.unique
    if unique is not None:
        check_by(unique, request.params, task.definition.params_schema)
    return unique


def _options(request: JobRequest, task: KnownTask, run_at: datetime, promise: Promise | None, now: Now) -> str | None:
    definition = task.definition
    timeout = task.timeout
    if request.timeout is not None:
        timeout = parse_duration(request.timeout, "timeout").total_seconds()
    attempts = request.max_attempts or definition.max_attempts
    retry = request.retry or definition.retry
    expires, unique = _expires(request, task, run_at, now), _unique(request, task)
    if (
        timeout is None and attempts is None and retry is None and request.deadline is None and not request.labels
        and expires is None and unique is None and request.sticky is None and promise is None
    ):  # fmt: skip
        return None
    options = JobOptions(
        max_attempts=attempts,
        retry=retry,
        timeout=timeout,
        deadline=request.deadline,
        expires=expires,
        unique=unique,
        sticky=request.sticky,
        labels=request.labels or None,
        promise=promise,
    )
    return _encoder.encode(options).decode()


def _refusal(error: asyncpg.PostgresError) -> HoraeError:
    """Whose fault it is decides whether the client should try again."""
    if isinstance(
        error, asyncpg.DataError | asyncpg.IntegrityConstraintViolationError | asyncpg.ProgramLimitExceededError
    ):
        return InvalidInput(f"the database refused the job: {error}")
    return StoreUnavailable(f"the database cannot store jobs now: {error}", retry_after=2)


def _fail(batch: Sequence[tuple[NewJob, "asyncio.Future[None]"]], error: HoraeError) -> None:
    for _, stored in batch:
        if not stored.done():
            stored.set_exception(error)
