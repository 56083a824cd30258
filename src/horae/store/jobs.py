"""Jobs in the store: submitting, claiming, ending, steering."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import asyncpg

from horae import failpoints
from horae.model.errors import OutcomeUnknown, StoreUnavailable
from horae.model.ids import HINT_BITS, tenant_hint
from horae.store.database import AMBIGUOUS, Copy, Database, NotConnected, Rows, Transaction, columns, numbers
from horae.store.moves import Moved, PromiseRow, end_overtaken, expiries, promises, put_back, submit_in
from horae.store.plainjobs import PlainJobs

COPY_FROM: Final = 200


class NewJob(NamedTuple):
    """One row of `job_submit`, in the order of its parameters."""

    id: str
    rank: int
    run_at: datetime
    tenant_id: int
    lane_id: int
    key_id: int | None
    priority: int
    params: str
    options: str | None
    due: bool


class LaneClaim(NamedTuple):
    lane_id: int
    tenant_id: int
    floor: int
    ceiling: int
    quota: int


class LaneGroups(NamedTuple):
    """The limits of the lanes of one claim: all groups once, and for each lane how many of them and which (from 1)."""

    groups: Sequence[int]
    max_running: Sequence[int | None]
    rates: Sequence[float | None]
    bursts: Sequence[float | None]
    counts: Sequence[int]
    places: Sequence[int]


class Used(NamedTuple):
    """What an attempt at a task that is data used."""

    tenant_id: int
    id: str
    attempt: int
    task_version: int | None
    isolation: str
    read_bytes: int | None
    written_bytes: int | None


class Jobs:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def job_submit(self, jobs: Sequence[NewJob]) -> None:
        """Stores all or none."""
        if expiries(jobs) or promises(jobs):
            return await self._insert(lambda: self._database.atomically_once(lambda tx: submit_in(tx, jobs)))
        values: list[Any] = columns(jobs)
        name = "job_submit"
        if all(values[-1]):
            ids, ranks, run_at, tenants, lanes, keys, priorities, params, options, _ = values
            name = "job_submit_now"
            values = [ids, numbers(ranks), run_at, numbers(tenants), numbers(lanes), keys, numbers(priorities), params,
                      options]  # fmt: skip
        return await self._insert(lambda: self._database.once(name, *values, hot=True))

    async def job_submit_bulk(self, jobs: Sequence[NewJob]) -> None:
        """Stores all or none, by COPY: quicker than a statement from a few hundred jobs on."""
        if len(jobs) < COPY_FROM:
            return await self.job_submit(jobs)
        ready = [(job.rank, job.id, job.lane_id, 0) for job in jobs if job.due]
        timers = [(job.run_at, job.rank, job.id, job.lane_id, 0) for job in jobs if not job.due]
        copies = [Copy("job", NewJob._fields[:-1], [job[:-1] for job in jobs])]
        if ready:
            copies.append(Copy("ready", ("rank", "id", "lane_id", "attempt"), ready))
        if timers:
            copies.append(Copy("timer", ("run_at", "rank", "id", "lane_id", "attempt"), timers))
        if expiring := expiries(jobs):
            copies.append(Copy("expiry", ("expires_at", "id", "tenant_id"), expiring))
        if promised := promises(jobs):
            copies.append(Copy("promise", PromiseRow._fields, promised))
        return await self._insert(lambda: self._database.copy(copies))

    async def job_submit_plain(self, jobs: PlainJobs) -> None:
        """The same for jobs of one task that are due."""
        copies = [
            Copy("job", NewJob._fields[:-1], jobs.job_rows()),
            Copy("ready", ("rank", "id", "lane_id", "attempt"), jobs.ready_rows()),
        ]
        return await self._insert(lambda: self._database.copy(copies))

    async def _insert(self, insert: Callable[[], Awaitable[object]]) -> None:
        """A lost answer is asked again: ids are ours, so the second insert tells us of the first."""
        lost = False

        async def attempt() -> None:
            nonlocal lost
            try:
                failpoints.reach("submit.before_commit")
                await insert()
                failpoints.reach("submit.after_commit")
            except NotConnected:
                raise
            except AMBIGUOUS:
                lost = True
                raise
            except asyncpg.UniqueViolationError:
                if not lost:
                    raise

        try:
            await self._database.again(attempt)
        except StoreUnavailable as error:
            if lost:
                raise OutcomeUnknown(
                    "the database went away while it stored the job; whether it did is unknown. "
                    "Ask for the job, or submit with an idempotency key"
                ) from error
            raise

    async def job_submit_once(self, jobs: Sequence[NewJob], keys: Sequence[str], prints: Sequence[bytes]) -> set[str]:
        """Stores those whose idempotency key is new; returns their ids."""
        values = (*columns(jobs), keys, prints)
        expiring, promised = expiries(jobs), promises(jobs)
        if not expiring and not promised:
            return {row["id"] for row in await self._database.fetch("job_submit_once", *values, hot=True)}

        async def work(tx: Transaction) -> set[str]:
            won = {row["id"] for row in await tx.fetch("job_submit_once", *values)}
            if kept := [row for row in expiring if row[1] in won]:
                await tx.fetch("expiry_put", *columns(kept))
            if made := [row for row in promised if row.id in won]:
                await tx.fetch("promise_put", *columns(made))
            return won

        return await self._database.atomically(work)

    async def idempotency_find(
        self, tenants: Sequence[int], keys: Sequence[str]
    ) -> dict[tuple[int, str], tuple[bytes, str]]:
        rows = await self._database.fetch("idempotency_find", tenants, keys)
        return {(row["tenant_id"], row["key"]): (row["fingerprint"], row["job_id"]) for row in rows}

    async def job_claim(self, worker_id: int, number: int, policy: int, limit: int, lanes: Sequence[LaneClaim]) -> Rows:
        """Not tried again: leases granted in an answer that got lost come back through the worker's `lost` numbers."""
        wanted = map(numbers, columns(lanes))
        return await self._database.once("job_claim", worker_id, number, policy, limit, *wanted, hot=True)

    async def job_claim_limited(
        self, worker_id: int, number: int, policy: int, limit: int, lanes: Sequence[LaneClaim], groups: "LaneGroups"
    ) -> Rows:
        """As `job_claim`, for lanes with limits."""
        return await self._database.once(
            "job_claim_limited", worker_id, number, policy, limit, *columns(lanes), *groups, hot=True
        )

    async def job_succeed(
        self, worker_id: int, rows: Sequence[tuple[int, str, int, int, str | None, float]]
    ) -> set[str]:
        lanes, ids, attempts, tenants, results, waited = columns(rows)
        ended = await self._database.fetch(
            "job_succeed",
            worker_id,
            numbers(lanes),
            ids,
            numbers(attempts),
            numbers(tenants),
            results if any(results) else None,
            numbers(int(seconds * 1e6) for seconds in waited),
            hot=True,
        )
        return {row["id"] for row in ended}

    async def job_complete(
        self, worker_id: int, rows: Sequence[tuple[object, ...]], used: Sequence[Used] = ()
    ) -> set[str]:
        """With what those attempts used whose tasks are data."""

        async def work(tx: Transaction) -> Rows:
            ended = await tx.fetch("job_complete", worker_id, *columns(rows))
            await _add_executions(tx, used, ended)
            return ended

        if used:
            ended = await self._database.atomically(work, hot=True)
        else:
            ended = await self._database.fetch("job_complete", worker_id, *columns(rows), hot=True)
        return {row["id"] for row in ended}

    async def job_reschedule(self, worker_id: int, rows: Sequence[tuple[Any, ...]]) -> Moved:
        """`rows` are (lane, id, attempt, …)."""

        async def work(tx: Transaction) -> Moved:
            back = await tx.fetch("job_reschedule", worker_id, *columns(rows))
            return Moved(back, await end_overtaken(tx, worker_id, back))

        return await self._database.atomically(work, hot=True)

    async def job_relocate(
        self,
        worker_id: int,
        rows: Sequence[tuple[Any, ...]],
        places: Sequence[tuple[int, str, int, int, int]],
        used: Sequence[Used] = (),
    ) -> Moved:
        """As `job_reschedule`, with what attempts used; and those in `places` (tenant, id, rank, lane, other lane) go
        into the other lane."""

        async def work(tx: Transaction) -> Moved:
            back = await tx.fetch("job_reschedule", worker_id, *columns(rows))
            held = {row["id"] for row in back}
            if going := [place for place in places if place[1] in held]:
                await tx.fetch("ready_relocate", *columns(going))
            await _add_executions(tx, used, back)
            return Moved(back, await end_overtaken(tx, worker_id, back))

        return await self._database.atomically(work)

    async def failure_facts(self, worker_id: int, keys: Sequence[tuple[int, str, int]]) -> dict[str, asyncpg.Record]:
        """`keys` are (tenant, id, attempt)."""
        rows = await self._database.fetch("failure_facts", worker_id, *columns(keys), hot=True)
        return {row["id"]: row for row in rows}

    async def completion_known(self, worker_id: int, keys: Sequence[tuple[int, str, int, str]]) -> set[tuple[str, int]]:
        """`keys` are (tenant, id, attempt, ending)."""
        rows = await self._database.fetch("completion_known", worker_id, *columns(keys), hot=True)
        return {(row["id"], row["attempt"]) for row in rows}

    async def job_get(self, tenant_id: int | None, job_id: UUID) -> asyncpg.Record | None:
        """Without a tenant: of whichever tenant."""
        if tenant_id is None:
            found = await self._database.fetch("job_tenant", job_id, tenant_hint(job_id), 1 << HINT_BITS)
            tenant_id = found[0]["tenant_id"]
        return None if tenant_id is None else await self._database.fetchrow("job_get", tenant_id, job_id)

    async def job_state_poll(self, keys: Sequence[tuple[int, str]]) -> Rows:
        return await self._database.fetch("job_state_poll", *columns(keys), hot=True)

    async def result_get(self, tenant_id: int, job_id: UUID) -> asyncpg.Record | None:
        return await self._database.fetchrow("result_get", tenant_id, job_id, hot=True)

    async def job_cancel_pending(self, tenant_id: int, lane_id: int, job_id: UUID, rank: int, error: str) -> bool:
        return bool(await self._database.fetch("job_cancel_pending", tenant_id, lane_id, job_id, rank, error))

    async def job_cancel_running(self, lane_id: int, job_id: UUID, reason: str, who: str) -> asyncpg.Record | None:
        return await self._database.fetchrow("job_cancel_running", lane_id, job_id, reason, who)

    async def executions_of_job(self, tenant_id: int, job_id: UUID, lane_id: int) -> Rows:
        return await self._database.fetch("executions_of_job", tenant_id, job_id, lane_id)

    async def pending_change(self, change: "PendingChange") -> bool | None:
        """Moves a job that has not started to its new place and edits its body, or changes nothing.

        Returns whether it is ready now, None when it had started meanwhile.
        """

        async def work(tx: Transaction) -> bool | None:
            taken = await tx.fetchrow("pending_take", change.old_lane_id, change.id, change.old_rank)
            if taken is None:
                return None
            return await put_back(tx, change, taken["attempt"])

        return await self._database.atomically(work)

    async def outcome_retry(self, change: "PendingChange") -> bool | None:
        """Runs a failed or cancelled job again, as changed. None when it is in no such state."""

        async def work(tx: Transaction) -> bool | None:
            taken = await tx.fetchrow("outcome_take", change.tenant_id, change.id)
            if taken is None:
                return None
            return await put_back(tx, change, taken["attempt"])

        return await self._database.atomically(work)


async def _add_executions(tx: Transaction, used: Sequence[Used], ended: Rows) -> None:
    ids = {row["id"] for row in ended}
    if rows := [one for one in used if one.id in ids]:
        await tx.fetch("execution_add", *columns(rows))


class PendingChange(NamedTuple):
    """A job as it shall be, and where its pending row lies now."""

    id: UUID
    version: str
    """Of the body that the change was made from."""
    tenant_id: int
    old_lane_id: int
    old_rank: int
    lane_id: int
    rank: int
    run_at: datetime
    priority: int
    params: str
    options: str | None
