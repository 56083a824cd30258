"""Bugs of servers that are not in their SQL alone."""

import asyncio
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, Final
from uuid import UUID

from horae.engine import complete, planning
from horae.engine.actionwork import ActionWork
from horae.engine.choice import Choice
from horae.engine.complete import Complete
from horae.engine.dispatch import spawn
from horae.engine.duties import timers
from horae.engine.fleet import Fleet
from horae.engine.gauges import Gauge
from horae.engine.groupcommit import GroupCommit
from horae.engine.steer import Steer
from horae.engine.submit import Submit
from horae.model.errors import HoraeError, QuotaExceeded
from horae.model.ids import derived_id
from horae.model.states import End, State
from horae.model.verdict import Verdict
from horae.store.jobs import Jobs
from horae.store.schedules import TickRow
from horae.store.statements import statements

from .statements import swap

LATER: Final = 3.0
"""Seconds after the answer at which the job is really stored."""
CANCEL_AT_ONCE: Final = """
with gone as (
    delete from lease where lane_id = $1 and id = $2 and $3::text is not null and $4::text is not null returning *
)
insert into outcome (id, started_at, finished_at, tenant_id, worker_id, attempt, state, ending)
select g.id, g.granted_at, clock_timestamp(), l.tenant_id, g.worker_id, g.attempt, 'cancelled', 'cancelled'
from gone g join lane l on l.id = g.lane_id
returning worker_id
"""
REVIVE: Final = """
with gone as (delete from outcome where id = any ($1::uuid[]) and state = 'cancelled' returning *)
insert into outcome (id, started_at, finished_at, tenant_id, worker_id, attempt, state, ending)
select id, started_at, clock_timestamp(), tenant_id, worker_id, attempt, 'succeeded', 'succeeded' from gone
returning id::text
"""


def ack_before_commit() -> None:
    store = GroupCommit.store

    async def later(self: GroupCommit, job: Any) -> None:
        await asyncio.sleep(LATER)
        with suppress(HoraeError):
            await store(self, job)

    async def at_once(self: GroupCommit, job: Any) -> None:
        spawn(later(self, job))

    GroupCommit.store = at_once


def idempotency_ignored() -> None:
    async def once(self: Submit, caller: Any, request: Any, key: str, body: bytes) -> Any:
        return await self.one(caller, request)

    Submit.once = once


def tick_without_id() -> None:
    """Nor a lock: as long as one holds, the other is not needed."""

    def any_id(schedule_id: int, at: datetime) -> UUID:
        return derived_id(at, "schedule", schedule_id, os.urandom(8))

    planning.job_id_of = any_id
    swap("schedule_claim", "\nfor update skip locked", "")
    swap(
        "schedule_claim",
        "clock_timestamp() as now from schedule",
        "clock_timestamp() as now, pg_sleep(1.5) from schedule",
    )


def limits_in_memory() -> None:
    """Each server counts what it granted itself, and what it saw ending."""
    running: Counter[int] = Counter()
    held: dict[str, list[int]] = {}
    attempts = Complete.attempts

    async def claim(self: Jobs, worker: int, number: int, policy: int, limit: int, lanes: Any, limits: Any) -> Any:
        places = iter(limits.places)
        of_lane = [[next(places) - 1 for _ in range(count)] for count in limits.counts]
        room = [
            min((limits.max_running[n] or limit) - running[limits.groups[n]] for n in numbers) for numbers in of_lane
        ]
        cut = [lane._replace(quota=max(0, min(lane.quota, left))) for lane, left in zip(lanes, room, strict=True)]
        rows = await self.job_claim(worker, number, policy, limit, cut)
        groups_of = {
            lane.lane_id: [limits.groups[place] for place in groups]
            for lane, groups in zip(lanes, of_lane, strict=True)
        }
        for row in rows:
            held[row["id"]] = groups_of[row["lane_id"]]
            running.update(held[row["id"]])
        return rows

    async def counted(self: Complete, worker_id: int, finished: Sequence[Any]) -> Any:
        stale = await attempts(self, worker_id, finished)
        for one in finished:
            running.subtract(held.pop(one.id, ()))
        return stale

    Jobs.job_claim_limited = claim
    Complete.attempts = counted


def tick_given_up() -> None:
    """What fails when a tick is made a job counts as a reason to skip it: here each second time."""
    fire, calls = planning.Planner._fire, count()

    async def unlucky(
        self: planning.Planner, row: Any, definition: Any, at: datetime, run_at: datetime, plans: Any
    ) -> int:
        if next(calls) % 2:
            return await fire(self, row, definition, at, run_at, plans)
        plans.ticks.append(
            TickRow(row["id"], at, "rule", row["tenant_id"], run_at, "skipped", reason="store_unavailable")
        )
        return 0

    planning.Planner._fire = unlucky


def action_forgotten() -> None:
    """What many jobs are to be cancelled by is done by word alone."""

    async def by_word(self: ActionWork, batch: Any, row: Any, deed: Any) -> None:
        deed.done += 1

    ActionWork._cancel = by_word


def no_retries() -> None:
    judge = complete.judge

    def harsh(end: End, *history: Any) -> Verdict:
        return Verdict(State.FAILED) if end is End.ERROR else judge(end, *history)

    complete.judge = harsh


def result_of_another() -> None:
    """Two that end together change their results."""
    succeed = Jobs.job_succeed

    async def mixed(self: Jobs, worker_id: int, rows: Sequence[tuple[Any, ...]]) -> set[str]:
        results = [row[4] for row in rows]
        turned = [(*row[:4], result, row[5]) for row, result in zip(rows, results[1:] + results[:1], strict=True)]
        return await succeed(self, worker_id, turned)

    Jobs.job_succeed = mixed


def cancelled_and_done() -> None:
    """A cancel ends the job at once, and the success of the process that went on ends it again."""
    statements()["job_cancel_running"] = CANCEL_AT_ONCE
    statements()["revive"] = REVIVE
    refuse = Complete._stale

    async def accepted(self: Complete, worker_id: int, missed: Sequence[Any], lanes: Any) -> Any:
        ids = [one.id for one in missed if one.end is End.SUCCEEDED]
        taken = {row["id"] for row in await self._jobs._database.fetch("revive", ids)}
        return await refuse(self, worker_id, [one for one in missed if one.id not in taken], lanes)

    Complete._stale = accepted


def timers_only_ahead() -> None:
    """What fell due before the last look, while this server was away or busy, is never looked for."""
    timers.BEGINNING = datetime.now(UTC)
    timers.MARGIN = timedelta(0)


def newest_tenant_first() -> None:
    """Whoever came last is served before all others, for as long as it has jobs."""
    share_out = Choice._with_quotas

    def unfair(self: Choice, picking: Any, want: int) -> list[Any]:
        chosen = share_out(self, picking, want)
        newest = max((one.hint.key.tenant_id for one in chosen), default=None)
        return [one for one in chosen if one.hint.key.tenant_id == newest]

    Choice._with_quotas = unfair


def no_comeback() -> None:
    """Who is refused may come back at once, and is refused again."""
    exceeded = Gauge._exceeded

    def silent(self: Gauge, *what: Any) -> QuotaExceeded:
        error = exceeded(self, *what)
        error.extra["retry_after"] = 0
        return error

    Gauge._exceeded = silent


def lost_answers_ignored() -> None:
    async def nothing(self: Fleet, worker_id: int, numbers: Sequence[int] | None) -> int:
        return 0

    Fleet.take_back = nothing


def cancel_forgotten() -> None:
    """A job that has not started is cancelled by word alone."""

    async def by_word(self: Steer, row: Any, reason: str, by: Any) -> bool:
        return True

    Steer._cancel_pending = by_word
