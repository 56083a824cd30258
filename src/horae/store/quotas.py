"""Quotas, and the servers that share them."""

from collections.abc import Sequence
from uuid import UUID

import asyncpg

from horae.model.quota import Quota
from horae.store.database import Database, Rows, columns


class Quotas:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def quota_load(self) -> Rows:
        return await self._database.fetch("quota_load")

    async def quota_list(self, tenant_id: int | None) -> Rows:
        return await self._database.fetch("quota_list", tenant_id)

    async def quota_put(self, quota: Quota, who: str) -> asyncpg.Record:
        values = (quota.scope.value, quota.tenant_id, quota.name, quota.submit_rate, quota.burst, quota.max_pending)
        (row,) = await self._database.fetch("quota_put", *values, who)
        return row

    async def quota_remove(self, scope: str, tenant_id: int, name: str) -> bool:
        return bool(await self._database.fetch("quota_remove", scope, tenant_id, name))

    async def hold_add(self, holds: Sequence[tuple[int, int, str]]) -> None:
        """`holds` are (tenant, key, id)."""
        await self._database.fetch("hold_add", *columns(holds))

    async def hold_clean(self, keys: Sequence[int]) -> None:
        """`keys` are those whose pending jobs are still counted."""
        await self._database.fetch("hold_clean", keys)

    async def hold_count(self, keys: Sequence[int]) -> dict[int, int]:
        return {row["key_id"]: row["jobs"] for row in await self._database.fetch("hold_count", keys)}

    async def server_beat(self, server_id: UUID, host: str, pid: int, version: str, load: float, silence: float) -> int:
        """Says that a server lives; returns how many do, itself included."""
        (row,) = await self._database.fetch("server_beat", server_id, host, pid, version, load, silence)
        return int(row["alive"])

    async def server_leave(self, server_id: UUID) -> None:
        await self._database.once("server_leave", server_id)
