"""Tenants, keys, tasks and lanes."""

from collections.abc import Sequence
from typing import NamedTuple

import asyncpg

from horae.store.database import Database, Rows, Transaction, columns


class LaneKey(NamedTuple):
    tenant_id: int
    queue: str
    task: str
    concurrency_key: str = ""
    requires: str = ""
    """The canonical placement; empty when any worker will do."""
    urgent: bool = False


class Control:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def tenant_list(self) -> Rows:
        return await self._database.fetch("tenant_list")

    async def tenant_create(self, name: str, weight: float) -> asyncpg.Record | None:
        """None when the name is taken."""

        async def work(tx: Transaction) -> asyncpg.Record | None:
            if weight != 1:  # What every server takes it for that has not heard of the tenant.
                await tx.fetch("policy_touch")
            return await tx.fetchrow("tenant_create", name, weight)

        return await self._database.atomically(work)

    async def tenant_change(self, name: str, weight: float) -> asyncpg.Record | None:
        """None when there is no such tenant."""

        async def work(tx: Transaction) -> asyncpg.Record | None:
            await tx.fetch("policy_touch")
            return await tx.fetchrow("tenant_change", name, weight)

        return await self._database.atomically(work)

    async def key_find(self, digest: bytes) -> asyncpg.Record | None:
        return await self._database.fetchrow("key_find", digest, vital=True)

    async def key_create(self, *values: object) -> asyncpg.Record:
        rows = await self._database.once("key_create", *values)
        return rows[0]

    async def key_list(self, tenant_id: int | None) -> Rows:
        return await self._database.fetch("key_list", tenant_id)

    async def key_revoke(self, key_id: int, tenant_id: int | None) -> asyncpg.Record | None:
        return await self._database.fetchrow("key_revoke", key_id, tenant_id)

    async def key_touch(self, ids: Sequence[int]) -> None:
        await self._database.fetch("key_touch", ids)

    async def task_put(self, *values: object) -> tuple[int, bool]:
        """The version that is there now, and whether anything was written."""
        row = await self._database.fetchrow("task_put", *values)
        return (0, False) if row is None else (row["version"], row["done"])

    async def task_lanes(self, *values: object) -> None:
        await self._database.fetch("task_lanes", *values)

    async def task_get(self, tenant_id: int, name: str) -> asyncpg.Record | None:
        return await self._database.fetchrow("task_get", tenant_id, name)

    async def task_get_many(self, asked: Sequence[tuple[int, str]]) -> Rows:
        """The tasks that tenants mean by names; `asked_by` tells whose question it was."""
        return await self._database.fetch("task_get_many", *columns(asked))

    async def task_overview(self, tenant_id: int | None) -> Rows:
        """What a tenant may use; what runs is left out where it is long."""
        return await self._database.fetch("task_overview", tenant_id)

    async def lane_intern(self, keys: Sequence[LaneKey]) -> dict[LaneKey, int]:
        found: dict[LaneKey, int] = {}
        while len(found) < len(set(keys)):
            # A lane that another server made after our snapshot is seen by the next round.
            rows = await self._database.fetch("lane_intern", *columns(keys))
            found = {lane_key(row): row["id"] for row in rows}
        return found

    async def lane_load(self, ids: Sequence[int]) -> dict[int, LaneKey]:
        rows = await self._database.fetch("lane_load", ids)
        return {row["id"]: lane_key(row) for row in rows}


def lane_key(row: asyncpg.Record) -> LaneKey:
    return LaneKey(*[row[field] for field in LaneKey._fields])
