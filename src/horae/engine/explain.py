"""Explain: why a job is not running yet, when it will be, or where its time went.

Dispatch and explain go by the same predicates: here they are only asked and their answers put into words.
"""

from datetime import datetime
from typing import Final
from uuid import UUID

import asyncpg

from horae.engine.access import Caller
from horae.engine.callbacks import Callbacks
from horae.engine.clock import Clock
from horae.engine.estimate import Estimator
from horae.engine.facts import FactFinder
from horae.engine.promises import in_words
from horae.engine.reasons import reasons
from horae.engine.rows import state_of
from horae.engine.spending import Spending
from horae.engine.steer import Steer
from horae.model.callbacks import SERVER
from horae.model.explanation import WAITS, Code, Estimate, Explanation, Reason, RunningNow, Stretch, Timeline, What
from horae.model.ids import created_at
from horae.model.job import read_options
from horae.model.states import State
from horae.store.workers import Workers

CANCELLING: Final = Reason(
    code=Code.CANCEL_REQUESTED,
    summary="it was asked to stop, and its worker sees to it",
    resolve="wait: its processes are killed when they do not stop by themselves",
)


class Explain:
    def __init__(
        self,
        steer: Steer,
        workers: Workers,
        facts: FactFinder,
        estimator: Estimator,
        spending: Spending,
        clock: Clock,
        callbacks: Callbacks,
    ) -> None:
        self._steer = steer
        self._workers = workers
        self._facts = facts
        self._estimator = estimator
        self._spending = spending
        self._clock = clock
        self._callbacks = callbacks

    async def of(self, by: Caller, job_id: UUID) -> Explanation:
        row = await self._steer.get(by, job_id)
        state = state_of(row)
        if state.ended:
            return await self._ended(row, state, by)
        if state is State.RUNNING:
            return await self._running(row, by)
        return await self._waiting(row, state, by)

    async def timeline(self, by: Caller, job_id: UUID) -> Timeline:
        """What its life went into so far, each wait with its reason."""
        row = await self._steer.get(by, job_id)
        state, now = state_of(row), self._clock.now()
        executions = await self._steer.executions(row)
        layers = await self._spending.layers(row, executions, by.tenant_id, row["finished_at"] or now)
        items = [
            Stretch(what=what, since=span.since, until=span.until, detail=detail, attempt=attempt)
            for what, detail, span, attempt in layers
        ]
        if items and not state.ended:
            items[-1].until = None
            if state is not State.RUNNING:
                reason = reasons(await self._facts.find(row), by.tenant_id)[0]
                items[-1].what = WAITS.get(reason.code, What.WAITING_FOR_WORKER)
                items[-1].detail = reason.summary
        return Timeline(id=row["id"], state=state, at=now, items=items)

    async def _waiting(self, row: asyncpg.Record, state: State, by: Caller) -> Explanation:
        facts = await self._facts.find(row)
        found = reasons(facts, by.tenant_id)
        start = await self._estimator.start(facts, found)
        told = Explanation(
            id=row["id"], state=state, answer=_waits_because(found), reasons=found, place=facts.place,
            notes=_notes(row, start, facts.now),
        )  # fmt: skip
        return _with_estimate(told, start)

    async def _parked(self, row: asyncpg.Record) -> Explanation:
        found = await self._callbacks.of_job(row["tenant_id"], row["id"], row["attempt"])
        since = row["granted_at"] if found is None else found["parked_at"] or row["granted_at"]
        running = RunningNow(
            worker_id=SERVER, since=row["granted_at"], attempt=row["attempt"], done=row["done"], total=row["total"],
            note=row["note"],
        )  # fmt: skip
        waits = Reason(
            code=Code.AWAITING_CALLBACK,
            summary=f"the service took it on and is expected to call back, since {since:%Y-%m-%d %H:%M:%SZ}",
            resolve="the service calls the address it was given in Horae-Callback; or cancel the job",
            command=f"horae cancel {row['id']}",
            until=None if found is None else found["due_at"],
        )
        return Explanation(
            id=row["id"], state=State.RUNNING, running=running, answer=waits.summary, reasons=[waits],
            no_estimate="when the service calls back, nobody here can know",
        )  # fmt: skip

    async def _running(self, row: asyncpg.Record, by: Caller) -> Explanation:
        if row["worker_id"] == SERVER:
            return await self._parked(row)
        worker = await self._workers.worker_get(row["worker_id"], by.tenant_id)
        running = RunningNow(
            worker_id=row["worker_id"], worker=None if worker is None else worker["name"], since=row["granted_at"],
            attempt=row["attempt"], done=row["done"], total=row["total"], note=row["note"],
        )  # fmt: skip
        told = Explanation(
            id=row["id"], state=State.RUNNING, running=running,
            answer=f"it has been running on worker {row['worker_id']} since {row['granted_at']:%Y-%m-%d %H:%M:%SZ}",
        )  # fmt: skip
        if row["cancel_requested"]:
            told.reasons = [CANCELLING]
        return _with_estimate(told, self._estimator.end(row, self._clock.now()))

    async def _ended(self, row: asyncpg.Record, state: State, by: Caller) -> Explanation:
        spent = await self._spending.of(row, await self._steer.executions(row), by.tenant_id)
        whole = max((row["finished_at"] - created_at(row["id"])).total_seconds(), 0.0)
        most = max(spent, key=lambda part: part.seconds, default=None)
        mostly = "" if most is None else f", most of it {most.what.replace('_', ' ')} ({most.seconds:.3g} s)"
        return Explanation(
            id=row["id"], state=state, answer=f"it {state.value} {whole:.3g} s after its submit{mostly}", spent=spent
        )


def _waits_because(found: list[Reason]) -> str:
    first, more = found[0], len(found) - 1
    return first.summary + (f" (and {more} more reason{'s' * (more > 1)})" if more else "")


def _with_estimate(told: Explanation, found: Estimate | str) -> Explanation:
    if isinstance(found, Estimate):
        told.estimate = found
    else:
        told.no_estimate = found
    return told


def _notes(row: asyncpg.Record, start: Estimate | str, now: datetime) -> list[str]:
    options = read_options(row["options"])
    notes = []
    for at, words in ((options.expires, "it expires"), (options.deadline, "its deadline is")):
        if at is not None:
            notes.append(f"{words} at {at:%Y-%m-%d %H:%M:%SZ}{_too_late(start, at)}")
    if options.promise is not None:
        notes.append(in_words(options.promise, now) + _too_late(start, options.promise.start_by))
    return notes


def _too_late(start: Estimate | str, at: datetime | None) -> str:
    late = at is not None and isinstance(start, Estimate) and start.at > at
    return "; it will probably not have started by then" if late else ""
