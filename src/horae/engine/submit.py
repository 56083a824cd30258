"""Submit: a request becomes a durable job.

`preparation` makes a row of it, admission and gates may refuse it, and it is stored: alone with others that arrive at
the same time (`groupcommit`), in bulk, or once for its idempotency key. The answer is given only after the commit.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final
from uuid import UUID

import msgspec
import structlog

from horae import failpoints
from horae.engine.access import Caller
from horae.engine.admission import Admission
from horae.engine.gatekeeper import Gatekeeper
from horae.engine.groupcommit import BATCH, GroupCommit
from horae.engine.lanes import Lanes
from horae.engine.policy import Policy
from horae.engine.preparation import Preparation
from horae.engine.prospects import Prospects
from horae.engine.rows import state_of
from horae.engine.signals import Signals
from horae.engine.tally import Tally
from horae.model.errors import (
    HoraeError,
    IdempotencyConflict,
    InvalidInput,
    OutcomeUnknown,
    Overloaded,
    StoreUnavailable,
)
from horae.model.job import MAX_KEY_LENGTH, JobRequest, PlainRequest, unique_of
from horae.model.states import State
from horae.model.unique import Unique
from horae.store.jobs import COPY_FROM, Jobs, NewJob
from horae.store.unique import Once

if TYPE_CHECKING:
    from horae.engine.unique import Uniqueness

log = structlog.get_logger()

PLAIN_BATCH: Final = 5000
"""Stored in one transaction. COPY makes room for its first thousand rows anew each time: five thousand cost PostgreSQL
5 µs each, a thousand 7.5."""
UNIQUES_AT_ONCE: Final = 3
"""Of one bulk submit: each takes a connection for itself."""


class Submitted(msgspec.Struct, omit_defaults=True, gc=False):
    id: str
    state: State
    existing: bool = False
    warnings: list[str] = []
    """Why no worker could run it as things stand."""


class Submit:
    def __init__(
        self,
        jobs: Jobs,
        lanes: Lanes,
        preparation: Preparation,
        signals: Signals,
        uniqueness: "Uniqueness",
        admission: Admission,
        policy: Policy,
        gatekeeper: Gatekeeper,
        tally: Tally,
        prospects: Prospects,
    ) -> None:
        self._jobs = jobs
        self._lanes = lanes
        self._preparation = preparation
        self.prepare = preparation.prepare
        self.place = preparation.place
        self.schemas = preparation.schemas
        self._signals = signals
        self._uniqueness = uniqueness
        self._admission = admission
        self._policy = policy
        self._gatekeeper = gatekeeper
        self._tally = tally
        self._prospects = prospects
        self._commits = GroupCommit(jobs, admission, self._announce)

    async def one(self, caller: Caller, request: JobRequest) -> Submitted:
        job = self._preparation.quick(caller, request, self._preparation.now()) or await self.prepare(caller, request)
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
        await self._commits.store(job)
        return Submitted(job.id, State.READY if job.due else State.SCHEDULED)

    def _admit(self, job: NewJob) -> None:
        """Raises when the job may not be submitted now. Without quotas and strain, this is a look at a flag."""
        if self._admission.active or self._commits.strained:
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
            failpoints.reach("once.after_commit")
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

    async def plain(self, caller: Caller, requests: Sequence[PlainRequest]) -> list[Submitted | HoraeError] | None:
        """As `many`, for jobs of one task that differ in nothing but their params: at a third of the price.

        None, and nothing is stored, when one of them has to be looked at for itself, or they are few.
        """
        if len(requests) < COPY_FROM or self._policy.rejecting or self._admission.active:
            return None
        jobs = await self._preparation.plain(caller, requests)
        if jobs is None:
            return None
        answers: list[Submitted | HoraeError] = []
        for batch in jobs.batches(PLAIN_BATCH):
            failure = await self._store_bulk(partial(self._jobs.job_submit_plain, batch))
            if failure is None:
                self._tally.submitted_in(batch.shared.lane_id, batch.ids)
                self._signals.ready({batch.shared.lane_id: batch.shared.rank})
            answers += [failure or Submitted(job_id, State.READY) for job_id in batch.ids]
        return answers

    async def _chunk(self, caller: Caller, requests: Sequence[JobRequest | HoraeError]) -> list[Submitted | HoraeError]:
        prepared = await self._prepared(caller, requests)
        if self._policy.rejecting or self._admission.concerns(caller.key_id, caller.tenant_id):
            # In order: what a quota has left goes to the first, and the rest is refused one by one.
            prepared = [self._admitted(item) for item in prepared]
        keyed = await self._each_unique([job for job in prepared if isinstance(job, NewJob)])
        good = [job for job in prepared if isinstance(job, NewJob) and job.id not in keyed]
        if good:
            failure = await self._store_bulk(lambda: self._jobs.job_submit_bulk(good))
            if failure is None:
                self._announce(good)
            else:
                keyed |= dict.fromkeys((job.id for job in good), failure)
        return [
            keyed.get(item.id) or Submitted(item.id, State.READY if item.due else State.SCHEDULED)
            if isinstance(item, NewJob)
            else item
            for item in prepared
        ]

    async def _prepared(self, caller: Caller, requests: Sequence[JobRequest | HoraeError]) -> list[NewJob | HoraeError]:
        prepared: list[NewJob | HoraeError] = []
        now, learnt = self._preparation.now(), False
        for place, request in enumerate(requests):
            if isinstance(request, HoraeError):
                prepared.append(request)
                continue
            try:
                job = self._preparation.quick(caller, request, now)
                if job is None and not learnt:
                    learnt = True
                    rest = (one for one in requests[place:] if isinstance(one, JobRequest))
                    await self._preparation.learn(caller, rest)
                    job = self._preparation.quick(caller, request, now)
                prepared.append(job or await self.prepare(caller, request))
            except HoraeError as error:
                prepared.append(error)
        return prepared

    async def _store_bulk(self, store: Callable[[], Awaitable[None]]) -> HoraeError | None:
        """Returns why it failed, if it did."""
        try:
            failpoints.reach("bulk.before_commit")
            await store()
            failpoints.reach("bulk.after_commit")
        except (StoreUnavailable, OutcomeUnknown) as error:
            return error
        return None

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
