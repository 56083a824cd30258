"""Sums of what happened, and how much waits."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from horae.store.database import Database, Deadline, Rows, columns, numbers
from horae.store.safety import Connection
from horae.store.statements import statements


class RollupRow(NamedTuple):
    """One row of `rollup_add`, in the order of its parameters."""

    tenant_id: int
    task: str
    queue: str
    submitted: int
    started: int
    succeeded: int
    failed: int
    cancelled: int
    other: int
    retried: int
    runs: int
    run_seconds: float
    run_squares: float
    waits: int
    """Starts that the next is of."""
    wait_seconds: float
    pending: int
    """By how much this changed; so for `running`."""
    running: int


class Rollups:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def rollup_add(self, rows: Sequence[RollupRow]) -> None:
        """Sent once: after a lost answer nobody knows whether it was added, and twice would be worse than never."""
        tenants, tasks, queues, *sums = columns(rows)
        await self._database.once("rollup_add", numbers(tenants), tasks, queues, *map(numbers, sums))

    async def rollup_durations(self, since: datetime | None) -> Rows:
        return await self._database.fetch("rollup_durations", since)

    async def queue_list(self, tenant_id: int | None, rows: int) -> Rows:
        return await self._database.fetch("queue_list", tenant_id, rows)

    async def depth_load(self, tenants: Sequence[int], queues: Sequence[str]) -> Rows:
        return await self._database.fetch("depth_load", tenants, queues)

    async def duty_due(self, name: str) -> bool:
        row = await self._database.fetchrow("duty_due", name)
        return bool(row and row["due"])


class SoleActor:
    """What a duty that wants a single actor does, on the connection that holds its lock."""

    def __init__(self, connection: Connection, seconds: float) -> None:
        self._connection = connection
        self._seconds = seconds
        """For one statement: a database that is gone without a word never answers."""

    async def _fetch(self, name: str, *args: Any) -> Rows:
        deadline = Deadline(self._connection, self._seconds)
        try:
            return await self._connection.fetch(statements()[name], *args)
        finally:
            deadline.over()

    async def duty_lock(self, name: str) -> bool:
        (row,) = await self._fetch("duty_lock", name)
        return bool(row["taken"])

    async def duty_due(self, name: str) -> bool:
        (row,) = await self._fetch("duty_due", name)
        return bool(row["due"])

    async def duty_done(self, name: str, pause: float) -> None:
        await self._fetch("duty_done", name, pause)

    async def rollup_fold(self) -> None:
        """Hours are made of minutes."""
        await self._fetch("rollup_fold_minutes")
        await self._fetch("rollup_fold_hours")

    async def clean_rollup(self, seconds: float, rows: int) -> int:
        return len(await self._fetch("clean_rollup", seconds, rows))

    async def clean_rollup_minute(self, seconds: float, rows: int) -> int:
        return len(await self._fetch("clean_rollup_minute", seconds, rows))

    async def clean_rollup_hour(self, seconds: float, rows: int) -> int:
        return len(await self._fetch("clean_rollup_hour", seconds, rows))

    async def flow_clean(self, span: int, seconds: float, rows: int) -> int:
        return len(await self._fetch("flow_clean", span, seconds, rows))

    async def depth_list(self) -> Rows:
        return await self._fetch("depth_list")

    async def depth_correct(self, rows: Sequence[tuple[int, str, int, int, int, int]]) -> None:
        await self._fetch("depth_correct", *columns(rows))

    async def depth_clean(self) -> None:
        await self._fetch("depth_clean")

    async def ready_count(self, lane_id: int, rank: int, job_id: UUID, rows: int) -> Rows:
        return await self._fetch("ready_count", lane_id, rank, job_id, rows)

    async def timer_count(self, lane_id: int, job_id: UUID, rows: int) -> Rows:
        return await self._fetch("timer_count", lane_id, job_id, rows)

    async def blocked_count(self) -> Rows:
        return await self._fetch("blocked_count")

    async def lease_count(self) -> Rows:
        return await self._fetch("lease_count")

    async def pending(self) -> int:
        """How many jobs wait in all."""
        (row,) = await self._fetch("depth_load", [], [])
        return max(0, int(row["pending"]))

    async def shed_candidates(self, lane_id: int, rank: int, job_id: UUID, rows: int, priority: int) -> Rows:
        return await self._fetch("shed_candidates", lane_id, rank, job_id, rows, priority)

    async def job_shed(self, jobs: Sequence[tuple[int, int, int, UUID]], error: str) -> Rows:
        """`jobs` are (tenant, lane, rank, id)."""
        return await self._fetch("job_shed", *columns(jobs), error)
