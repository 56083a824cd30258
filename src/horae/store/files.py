"""Files and large results: the rows that say what lies in object storage, whose it is, and for how long."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

import asyncpg

from horae.store.database import Database, Rows


class LeaseFacts(NamedTuple):
    tenant_id: int
    tenant: str
    task: str


class NewFile(NamedTuple):
    """One row of `file_put`, in the order of its parameters."""

    tenant_id: int
    job_id: UUID
    attempt: int
    name: str | None
    size: int
    sha256: bytes | None
    media_type: str | None
    key: str
    keep_seconds: float | None


class FileRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def lease_facts(self, worker_id: int, job_id: UUID, attempt: int) -> LeaseFacts | None:
        row = await self._database.fetchrow("lease_facts", worker_id, job_id, attempt)
        return LeaseFacts(*row) if row else None

    async def file_room(self, tenant_id: int, job_id: UUID, attempt: int, name: str) -> tuple[int, int]:
        """How many other files an attempt has left, and their bytes."""
        (row,) = await self._database.fetch("file_room", tenant_id, job_id, attempt, name)
        return row["files"], row["bytes"]

    async def file_put(self, file: NewFile) -> UUID:
        (row,) = await self._database.fetch("file_put", *file)
        file_id: UUID = row["id"]
        return file_id

    async def file_stored(self, tenant_id: int, file_id: UUID) -> None:
        await self._database.fetch("file_stored", tenant_id, file_id)

    async def file_list(self, tenant_id: int, job_id: UUID, rows: int) -> Rows:
        return await self._database.fetch("file_list", tenant_id, job_id, rows)

    async def file_get(self, tenant_id: int | None, file_id: UUID) -> asyncpg.Record | None:
        return await self._database.fetchrow("file_get", tenant_id, file_id)

    async def file_expire(self, rows: int) -> list[str]:
        return _keys(await self._database.fetch("file_expire", rows))

    async def file_settle(self, seconds: float, rows: int) -> None:
        await self._database.fetch("file_settle", seconds, rows)

    async def file_orphans(self, seconds: float, rows: int) -> list[str]:
        return _keys(await self._database.fetch("file_orphans", seconds, rows))

    async def file_forget(self, bound: UUID, rows: int) -> list[str]:
        return _keys(await self._database.fetch("file_forget", bound, rows))

    async def result_forget(self, tenant_id: int, task: str, seconds: float, rows: int) -> int:
        (row,) = await self._database.fetch("result_forget", tenant_id, task, seconds, rows)
        return int(row["forgotten"])

    async def signing_key(self) -> bytes:
        (row,) = await self._database.fetch("signing_key")
        return bytes(row["secret"])


def _keys(rows: Sequence[asyncpg.Record]) -> list[str]:
    return [row["key"] for row in rows]
