"""Steer: change, cancel, retry and clone single jobs."""

from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import asyncpg
import msgspec
import structlog

from horae import failpoints
from horae.engine.access import Caller
from horae.engine.callbacks import Callbacks
from horae.engine.clock import Clock
from horae.engine.durations import Durations
from horae.engine.lanes import Lanes
from horae.engine.preparation import encode_params
from horae.engine.rows import options_of, state_of
from horae.engine.signals import Signals
from horae.engine.submit import Submit, Submitted
from horae.engine.tally import Tally
from horae.engine.tasks import Tasks
from horae.engine.watch import Ended, Watch
from horae.model.callbacks import SERVER
from horae.model.durations import parse_duration
from horae.model.errors import NotFound, WrongState
from horae.model.ids import created_at
from horae.model.job import JobOptions, JobRequest, check_request, read_options
from horae.model.matching import placement_of
from horae.model.placement import ANYWHERE, Placement, canonical, read_placement
from horae.model.promise import Promise, renewed
from horae.model.rank import EMERGENCY, rank
from horae.model.states import PENDING, TRANSITIONS, State
from horae.model.task import TaskDefinition
from horae.model.work import JobError
from horae.store.control import LaneKey
from horae.store.jobs import Jobs, PendingChange

log = structlog.get_logger()

RETRY_MARGIN: Final = timedelta(days=1)
CLOCK_SLACK: Final = timedelta(milliseconds=100)
"""Our reading of the database's clock may be a little ahead of it: what shall run now must be due by either."""
_encoder = msgspec.json.Encoder()


class Steer:
    def __init__(
        self,
        jobs: Jobs,
        lanes: Lanes,
        tasks: Tasks,
        submit: Submit,
        watch: Watch,
        signals: Signals,
        clock: Clock,
        tally: Tally,
        durations: Durations,
        retention: timedelta,
        callbacks: Callbacks,
    ) -> None:
        self._jobs = jobs
        self._lanes = lanes
        self._tasks = tasks
        self._submit = submit
        self._watch = watch
        self._signals = signals
        self._clock = clock
        self._tally = tally
        self._durations = durations
        self._retention = retention
        self._callbacks = callbacks

    async def get(self, by: Caller, job_id: UUID) -> asyncpg.Record:
        row = await self._jobs.job_get(by.tenant_id, job_id)
        if row is None:
            raise NotFound(f"there is no job {job_id}")
        return row

    async def executions(self, row: asyncpg.Record) -> list[asyncpg.Record]:
        """Every attempt at a job, of its `get` row."""
        return await self._jobs.executions_of_job(row["tenant_id"], row["id"], row["lane_id"])

    async def cancel(self, by: Caller, job_id: UUID, reason: str) -> State:
        """Cancels a pending job at once (CANCELLED); asks the worker of a running one to stop it (RUNNING)."""
        for _ in range(5):
            row = await self.get(by, job_id)
            state = state_of(row)
            if state.ended:
                raise WrongState(f"job {job_id} has ended already: {state}", state=state.value)
            if state is State.RUNNING:
                worker_id = await self._cancel_running(by, row, reason)
                if worker_id == SERVER and await self._cancel_parked(row, reason):
                    return State.CANCELLED
                if worker_id is not None:
                    return State.RUNNING
            elif await self._cancel_pending(row, reason, by):
                return State.CANCELLED
            # It moved between the look and the deed: look again.
        raise WrongState(f"job {job_id} keeps moving; try again")

    async def _cancel_pending(self, row: asyncpg.Record, reason: str, by: Caller) -> bool:
        error = _encoder.encode(JobError("cancelled", reason[:500] or f"cancelled by {by.name}")).decode()
        done = await self._jobs.job_cancel_pending(row["tenant_id"], row["lane_id"], row["id"], row["rank"], error)
        if done:
            failpoints.reach("cancel.after_commit")
            self._watch.ended(str(row["id"]), Ended(State.CANCELLED, None, error, None, row["attempt"]))
            self._tally.removed(row["lane_id"], State.CANCELLED)
            log.info("job_cancelled", job=str(row["id"]), by=by.name)
        return done

    async def _cancel_parked(self, row: asyncpg.Record, reason: str) -> bool:
        """It waits for its callback, and nothing runs that would have to stop first."""
        return await self._callbacks.cancel(row["lane_id"], str(row["id"]), row["attempt"], reason[:500])

    async def _cancel_running(self, by: Caller, row: asyncpg.Record, reason: str) -> int | None:
        """The worker that was asked; None when nobody holds the job."""
        asked = await self._jobs.job_cancel_running(row["lane_id"], row["id"], reason[:500], by.name)
        if asked is None:
            return None
        failpoints.reach("cancel.after_request")
        worker_id: int = asked["worker_id"]
        self._signals.cancel([worker_id])
        log.info("cancel_requested", job=str(row["id"]), worker=worker_id, by=by.name)
        return worker_id

    async def change(self, by: Caller, job_id: UUID, changes: dict[str, Any]) -> None:
        """Edits a job that has not started."""
        row = await self.get(by, job_id)
        if state_of(row) not in PENDING:
            raise WrongState(f"job {job_id} is {state_of(row)}: only a job that has not started can be changed")
        change = await self.changed(row, changes)
        now_ready = await self._jobs.pending_change(change)
        if now_ready is None:
            raise WrongState(f"job {job_id} has just started: only a job that has not started can be changed")
        if change.lane_id != row["lane_id"]:
            self._tally.moved(row["lane_id"], change.lane_id)
        self._announce(change, ready=now_ready)

    async def retry(self, by: Caller, job_id: UUID, changes: dict[str, Any]) -> None:
        """Runs a failed or cancelled job again, as the same job, with whatever is changed."""
        change = await self.again(await self.get(by, job_id), changes)
        now_ready = await self._jobs.outcome_retry(change)
        if now_ready is None:
            raise WrongState(f"job {job_id} was retried by somebody else meanwhile")
        self._tally.restored(change.lane_id)
        log.info("job_retried", job=str(job_id), by=by.name)
        self._announce(change, ready=now_ready)

    async def again(self, row: asyncpg.Record, changes: dict[str, Any]) -> PendingChange:
        """How a failed or cancelled job shall run again."""
        job_id, state = row["id"], state_of(row)
        if State.READY not in TRANSITIONS[state] or not state.ended:
            raise WrongState(
                f"job {job_id} is {state}: only failed and cancelled jobs can be retried; clone it instead"
            )
        if self._clock.now() - created_at(job_id) > self._retention - RETRY_MARGIN:
            raise WrongState(f"job {job_id} is about to be removed by retention: clone it instead")
        if changes.get("run_at") is None and changes.get("delay") is None:
            changes = changes | {"run_at": self._clock.now() - CLOCK_SLACK}
        return await self.changed(row, changes, forgiven=row["attempt"])

    async def clone(self, by: Caller, job_id: UUID, changes: dict[str, Any]) -> Submitted:
        """A new job like this one, with variations, to run now unless told otherwise."""
        row = await self.get(by, job_id)
        options, placement = options_of(row), read_placement(row["requires"])
        request = JobRequest(
            task=row["task"],
            params=msgspec.json.decode(row["params"]),
            priority=row["priority"],
            queue=row["queue"],
            deadline=None,
            max_attempts=options.max_attempts,
            retry=options.retry,
            timeout=options.timeout,
            concurrency_key=row["concurrency_key"] or None,
            requires=placement.requires if placement.requires != ANYWHERE.requires else None,
            prefers=placement.prefers if placement.prefers != ANYWHERE.prefers else None,
            avoids=placement.avoids if placement.avoids != ANYWHERE.avoids else None,
            sticky=options.sticky,
            spread=placement.spread,
            labels=options.labels,
            tenant=row["tenant"],
        )
        job = await self._submit.prepare(by, msgspec.structs.replace(request, **changes))
        kept = read_options(job.options)
        kept.cloned_from = str(job_id)
        return await self._submit.store(job._replace(options=_encoder.encode(kept).decode()))

    async def changed(self, row: asyncpg.Record, changes: dict[str, Any], forgiven: int | None = None) -> PendingChange:
        """The job as it shall be. The checks are those of a submit. Attempts up to `forgiven` no longer count."""
        options = options_of(row)
        merged: dict[str, Any] = {
            "task": row["task"], "params": msgspec.json.decode(row["params"]), "priority": row["priority"],
            "queue": row["queue"], "deadline": options.deadline, "max_attempts": options.max_attempts,
            "retry": options.retry, "timeout": options.timeout, "concurrency_key": row["concurrency_key"] or None,
            "labels": options.labels, "expires": self._expires(options, changes, again=forgiven is not None),
        }  # fmt: skip
        request = check_request(JobRequest(**(merged | changes)))
        params = encode_params(request.params)
        task = await self._tasks.find(row["tenant_id"], request.task)
        await self._submit.schemas.check_params(row["tenant_id"], task.schema, request, len(params))
        run_at = self._run_at(row, request)
        key = LaneKey(
            row["tenant_id"],
            request.queue or row["queue"],
            request.task,
            request.concurrency_key or "",
            self._placement(row, request),
            (request.priority or row["priority"]) == EMERGENCY,
        )
        lane_id = (await self._lanes.intern([key]))[key]
        promise = self._promise(options, request, run_at)
        timeout = None if request.timeout is None else parse_duration(request.timeout, "timeout").total_seconds()
        kept = JobOptions(
            max_attempts=request.max_attempts,
            retry=request.retry,
            timeout=timeout,
            deadline=request.deadline,
            expires=self._expiry(request, run_at),
            unique=options.unique,
            sticky=request.sticky or options.sticky,
            labels=request.labels,
            promise=promise,
            cloned_from=options.cloned_from,
            forgiven=options.forgiven if forgiven is None else forgiven,
        )
        priority = request.priority or row["priority"]
        return PendingChange(
            row["id"],
            row["version"],
            row["tenant_id"],
            row["lane_id"],
            row["rank"],
            lane_id,
            self._rank(row["tenant_id"], request, run_at, priority, promise),
            run_at,
            priority,
            params,
            _nothing_if_default(kept),
        )

    def _rank(
        self, tenant_id: int, request: JobRequest, run_at: datetime, priority: int, promise: Promise | None
    ) -> int:
        if request.deadline is None and promise is not None:
            return rank(run_at, self._clock.now(), priority, promise.start_by)
        expected = self._durations.expected_span(tenant_id, request.task)
        return rank(run_at, self._clock.now(), priority, request.deadline, expected)

    def _promise(self, options: JobOptions, request: JobRequest, run_at: datetime) -> Promise | None:
        """As it was, unless the job is due at another time now."""
        if options.promise is None or (request.run_at is None and request.delay is None):
            return options.promise
        return renewed(options.promise, run_at, self._clock.now())

    def _placement(self, row: asyncpg.Record, request: JobRequest) -> str:
        """What the changes say of the placement over what the job has; nothing said, nothing changed."""
        said = (request.requires, request.prefers, request.avoids, request.sticky, request.spread)
        before: str = row["requires"]
        if all(value is None for value in said):
            return before
        kept = read_placement(before)
        wanted = placement_of(request, TaskDefinition(name=request.task))
        return canonical(
            Placement(
                requires=kept.requires if request.requires is None else wanted.requires,
                prefers=kept.prefers if request.prefers is None else wanted.prefers,
                avoids=kept.avoids if request.avoids is None else wanted.avoids,
                sticky=kept.sticky if request.sticky is None else wanted.sticky,
                spread=kept.spread if request.spread is None else wanted.spread,
                runner=kept.runner,
            )
        )

    def _run_at(self, row: asyncpg.Record, request: JobRequest) -> datetime:
        at: datetime = row["timer_at"] or row["run_at"]
        return self._instant(request.run_at, request.delay, "delay") or at

    def _instant(self, at: datetime | None, after: str | float | None, field: str) -> datetime | None:
        """No delay is the present by the database's clock too, which may be a little behind ours."""
        return at if after is None else self._clock.now() + (parse_duration(after, field) or -CLOCK_SLACK)

    def _expiry(self, request: JobRequest, run_at: datetime) -> datetime | None:
        if request.expires_in is None:
            return request.expires
        return max(run_at, self._clock.now()) + parse_duration(request.expires_in, "expires_in")

    def _expires(self, options: JobOptions, changes: dict[str, Any], *, again: bool) -> datetime | None:
        """What the job said, unless it is said anew. A person who runs a job again wants it to start, however late."""
        late = again and options.expires is not None and options.expires <= self._clock.now()
        return None if late or "expires_in" in changes else options.expires

    def _announce(self, change: PendingChange, *, ready: bool) -> None:
        if ready:
            self._signals.ready({change.lane_id: change.rank})
        else:
            self._signals.scheduled(change.run_at)


def _nothing_if_default(options: JobOptions) -> str | None:
    text = _encoder.encode(options).decode()
    return None if text == "{}" else text
