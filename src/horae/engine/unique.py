"""Uniqueness: of jobs that are the same, only so many as their terms allow.

A submit with a key looks and stores in one transaction under a lock of the key, so any number of servers give one job.
Whether the job that is there still counts is judged by the table that holds it now; nothing is written when it starts
or ends, and jobs without a key pay nothing.
"""

import asyncio
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

import asyncpg
import msgspec

from horae import failpoints
from horae.engine.clock import Clock
from horae.engine.rows import error_text, options_of, state_of
from horae.engine.signals import Signals
from horae.engine.submit import Submitted
from horae.engine.tally import Tally
from horae.engine.watch import Ended, Watch
from horae.model.durations import parse_duration
from horae.model.errors import DuplicateJob, Overloaded
from horae.model.ids import created_at
from horae.model.promise import renewed
from horae.model.rank import rank
from horae.model.states import PENDING, State
from horae.model.unique import OnConflict, Unique, debounced, unique_hash
from horae.model.work import JobError
from horae.store.jobs import NewJob, PendingChange
from horae.store.unique import KeyedJob, KeyLocked, Once, Uniques

TRIES: Final = 5


class Settled(NamedTuple):
    """What became of a submit, and who must hear of it once it is committed."""

    answer: Submitted
    replaced: asyncpg.Record | None = None
    moved: PendingChange | None = None


class Uniqueness:
    def __init__(self, uniques: Uniques, watch: Watch, signals: Signals, clock: Clock, tally: Tally) -> None:
        self._uniques = uniques
        self._tally = tally
        self._watch = watch
        self._signals = signals
        self._clock = clock
        self._turns: WeakValueDictionary[tuple[int, bytes], asyncio.Lock] = WeakValueDictionary()
        """Submits of one key wait for each other here first: a popular key must not keep all connections waiting."""

    async def submit(self, job: NewJob, task: str, unique: Unique, once: Once | None = None) -> Submitted | None:
        """The new job, or what its terms make of the one that is there. None: the idempotency key was used before."""
        keyed = self._keyed(job, task, unique)
        async with self._turns.setdefault((job.tenant_id, keyed.hash), asyncio.Lock()):
            settled = await self._uniques.locked(keyed, lambda key: self._settle(key, job, unique, once))
        failpoints.reach("unique.after_commit")
        if settled is None:
            return None
        if settled.replaced is not None:
            self._note_replaced(settled.replaced, _replaced_by(job))
        if settled.moved is not None:
            self._announce(settled.moved, settled.answer.state)
        return settled.answer

    def _keyed(self, job: NewJob, task: str, unique: Unique) -> KeyedJob:
        until = None
        if unique.period is not None:
            until = self._clock.now() + parse_duration(unique.period, "unique.period")
        key = unique_hash(task, msgspec.json.decode(job.params), unique)
        return KeyedJob(job, key, unique.during.value, until)

    async def _settle(self, key: KeyLocked, job: NewJob, unique: Unique, once: Once | None) -> Settled | None:
        if once is not None:
            known = await key.idempotency_find(once.key)
            if known is not None:
                return _stored(job) if known["job_id"] == job.id else None
        settled = await self._judge(key, job, unique)
        if once is not None:
            await key.idempotency_put(once, settled.answer.id)
        return settled

    async def _judge(self, key: KeyLocked, job: NewJob, unique: Unique) -> Settled:
        for _ in range(TRIES):
            holder = await key.holder()
            if holder is None:
                await key.store()
                return _stored(job)
            settled = await self._conflict(key, holder, job, unique)
            if settled is not None:
                return settled
            # It moved between the look and the deed: look again.
        raise Overloaded("the job that is there keeps moving; try again", retry_after=1)

    async def _conflict(self, key: KeyLocked, holder: asyncpg.Record, job: NewJob, unique: Unique) -> Settled | None:
        state, there = state_of(holder), str(holder["id"])
        if there == job.id:
            return _stored(job)
        if unique.on_conflict is OnConflict.RETURN:
            return Settled(Submitted(there, state, existing=True))
        if unique.on_conflict is OnConflict.REJECT:
            raise DuplicateJob(f"job {there} is the same and is {state}", job_id=there, state=state.value)
        if state not in PENDING:
            raise DuplicateJob(
                f"job {there} is the same and is {state}: only one that waits can be replaced or debounced; "
                "with unique.during = waiting another may wait behind it",
                job_id=there, state=state.value,
            )  # fmt: skip
        if unique.on_conflict is OnConflict.REPLACE:
            return await self._replace(key, holder, job)
        return await self._debounce(key, holder, job, unique)

    async def _replace(self, key: KeyLocked, holder: asyncpg.Record, job: NewJob) -> Settled | None:
        if not await key.cancel(holder, _replaced_by(job)):
            return None
        await key.store()
        return _stored(job)._replace(replaced=holder)

    async def _debounce(self, key: KeyLocked, holder: asyncpg.Record, job: NewJob, unique: Unique) -> Settled | None:
        now = self._clock.now()
        run_at = debounced(created_at(holder["id"]), now, job.run_at, unique)
        options = options_of(holder)
        if options.promise is not None:
            options.promise = renewed(options.promise, run_at, now)
        change = PendingChange(
            holder["id"],
            holder["version"],
            holder["tenant_id"],
            holder["lane_id"],
            holder["rank"],
            holder["lane_id"],
            rank(run_at, now, holder["priority"], options.urged_by),
            run_at,
            holder["priority"],
            job.params,
            holder["options"] if options.promise is None else msgspec.json.encode(options).decode(),
        )
        ready = await key.change(change)
        if ready is None:
            return None
        state = State.READY if ready else State.SCHEDULED
        return Settled(Submitted(str(holder["id"]), state, existing=True), moved=change)

    def _note_replaced(self, holder: asyncpg.Record, error: str) -> None:
        self._tally.removed(holder["lane_id"], State.CANCELLED)
        self._watch.ended(str(holder["id"]), Ended(State.CANCELLED, None, error, None, holder["attempt"]))

    def _announce(self, change: PendingChange, state: State) -> None:
        if state is State.READY:
            self._signals.ready({change.lane_id: change.rank})
        else:
            self._signals.scheduled(change.run_at)


def _replaced_by(job: NewJob) -> str:
    return error_text(JobError("replaced", f"replaced by job {job.id}")) or ""


def _stored(job: NewJob) -> Settled:
    return Settled(Submitted(job.id, State.READY if job.due else State.SCHEDULED))
