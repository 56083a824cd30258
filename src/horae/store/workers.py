"""Workers, their leases, and what they send while they run: logs, checkpoints, progress."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import asyncpg

from horae.store.database import Database, Rows, columns


class Workers:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def worker_join(self, *values: object) -> int:
        rows = await self._database.once("worker_join", *values, hot=True)
        return int(rows[0]["id"])

    async def worker_heartbeat(
        self, worker_id: int, tenant_id: int | None, now: datetime, lease_seconds: float, *load: object
    ) -> str | None:
        """The worker's state, or None when its lease had ended."""
        row = await self._database.fetchrow(
            "worker_heartbeat", worker_id, tenant_id, now, lease_seconds, *load, vital=True
        )
        return row["state"] if row else None

    async def worker_get(self, worker_id: int, tenant_id: int | None) -> asyncpg.Record | None:
        return await self._database.fetchrow("worker_get", worker_id, tenant_id, vital=True)

    async def worker_list(
        self, tenant_id: int | None, states: Sequence[str], after: int | None = None, rows: int | None = None
    ) -> Rows:
        return await self._database.fetch("worker_list", tenant_id, states, after, rows)

    async def worker_set_state(
        self, worker_id: int, tenant_id: int | None, state: str, come_from: Sequence[str]
    ) -> bool:
        return bool(await self._database.fetch("worker_set_state", worker_id, tenant_id, state, come_from, hot=True))

    async def worker_steer(
        self, worker_id: int, tenant_id: int | None, state: str, who: str | None, reason: str | None,
        seconds: float | None,
    ) -> bool:  # fmt: skip
        return bool(await self._database.fetch("worker_steer", worker_id, tenant_id, state, who, reason, seconds))

    async def worker_expired(self, now: datetime, look_back: float | None) -> Rows:
        return await self._database.fetch("worker_expired", now, look_back, hot=True)

    async def worker_set_right(self) -> int:
        """How many were seen in what is now the future."""
        return len(await self._database.fetch("worker_set_right", hot=True))

    async def worker_lose(self, worker_id: int, now: datetime) -> bool:
        return bool(await self._database.fetch("worker_lose", worker_id, now, hot=True))

    async def lease_of_worker(self, worker_id: int, numbers: Sequence[int] | None, rows: int) -> Rows:
        return await self._database.fetch("lease_of_worker", worker_id, numbers, rows, hot=True)

    async def lease_of_lost(self, worker_id: int, rows: int) -> Rows:
        return await self._database.fetch("lease_of_lost", worker_id, rows, hot=True)

    async def cancel_orders(self, worker_id: int) -> Rows:
        return await self._database.fetch("cancel_orders", worker_id, vital=True)

    async def move_request_put(self, jobs: Sequence[tuple[int, UUID]], reason: str, who: str) -> dict[str, int]:
        """Asks for these jobs to be moved; `jobs` are (lane, id). Returns the worker of each that runs."""
        rows = await self._database.fetch("move_request_put", *columns(jobs), reason, who)
        return {row["id"]: row["worker_id"] for row in rows}

    async def cancel_clean(self, seconds: float) -> None:
        await self._database.fetch("cancel_clean", seconds)

    async def worker_clean(self, seconds: float, event_seconds: float) -> None:
        await self._database.fetch("worker_clean", seconds, event_seconds)

    async def worker_history(self, worker_id: int, tenant_id: int | None, rows: int) -> Rows:
        return await self._database.fetch("worker_history", worker_id, tenant_id, rows)

    async def worker_runs(self, tenant_id: int | None, rows: int) -> Rows:
        return await self._database.fetch("worker_runs", tenant_id, rows)

    async def log_append(self, worker_id: int, chunks: Sequence[tuple[int, str, int, int, str, str]]) -> None:
        """`chunks` are (lane, id, attempt, seq, stream, text)."""
        await self._database.fetch("log_append", worker_id, *columns(chunks), hot=True)

    async def log_page(self, tenant_id: int, job_id: UUID, after: tuple[int, int], rows: int) -> Rows:
        return await self._database.fetch("log_page", tenant_id, job_id, *after, rows)

    async def partial_page(self, tenant_id: int, job_id: UUID, after: tuple[int, int], rows: int) -> Rows:
        return await self._database.fetch("partial_page", tenant_id, job_id, *after, rows)

    async def checkpoint_save(self, worker_id: int, lane_id: int, job_id: str, attempt: int, data: str) -> bool:
        return bool(await self._database.fetch("checkpoint_save", worker_id, lane_id, job_id, attempt, data, hot=True))

    async def progress_save(
        self, worker_id: int, rows: Sequence[tuple[str, int, float, float | None, str | None]]
    ) -> None:
        await self._database.fetch("progress_save", worker_id, *columns(rows), vital=True)

    async def checkpoint_load(self, keys: Sequence[tuple[int, str]]) -> dict[str, str]:
        """What earlier attempts saved; `keys` are (tenant, id)."""
        rows = await self._database.fetch("checkpoint_load", *columns(keys), hot=True)
        return {row["id"]: row["data"] for row in rows}
