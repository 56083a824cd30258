"""Schedules in the store, and what becomes of their ticks.

A change, a look ahead and a judgement each run in one transaction that holds the row of the schedule. What is decided
meanwhile is the caller's: it is handed in as a function.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from horae import failpoints
from horae.model.job import expires_of
from horae.store.database import Database, Rows, Transaction, columns
from horae.store.moves import promises

TAKE_BACK: Final = 10_000
"""How many of its latest ticks a change of a schedule looks at."""
READY_TOO: Final = True


class TickJob(NamedTuple):
    """One row of `tick_fire`, in the order of its parameters."""

    id: UUID
    rank: int
    run_at: datetime
    tenant_id: int
    lane_id: int
    key_id: int | None
    priority: int
    params: str
    options: str | None


class TickRow(NamedTuple):
    """One row of `tick_put`, in the order of its parameters."""

    schedule_id: int
    at: datetime
    origin: str
    tenant_id: int
    run_at: datetime
    state: str
    job_id: UUID | None = None
    reason: str | None = None
    detail: str | None = None
    several: int = 1
    """How many ticks this row stands for."""
    look_at: datetime | None = None


class Advance(NamedTuple):
    """Where a schedule has got to."""

    schedule_id: int
    cursor_at: datetime
    next_at: datetime | None


class Plans(NamedTuple):
    jobs: list[TickJob]
    ticks: list[TickRow]
    advances: list[Advance]

    @classmethod
    def empty(cls) -> "Plans":
        return cls([], [], [])

    def take(self, others: "Plans") -> None:
        self.jobs.extend(others.jobs)
        self.ticks.extend(others.ticks)
        self.advances.extend(others.advances)


class Saved(NamedTuple):
    """A schedule as it shall be."""

    task: str
    definition: str
    cursor_at: datetime
    next_at: datetime | None
    runs: int
    paused: bool
    tzdata: str
    key_id: int | None
    again: list[TickJob]
    """Jobs of ticks that were due and taken back, made anew."""
    ticks: list[TickRow]


class Change(NamedTuple):
    action: str
    by: str
    why: str


class Wanted(NamedTuple):
    """Which schedules of a list; None is any."""

    task: str | None = None
    text: str | None = None
    """A part of the name or the task."""
    state: str | None = None


Decide = Callable[[asyncpg.Record, Rows], Awaitable[Saved]]
"""From the schedule's locked row and the ticks that were taken back."""


class Schedules:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def schedule_create(self, tenant_id: int, name: str, saved: Saved, by: str, why: str) -> bool:
        """False when the name is taken."""

        async def work(tx: Transaction) -> bool:
            row = await tx.fetchrow(
                "schedule_create", tenant_id, name, saved.task, saved.definition, saved.cursor_at, saved.next_at,
                saved.key_id, by, saved.tzdata, saved.paused,
            )  # fmt: skip
            if row is not None:
                await _note(tx, row, Change("created", by, why))
            return row is not None

        return await self._database.atomically(work)

    async def schedule_get(self, tenant_id: int, name: str) -> asyncpg.Record | None:
        return await self._database.fetchrow("schedule_get", tenant_id, name)

    async def schedule_list(self, tenant_id: int | None, wanted: Wanted, after: tuple[str, int], limit: int) -> Rows:
        return await self._database.fetch(
            "schedule_list", tenant_id, wanted.task, *after, limit, wanted.text, wanted.state
        )

    async def schedule_timings(self, tenant_id: int, rows: int) -> Rows:
        """The definitions of those that are not paused."""
        return await self._database.fetch("schedule_timings", tenant_id, rows)

    async def schedule_change(
        self, tenant_id: int, name: str, change: Change | None, decide: Decide, *, ready_too: bool = True
    ) -> Rows | None:
        """Takes back what has not started, and saves what `decide` makes of it. None: there is no such schedule.

        Without a `change` no version is noted. Returns the jobs that were made anew.
        """

        async def work(tx: Transaction) -> Rows | None:
            row = await tx.fetchrow("schedule_lock", tenant_id, name)
            if row is None:
                return None
            taken = await tx.fetch("tick_take_back", tenant_id, row["id"], TAKE_BACK, ready_too)
            saved = await decide(row, taken)
            changed = await tx.fetchrow(
                "schedule_change", tenant_id, row["id"], saved.task, saved.definition, saved.cursor_at, saved.next_at,
                saved.runs, saved.paused, change.by if change else row["changed_by"], saved.tzdata, saved.key_id,
                0 if change is None else 1,
            )  # fmt: skip
            if change is not None and changed is not None:
                await _note(tx, changed, change)
            return await put_ticks(tx, saved.again, saved.ticks)

        return await self._database.atomically(work)

    async def schedule_delete(self, tenant_id: int, name: str, by: str, why: str) -> bool:
        async def work(tx: Transaction) -> bool:
            row = await tx.fetchrow("schedule_lock", tenant_id, name)
            if row is None:
                return False
            await tx.fetch("tick_take_back", tenant_id, row["id"], TAKE_BACK, READY_TOO)
            await tx.fetch("backfill_cancel", tenant_id, row["id"], None)
            await tx.fetch("schedule_delete", tenant_id, row["id"])
            await tx.fetch(
                "schedule_version_add", tenant_id, name, row["id"], row["version"] + 1, "deleted", row["definition"],
                by, why,
            )  # fmt: skip
            return True

        return await self._database.atomically(work)

    async def schedule_history(self, tenant_id: int, name: str, limit: int) -> Rows:
        return await self._database.fetch("schedule_history", tenant_id, name, limit)

    async def schedule_by_calendar(self, tenant_id: int) -> Rows:
        return await self._database.fetch("schedule_by_calendar", tenant_id)

    async def schedule_claim(self, ahead: float, limit: int, plan: Callable[[Rows], Awaitable[Plans]]) -> Rows:
        """Moves the cursors of schedules whose next tick is near. Returns the jobs that were made."""

        async def work(tx: Transaction) -> Rows:
            plans = await plan(await tx.fetch("schedule_claim", ahead, limit))
            made = await put_ticks(tx, plans.jobs, plans.ticks)
            if plans.advances:
                fired = _fired(made, plans.ticks)
                rows = [(*advance, fired[advance.schedule_id]) for advance in plans.advances]
                await tx.fetch("schedule_advance", *columns(rows))
                failpoints.reach("ticks.before_commit")
            return made

        return await self._database.atomically(work, hot=True)

    async def tick_claim(self, limit: int, judge: Callable[[Rows, Rows, Rows], Awaitable[Plans]]) -> Rows:
        """Judges the ticks that are due, of schedules whose overlap is not simply allowed."""

        async def work(tx: Transaction) -> Rows:
            schedules = await tx.fetch("tick_claim", limit)
            if not schedules:
                return []
            ids = [row["id"] for row in schedules]
            plans = await judge(schedules, await tx.fetch("tick_judged", ids), await tx.fetch("tick_alive", ids))
            made = await put_ticks(tx, plans.jobs, plans.ticks)
            if fired := _fired(made, plans.ticks):
                await tx.fetch("schedule_count_run", *columns(list(fired.items())))
            return made

        return await self._database.atomically(work, hot=True)

    async def tick_put(self, jobs: Sequence[TickJob], ticks: Sequence[TickRow]) -> Rows:
        """Of a trigger, which disturbs nothing else."""

        async def work(tx: Transaction) -> Rows:
            return await put_ticks(tx, jobs, ticks)

        return await self._database.atomically(work)

    async def tick_next(self) -> tuple[datetime, datetime | None]:
        rows = await self._database.once("tick_next", hot=True)
        return rows[0]["now"], rows[0]["look_at"]

    async def tick_overdue(self, seconds: float, limit: int) -> Rows:
        return await self._database.fetch("tick_overdue", seconds, limit)

    async def tick_list(
        self, tenant_id: int, schedule_id: int, before: datetime, state: str | None, limit: int
    ) -> Rows:
        return await self._database.fetch("tick_list", tenant_id, schedule_id, before, state, limit)

    async def tick_latest(self, tenant_id: int | None, schedule_ids: Sequence[int], count: int) -> Rows:
        return await self._database.fetch("tick_latest", tenant_id, schedule_ids, count)

    async def tick_clean(self, seconds: float, rows: int) -> int:
        found = await self._database.fetch("tick_clean", seconds, rows)
        return int(found[0]["forgotten"])

    async def tenant_interval(self, tenant_id: int) -> float:
        row = await self._database.fetchrow("tenant_interval", tenant_id)
        return 1.0 if row is None else float(row["shortest_interval"])

    async def tenant_interval_put(self, tenant_id: int, seconds: float) -> None:
        await self._database.fetch("tenant_interval_put", tenant_id, seconds)

    async def calendar_list(self, tenant_id: int) -> Rows:
        return await self._database.fetch("calendar_list", tenant_id)

    async def calendar_put(self, tenant_id: int, name: str, definition: str, by: str) -> None:
        await self._database.fetch("calendar_put", tenant_id, name, definition, by)

    async def calendar_delete(self, tenant_id: int, name: str) -> bool:
        return bool(await self._database.fetch("calendar_delete", tenant_id, name))


async def _note(tx: Transaction, row: asyncpg.Record, change: Change) -> None:
    await tx.fetch(
        "schedule_version_add", row["tenant_id"], row["name"], row["id"], row["version"], change.action,
        row["definition"], change.by, change.why,
    )  # fmt: skip


async def put_ticks(tx: Transaction, jobs: Sequence[TickJob], ticks: Sequence[TickRow]) -> Rows:
    made = await tx.fetch("tick_fire", *columns(jobs)) if jobs else []
    new = {row["id"] for row in made}
    if expiring := [row for row in _expiries(jobs) if row[1] in new]:
        await tx.fetch("expiry_put", *columns(expiring))
    if promised := [row for row in promises(jobs) if row.id in new]:
        await tx.fetch("promise_put", *columns(promised))
    if ticks:
        await tx.fetch("tick_put", *columns(ticks))
    return made


def _expiries(jobs: Sequence[TickJob]) -> list[tuple[datetime, UUID, int]]:
    found = ((expires_of(job.options), job) for job in jobs if job.options is not None)
    return [(at, job.id, job.tenant_id) for at, job in found if at is not None]


def _fired(made: Rows, ticks: Sequence[TickRow]) -> Counter[int]:
    """How many new jobs each schedule has got."""
    new = {row["id"] for row in made}
    return Counter(tick.schedule_id for tick in ticks if tick.job_id in new)
