"""A request becomes a row: checked, with the defaults of its task, its place in line, and what it is promised.

Most requests name a task that was submitted before; for those everything is in memory, and `quick` waits for nobody.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from horae.engine.access import Access, Caller
from horae.engine.clock import Clock
from horae.engine.durations import Durations
from horae.engine.lanes import Lanes
from horae.engine.policy import Policy
from horae.engine.schemas import Schemas
from horae.engine.tasks import KnownTask, Tasks
from horae.model.durations import parse_duration
from horae.model.errors import TooLarge, UnknownTask
from horae.model.ids import JobIds
from horae.model.job import (
    DEFAULT_QUEUE,
    MAX_PARAMS_BYTES,
    JobOptions,
    JobRequest,
    PlainRequest,
    check_request,
    expires_of,
    is_plain,
    is_usual,
    promise_of,
)
from horae.model.matching import placement_of
from horae.model.offpeak import off_peak_start
from horae.model.placement import canonical
from horae.model.promise import Promise, renewed
from horae.model.rank import EMERGENCY, HEAD_START_MICROS, NORMAL, rank
from horae.model.servicelevels import ServiceLevel
from horae.model.unique import Unique, check_by
from horae.store.control import LaneKey
from horae.store.jobs import NewJob
from horae.store.plainjobs import PlainJobs

_encoder = msgspec.json.Encoder()


class Now(NamedTuple):
    """One reading of the clock, in the three forms a submit needs. A batch shares it."""

    unix: float
    instant: datetime
    micros: int


class Preparation:
    def __init__(
        self,
        lanes: Lanes,
        tasks: Tasks,
        access: Access,
        clock: Clock,
        ids: JobIds,
        policy: Policy,
        durations: Durations,
        schemas: Schemas,
    ) -> None:
        self._lanes = lanes
        self._tasks = tasks
        self._access = access
        self._clock = clock
        self._ids = ids
        self._policy = policy
        self._durations = durations
        self.schemas = schemas

    def quick(self, caller: Caller, request: JobRequest, now: Now) -> NewJob | None:
        """`prepare` without waiting, when the task and the lane are in memory already and nothing is wrong."""
        tenant_id = self._access.tenant_known(caller, request.tenant)
        task = None if tenant_id is None else self._tasks.recall(tenant_id, request.task)
        if tenant_id is None or task is None:
            return None
        lane_id = self._known_lane(tenant_id, request, task)
        if lane_id is None:
            return None
        params = encode_params(request.params)
        if not task.schema.passes(request.params, len(params)):
            return None
        return self._make(caller, tenant_id, request, task, lane_id, params, now)

    async def plain(self, caller: Caller, requests: Sequence[PlainRequest]) -> PlainJobs | None:
        """Plain requests for one task together, when there is nothing to tell any one of them."""
        name = requests[0].task
        tenant_id = self._access.tenant_known(caller, None)
        if tenant_id is None:
            return None
        try:
            task = await self._tasks.find(tenant_id, name)
        except UnknownTask:
            return None
        any_of_them, now = JobRequest(task=name), self.now()
        lane_id = self._known_lane(tenant_id, any_of_them, task)
        if lane_id is None or task.definition.unique is not None:
            return None
        shared = self._make(caller, tenant_id, any_of_them, task, lane_id, "", now)
        if expires_of(shared.options) is not None or promise_of(shared.options) is not None:
            return None
        params = []
        for request in requests:
            text = _encoder.encode(request.params)
            passes = len(text) <= MAX_PARAMS_BYTES and task.schema.passes(request.params, len(text))
            if request.task != name or not passes:
                return None
            params.append(text)
        return PlainJobs(shared, self._ids.make_many(now.unix, tenant_id, len(params)), params)

    def _known_lane(self, tenant_id: int, request: JobRequest, task: KnownTask) -> int | None:
        usual = is_usual(request)
        if usual and task.plain_lane is not None:
            return task.plain_lane
        lane_id = self._lanes.known(_lane_key(tenant_id, request, task))
        if usual:
            task.plain_lane = lane_id
        return lane_id

    async def learn(self, caller: Caller, requests: Iterable[JobRequest]) -> None:
        """Has the tasks of a batch in memory, which may be of a thousand tenants: one question instead of as many."""
        asked = ((self._access.tenant_known(caller, request.tenant), request.task) for request in requests)
        await self._tasks.learn((tenant_id, task) for tenant_id, task in asked if tenant_id is not None)

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
        return self._make(caller, tenant_id, request, task, lane_id, params, self.now())

    def now(self) -> Now:
        unix = self._clock.unix()
        return Now(unix, datetime.fromtimestamp(unix, UTC), int(unix * 1_000_000))

    def _make(
        self, caller: Caller, tenant_id: int, request: JobRequest, task: KnownTask, lane_id: int, params: str, now: Now
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
        self, tenant_id: int, request: JobRequest, run_at: datetime, priority: int, promise: Promise | None, now: Now
    ) -> int:
        """A deadline is for the end, so the job should start earlier; a promise is for the start."""
        if request.deadline is not None:
            expected = self._durations.expected_span(tenant_id, request.task)
            return rank(run_at, now.instant, priority, request.deadline, expected)
        return rank(run_at, now.instant, priority, None if promise is None else promise.start_by)


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
