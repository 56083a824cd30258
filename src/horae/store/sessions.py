"""Who is signed in to the console."""

from datetime import datetime

import asyncpg

from horae.store.database import Database


class ConsoleSessions:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def session_open(self, digest: bytes, key_id: int, seconds: float, others: int) -> datetime | None:
        """When it ends; None when the key is not good."""
        rows = await self._database.once("session_open", digest, key_id, seconds, others)
        return rows[0]["expires_at"] if rows else None

    async def session_find(self, digest: bytes) -> asyncpg.Record | None:
        return await self._database.fetchrow("session_find", digest)

    async def session_close(self, digest: bytes) -> None:
        await self._database.fetch("session_close", digest)

    async def ticket_make(self, digest: bytes, key_id: int, seconds: float) -> datetime | None:
        """When it ends; None when the key is not good."""
        rows = await self._database.once("ticket_make", digest, key_id, seconds)
        return rows[0]["expires_at"] if rows else None

    async def ticket_use(self, digest: bytes) -> int | None:
        """The key it stands for, once. Never tried again: after a lost answer it may have been used."""
        rows = await self._database.once("ticket_use", digest)
        return rows[0]["key_id"] if rows else None
