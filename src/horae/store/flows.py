"""What happened, by tenant, and how things stand."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import asyncpg

from horae.store.database import Database, Rows, columns, numbers


class FlowRow(NamedTuple):
    """One row of `flow_add`, in the order of its parameters."""

    tenant_id: int
    submitted: int
    started: int
    succeeded: int
    failed: int
    cancelled: int
    other: int
    retried: int
    runs: int
    run_seconds: float
    waits: str
    """An array, as PostgreSQL writes it; empty when no start was looked at."""


class Flows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def flow_add(self, rows: Sequence[FlowRow], spans: Sequence[int], ago: float) -> None:
        """To the sums of these spans, as they were so many seconds ago. Sent once, as `rollup_add` is."""
        *sums, waits = columns(rows)
        await self._database.once("flow_add", *map(numbers, sums), waits, spans, ago)

    async def flow_ends(self, tenant_id: int | None, until: datetime, hours: int) -> Rows:
        return await self._database.fetch("flow_ends", tenant_id or 0, until, hours)

    async def flow_list(self, tenant_id: int | None, span: int, since: datetime) -> Rows:
        return await self._database.fetch("flow_list", tenant_id or 0, span, since)

    async def start_delays(self, starts: Sequence[tuple[int, int, str, float, int]]) -> Rows:
        """`starts` are tenant, lane, id, seconds since the start, and how many jobs it stands for."""
        return await self._database.fetch("start_delays", *columns(starts))

    async def overview_depth(self, tenant_id: int | None, bound: int) -> asyncpg.Record:
        (row,) = await self._database.fetch("overview_depth", tenant_id, bound)
        return row

    async def overview_oldest(self, tenant_id: int | None, lanes: int) -> asyncpg.Record | None:
        return await self._database.fetchrow("overview_oldest", tenant_id, lanes)

    async def overview_workers(self, tenant_id: int | None, rows: int) -> Rows:
        return await self._database.fetch("overview_workers", tenant_id, rows)

    async def overview_ticks(self, tenant_id: int | None, schedules: int, rows: int) -> Rows:
        return await self._database.fetch("overview_ticks", tenant_id, schedules, rows)

    async def overview_failures(
        self, tenant_id: int | None, since: tuple[UUID, datetime], hours: int, tenants: int, jobs: int, rows: int
    ) -> Rows:
        return await self._database.fetch("overview_failures", tenant_id, *since, hours, tenants, jobs, rows)
