"""Callbacks in the store, and the leases of parked attempts."""

from collections.abc import Sequence
from uuid import UUID

import asyncpg

from horae.store.database import Database, Rows, Transaction, columns
from horae.store.jobs import Used


class CallbackRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def callback_open(
        self, token: bytes, tenant_id: int, job_id: str, lane_id: int, attempt: int, seconds: float
    ) -> None:
        await self._database.fetch("callback_open", token, tenant_id, job_id, lane_id, attempt, seconds)

    async def callback_park(
        self, worker_id: int, attempts: Sequence[tuple[int, str, int, int, float]], used: Sequence[Used]
    ) -> tuple[set[str], bool]:
        """`attempts` are (lane, id, attempt, tenant, waited). Which were parked; and whether one is to be cancelled.

        Whoever asks for a cancel locks the lease: so a request to the worker is here before the lease moves, and goes
        along, or it is made to the servers at once.
        """

        async def work(tx: Transaction) -> tuple[set[str], bool]:
            parked = {row["id"] for row in await tx.fetch("callback_park", worker_id, *columns(attempts))}
            ids = [(job_id, attempt) for _, job_id, attempt, _, _ in attempts if job_id in parked]
            asked = await tx.fetch("callback_take_cancels", worker_id, *columns(ids)) if ids else []
            if known := [one for one in used if one.id in parked]:
                await tx.fetch("execution_add", *columns(known))
            return parked, bool(asked)

        return await self._database.atomically(work, hot=True)

    async def callback_known(self, keys: Sequence[tuple[int, str, int]]) -> set[tuple[str, int]]:
        """`keys` are (tenant, id, attempt)."""
        rows = await self._database.fetch("callback_known", *columns(keys))
        return {(row["id"], row["attempt"]) for row in rows}

    async def callback_find(self, token: bytes) -> asyncpg.Record | None:
        return await self._database.fetchrow("callback_find", token)

    async def callback_answer(self, token: bytes, digest: bytes, answer: str) -> bool:
        return bool(await self._database.fetch("callback_answer", token, digest, answer))

    async def callback_progress(self, token: bytes, done: float, total: float | None, note: str | None) -> bool:
        return bool(await self._database.fetch("callback_progress", token, done, total, note))

    async def callback_due(self, rows: int) -> Rows:
        return await self._database.fetch("callback_due", rows)

    async def callback_settle(self, tokens: Sequence[bytes]) -> None:
        await self._database.fetch("callback_settle", tokens)

    async def callback_defer(self, tokens: Sequence[bytes], seconds: float) -> None:
        await self._database.fetch("callback_defer", tokens, seconds)

    async def callback_cancels(self, rows: int) -> Rows:
        return await self._database.fetch("callback_cancels", rows)

    async def callback_of_job(self, tenant_id: int, job_id: UUID, attempt: int) -> asyncpg.Record | None:
        return await self._database.fetchrow("callback_of_job", tenant_id, job_id, attempt)

    async def callback_clean(self, seconds: float) -> None:
        await self._database.fetch("callback_clean", seconds)
