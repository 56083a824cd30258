"""Tasks that are data: their versions, who shares them, and what a worker needs of them.

Whoever changes one holds its lock; what is decided meanwhile is the caller's, handed in as a function.
"""

from collections.abc import Callable, Sequence
from typing import Final

import asyncpg

from horae.model.errors import AlreadyExists
from horae.store.database import Database, Rows, Transaction

KEPT_VERSIONS: Final = 100
"""Of one task, the latest. Jobs that wait mean the one in force, which is the last."""


class TaskRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def brief_get(self, worker_id: int, lane_id: int, job_id: str, attempt: int) -> asyncpg.Record | None:
        """None: the worker does not hold this attempt."""
        return await self._database.fetchrow("brief_get", worker_id, lane_id, job_id, attempt)

    async def task_current(self, tenant_id: int, name: str) -> asyncpg.Record:
        (row,) = await self._database.fetch("task_current", tenant_id, name)
        return row

    async def task_save(
        self,
        values: tuple[object, ...],
        definition: str,
        why: tuple[str, str],
        changes: Callable[[asyncpg.Record], bool],
    ) -> tuple[asyncpg.Record, int]:
        """Puts a definition in force as the next version. Returns what was there before, and the version now.

        `values` are those of `task_put`, beginning with tenant and name; `why` is who and why; `changes` is asked
        about what is there, and may refuse.
        """
        tenant_id, name = values[:2]

        async def work(tx: Transaction) -> tuple[asyncpg.Record, int]:
            await tx.fetch("task_lock", tenant_id, name)
            (before,) = await tx.fetch("task_current", tenant_id, name)
            if not changes(before):
                return before, before["version"]
            version = before["last"] + 1
            await tx.fetch("task_version_add", tenant_id, name, version, definition, *why)
            await tx.fetch("task_version_trim", tenant_id, name, version - KEPT_VERSIONS)
            put = await tx.fetchrow("task_put", *values, version)
            if put is None or not put["done"]:
                raise AlreadyExists(f"a function of a worker's app has just taken the name {name!r}")
            return before, version

        return await self._database.atomically(work)

    async def task_own(self, tenant_id: int, name: str | None) -> Rows:
        return await self._database.fetch("task_own", tenant_id, name)

    async def task_version_list(self, tenant_id: int, name: str) -> Rows:
        return await self._database.fetch("task_version_list", tenant_id, name, KEPT_VERSIONS)

    async def task_version_get(self, tenant_id: int, name: str, version: int) -> asyncpg.Record | None:
        return await self._database.fetchrow("task_version_get", tenant_id, name, version)

    async def task_delete(self, tenant_id: int, name: str, allow: Callable[[asyncpg.Record], None]) -> bool:
        """Deletes a task and its shares, if `allow` does not refuse for those who need it. False: there is none."""

        async def work(tx: Transaction) -> bool:
            await tx.fetch("task_lock", tenant_id, name)
            (use,) = await tx.fetch("task_use", tenant_id, name)
            allow(use)
            await tx.fetch("task_share_remove", tenant_id, name, None)
            return bool(await tx.fetch("task_delete", tenant_id, name))

        return await self._database.atomically(work)

    async def task_share_put(
        self, tenant_id: int, name: str, guests: Sequence[int], by: str, *, with_secrets: bool
    ) -> None:
        await self._database.fetch("task_share_put", tenant_id, name, guests, with_secrets, by)

    async def task_share_remove(self, tenant_id: int, name: str, guests: Sequence[int] | None) -> None:
        """Without guests: every share."""
        await self._database.fetch("task_share_remove", tenant_id, name, guests)

    async def task_share_list(self, tenant_id: int, name: str) -> Rows:
        return await self._database.fetch("task_share_list", tenant_id, name)
