"""Backfills in the store: a row each, worked on by whichever server holds its lock."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import asyncpg

from horae.store.database import Database, Rows, Transaction
from horae.store.schedules import TickJob, TickRow, put_ticks


class Step(NamedTuple):
    """How far a backfill gets in one go."""

    cursor_at: datetime
    jobs: list[TickJob]
    ticks: list[TickRow]
    skipped: int
    finished: bool


class NewBackfill(NamedTuple):
    """One row of `backfill_create`, in the order of its parameters."""

    tenant_id: int
    schedule_id: int
    since: datetime
    until: datetime
    concurrency: int
    total: int
    cursor_at: datetime
    by: str


class Backfills:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def backfill_create(self, name: str, row: NewBackfill) -> tuple[int, bool]:
        """Its number, and whether it is new: one of the same range that runs is not made twice.

        `name` is the schedule's, whose row is held meanwhile: of several who ask at once, one makes it.
        """

        async def work(tx: Transaction) -> tuple[int, bool]:
            await tx.fetchrow("schedule_lock", row.tenant_id, name)
            same = await tx.fetchrow("backfill_same", row.tenant_id, row.schedule_id, row.since, row.until)
            made = same or await tx.fetchrow("backfill_create", *row)
            return (0 if made is None else made["id"]), same is None

        return await self._database.atomically(work)

    async def backfill_list(self, tenant_id: int, schedule_id: int, backfill_id: int | None, limit: int) -> Rows:
        return await self._database.fetch("backfill_list", tenant_id, schedule_id, backfill_id, limit)

    async def backfill_settled(
        self, tenant_id: int, schedule_id: int, instants: Sequence[datetime], ids: Sequence[UUID]
    ) -> Rows:
        """Which of these ticks need not be run again."""
        return await self._database.fetch("backfill_settled", tenant_id, schedule_id, instants, ids)

    async def backfill_cancel(self, tenant_id: int, schedule_id: int, backfill_id: int) -> bool:
        """Its jobs that have not started are taken back."""

        async def work(tx: Transaction) -> bool:
            cancelled = await tx.fetch("backfill_cancel", tenant_id, schedule_id, backfill_id)
            if cancelled:
                await tx.fetch("backfill_take_back", tenant_id, schedule_id, backfill_id)
            return bool(cancelled)

        return await self._database.atomically(work)

    async def backfill_running(self, after: int, rows: int) -> Rows:
        """Tenant and number of those that go on, by number."""
        return await self._database.fetch("backfill_running", after, rows)

    async def backfill_claim(
        self, tenant_id: int, backfill_id: int, go_on: Callable[[asyncpg.Record, int], Awaitable[Step]]
    ) -> Rows:
        """Goes on with one; `go_on` is told how many jobs of it have not ended. Returns the jobs made."""

        async def work(tx: Transaction) -> Rows:
            row = await tx.fetchrow("backfill_claim", tenant_id, backfill_id)
            if row is None:
                return []
            place = (tenant_id, row["schedule_id"], backfill_id, row["since"], row["until"])
            (count,) = await tx.fetch("backfill_alive", *place)
            step = await go_on(row, count["alive"])
            made = await put_ticks(tx, step.jobs, step.ticks)
            progress = (step.cursor_at, len(made), step.skipped, step.finished)
            await tx.fetch("backfill_advance", tenant_id, backfill_id, *progress)
            return made

        return await self._database.atomically(work)
