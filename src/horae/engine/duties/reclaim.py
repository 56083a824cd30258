"""Reclaim: no job stays with a worker whose lease has ended.

A worker whose `expires_at` has passed by the database's clock is declared lost under its own row lock; then its leases
are given away. It has stopped its work by then: a worker counts from before it *sent* its last heartbeat and kills
what it runs three seconds before the lease can end. Leases granted by a claim that raced with the end are found by
looking again at workers lost of late; those that nobody could give away in that time, because servers or database were
gone, by looking at all that are lost when a server starts and once a minute.

A clock that is set forward ends no lease before its seconds are over, because `steady` does not follow it for so long.
One that is set back lets the leases that seem to reach far ahead begin anew.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import asyncpg
import structlog

from horae import failpoints
from horae.engine import overtaken
from horae.engine.clock import DatabaseClock
from horae.engine.rows import error_text
from horae.engine.signals import Signals
from horae.engine.tally import Tally
from horae.engine.watch import Ended, Watch
from horae.model.errors import StoreUnavailable
from horae.model.fingerprint import fingerprint
from horae.model.states import End, State
from horae.model.verdict import History, Verdict, judge
from horae.model.work import JobError
from horae.store.jobs import Jobs
from horae.store.workers import Workers

log = structlog.get_logger()

LOOK_BACK_SECONDS: Final = 300.0
RUNS_A_SURVEY: Final = 60
BATCH: Final = 1000
CANCEL_SECONDS: Final = 60.0
FORGET_WORKER_SECONDS: Final = 7 * 86_400.0
FORGET_EVENT_SECONDS: Final = 30 * 86_400.0


class Reclaim:
    name = "reclaim"
    interval = 1.0

    def __init__(
        self, jobs: Jobs, workers: Workers, watch: Watch, signals: Signals, clock: DatabaseClock, tally: Tally
    ) -> None:
        self._jobs = jobs
        self._workers = workers
        self._watch = watch
        self._signals = signals
        self._clock = clock
        self._tally = tally
        self._runs = 0

    async def run_once(self) -> Mapping[str, int]:
        lost = jobs = 0
        if set_right := await self._workers.worker_set_right():
            log.warning("clock_set_back", workers=set_right)
        now = self._clock.steady()
        survey = self._runs % RUNS_A_SURVEY == 0
        expired = await self._workers.worker_expired(now, None if survey else LOOK_BACK_SECONDS)
        # By chance, so that one at which the database breaks off does not always stand before the same others.
        for row in random.sample(expired, len(expired)):
            try:
                if row["state"] in {"active", "draining"}:
                    if not await self._lose(row["id"], now):
                        continue
                    lost += 1
                # What a worker left behind when it said goodbye was not running any more: no crash.
                jobs += await self._give_away(row["id"], End.UNDELIVERED if row["state"] == "left" else End.LOST)
            except StoreUnavailable:
                raise
            except Exception as error:  # noqa: BLE001 - a job that cannot be moved must not keep those of other workers
                log.warning("reclaim_failed", worker=row["id"], error=repr(error))
        self._runs += 1
        if survey:
            await self._workers.cancel_clean(CANCEL_SECONDS)
            await self._workers.worker_clean(FORGET_WORKER_SECONDS, FORGET_EVENT_SECONDS)
        return {"workers_lost": lost, "jobs": jobs}

    async def _lose(self, worker_id: int, now: datetime) -> bool:
        if not await self._workers.worker_lose(worker_id, now):
            return False
        failpoints.reach("reclaim.after_lose")
        self._signals.lost(worker_id)
        log.warning("worker_lost", worker=worker_id)
        return True

    async def _give_away(self, worker_id: int, end: End) -> int:
        total = 0
        while rows := await self._workers.lease_of_lost(worker_id, BATCH):
            moved = await self._move(worker_id, rows, end)
            total += moved
            if not moved:
                break
        if total:
            log.warning("jobs_reclaimed", worker=worker_id, jobs=total)
        return total

    async def _move(self, worker_id: int, rows: Sequence[asyncpg.Record], end: End) -> int:
        final: list[tuple[asyncpg.Record, Verdict]] = []
        again: list[tuple[asyncpg.Record, Verdict]] = []
        for row in rows:
            history = History(crashes=row["crashes"], cancel_requested=row["cancel_requested"])
            verdict = judge(end, history, random.random())
            if row["rank"] is None:
                verdict = Verdict(State.FAILED)
            (final if verdict.state.ended else again).append((row, verdict))
        gone = await self._end(worker_id, final) | await self._reschedule(worker_id, again, end)
        failpoints.reach("reclaim.after_commit")
        freed = Counter(group_id for row in rows if row["id"] in gone for group_id in row["slots"] or ())
        if freed:
            self._signals.freed(freed)
        return len(gone)

    async def _end(self, worker_id: int, final: Sequence[tuple[asyncpg.Record, Verdict]]) -> set[str]:
        if not final:
            return set()
        error = error_text(_evidence(worker_id))
        cause = fingerprint(_evidence(worker_id))
        ended = await self._jobs.job_complete(
            worker_id,
            [
                (row["lane_id"], row["id"], row["attempt"], row["tenant_id"], verdict.state.value,
                 (End.CANCELLED if verdict.state is State.CANCELLED else End.LOST).value, None, error, None, 0.0, None,
                 None, cause if verdict.state is State.FAILED else None)
                for row, verdict in final
            ],
        )  # fmt: skip
        for row, verdict in final:
            if row["id"] in ended:
                self._tally.lost(row["lane_id"], verdict.state)
                self._watch.ended(row["id"], Ended(verdict.state, None, error, None, row["attempt"]))
        return ended

    async def _reschedule(self, worker_id: int, again: Sequence[tuple[asyncpg.Record, Verdict]], end: End) -> set[str]:
        if not again:
            return set()
        error = error_text(_evidence(worker_id))
        moved, cancelled = await self._jobs.job_reschedule(
            worker_id,
            [
                (row["lane_id"], row["id"], row["attempt"], row["tenant_id"], end.value, error, 0.0, None, None,
                 row["rank"], verdict.pause.total_seconds())
                for row, verdict in again
            ],
        )  # fmt: skip
        for row in moved:
            self._tally.lost(row["lane_id"], State.READY)
        self._signals.moved((row["lane_id"], row["rank"], row["pause"]) for row in moved)
        overtaken.tell(cancelled, self._watch, self._tally)
        return {row["id"] for row in moved}


def _evidence(worker_id: int) -> JobError:
    return JobError("worker_lost", f"worker {worker_id} went away while it held this job")
