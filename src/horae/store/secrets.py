"""Sealed secrets and wrapped keys."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

import asyncpg

from horae.store.database import Database, Rows, Transaction, columns

T = TypeVar("T")
MAX_USERS: Final = 100
"""Tasks that are named of those that use a secret."""


class SecretRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def locked(self, tenant_id: int, work: Callable[["TenantSecrets"], Awaitable[T]]) -> T:
        """Does `work` on a tenant's secrets while nobody else does. It must be safe to do it again."""

        async def alone(tx: Transaction) -> T:
            await tx.fetch("secret_lock", tenant_id)
            return await work(TenantSecrets(tx, tenant_id))

        return await self._database.atomically(alone)

    async def secret_list(self, tenant_id: int | None, name: str | None = None) -> Rows:
        return await self._database.fetch("secret_list", tenant_id, name, MAX_USERS)

    async def secret_get(self, tenant_id: int, names: Sequence[str]) -> Rows:
        return await self._database.fetch("secret_get", tenant_id, names)

    async def secret_delete(self, tenant_id: int, name: str) -> bool:
        return bool(await self._database.fetch("secret_delete", tenant_id, name))

    async def secret_touch(self, used: Sequence[tuple[int, str]]) -> None:
        """`used` are (tenant, name)."""
        await self._database.fetch("secret_touch", *columns(used))

    async def tenant_key_foreign(self, master: str, limit: int) -> Rows:
        return await self._database.fetch("tenant_key_foreign", master, limit)

    async def tenant_key_rewrap(self, tenant_id: int, version: int, master: str, wrapped: bytes, before: bytes) -> bool:
        rows = await self._database.fetch("tenant_key_rewrap", tenant_id, version, master, wrapped, before)
        return bool(rows)


class TenantSecrets:
    """One tenant's, in a transaction that holds its lock."""

    def __init__(self, tx: Transaction, tenant_id: int) -> None:
        self._tx = tx
        self.tenant_id = tenant_id

    async def tenant_key_newest(self) -> asyncpg.Record | None:
        return await self._tx.fetchrow("tenant_key_newest", self.tenant_id)

    async def tenant_key_add(self, version: int, master: str, wrapped: bytes) -> None:
        await self._tx.fetch("tenant_key_add", self.tenant_id, version, master, wrapped)

    async def tenant_key_drop(self, newest: int) -> None:
        await self._tx.fetch("tenant_key_drop", self.tenant_id, newest)

    async def secret_version(self, name: str) -> int:
        """0: there is none."""
        row = await self._tx.fetchrow("secret_version", self.tenant_id, name)
        return row["version"] if row else 0

    async def secret_count(self) -> int:
        (row,) = await self._tx.fetch("secret_count", self.tenant_id)
        return int(row["secrets"])

    async def secret_put(self, name: str, version: int, key_version: int, sealed: bytes, size: int, who: str) -> None:
        await self._tx.fetch("secret_put", self.tenant_id, name, version, key_version, sealed, size, who)

    async def secret_outdated(self, newest: int, limit: int) -> Rows:
        return await self._tx.fetch("secret_outdated", self.tenant_id, newest, limit)

    async def secret_reseal(self, name: str, version: int, key_version: int, sealed: bytes) -> None:
        await self._tx.fetch("secret_reseal", self.tenant_id, name, version, key_version, sealed)
