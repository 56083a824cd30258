"""Service levels in the store, what they promised, and how much of it was kept.

A look at promises, the counts it leads to and the end of the promises are one transaction that holds their rows: what
a server that dies had counted is undone with it, and of two servers each promise has one judge.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import asyncpg

from horae.store.database import Database, Rows, Transaction, columns


class Raise(NamedTuple):
    """One row of `promise_raise`, in the order of its parameters."""

    tenant_id: int
    id: UUID
    lane_id: int
    rank: int
    new_rank: int


class Note(NamedTuple):
    """One row of `promise_note`, in the order of its parameters."""

    place: tuple[int, int]
    stage: int
    look_at: datetime


class Count(NamedTuple):
    """One row of `attainment_add`, in the order of its parameters."""

    due_at: datetime
    level_id: int
    tenant_id: int
    task: str
    kept: int
    broken: int


class Settlement(NamedTuple):
    """What a look leads to."""

    counts: list[Count]
    over: list[tuple[int, int]]
    """The places of promises that are over: their rows are locked, so nobody moves them."""
    notes: list[Note]
    raises: list[Raise]


class Looked(NamedTuple):
    seen: int
    settlement: Settlement
    raised: Rows
    """Those that were moved up: id, lane and rank."""


class ServiceLevelRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def service_level_list(self, tenant_id: int | None, name: str | None = None) -> Rows:
        return await self._database.fetch("service_level_list", tenant_id, name)

    async def attainment_sums(self, levels: Sequence[int], tenant_id: int | None) -> Rows:
        return await self._database.fetch("attainment_sums", levels, tenant_id)

    async def attainment_worst(self, levels: Sequence[int], tenant_id: int | None, rows: int) -> Rows:
        return await self._database.fetch("attainment_worst", levels, tenant_id, rows)

    async def promise_pressing(self, levels: Sequence[int], tenant_id: int | None, most: int) -> Rows:
        return await self._database.fetch("promise_pressing", levels, tenant_id, most)

    async def promise_latest(self, levels: Sequence[int], tenant_id: int | None, rows: int) -> Rows:
        return await self._database.fetch("promise_latest", levels, tenant_id, rows)

    async def attainment_clean(self, seconds: float, rows: int) -> int:
        return len(await self._database.fetch("attainment_clean", seconds, rows))

    async def promise_look(self, rows: int, judge: Callable[[Rows], Settlement]) -> Looked:
        """Judges the promises that are due to be looked at. `judge` may be asked again, after a lost answer."""

        async def work(tx: Transaction) -> Looked:
            found = await tx.fetch("promise_look", rows)
            settlement = judge(found)
            return Looked(len(found), settlement, await _settle(tx, settlement))

        return await self._database.atomically(work, hot=True)


async def _settle(tx: Transaction, settlement: Settlement) -> Rows:
    if settlement.counts:
        await tx.fetch("attainment_add", *columns(settlement.counts))
    if settlement.over:
        await tx.fetch("promise_forget", settlement.over)
    if settlement.notes:
        await tx.fetch("promise_note", *columns(settlement.notes))
    return await tx.fetch("promise_raise", *columns(settlement.raises)) if settlement.raises else []


async def service_level_put(tx: Transaction, *values: object) -> asyncpg.Record | None:
    return await tx.fetchrow("service_level_put", *values)


async def service_level_delete(tx: Transaction, tenant_id: int | None, name: str) -> bool:
    return bool(await tx.fetch("service_level_delete", tenant_id, name))
