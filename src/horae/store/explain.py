"""What `explain` reads, and what is written down for it."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from horae.store.control import LaneKey
from horae.store.database import Database, Rows, columns


class ExplainRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def explain_place(self, lane_id: int, rank: int, job_id: UUID, bound: int) -> int:
        rows = await self._database.fetch("explain_place", lane_id, rank, job_id, bound, hot=True)
        return int(rows[0]["ahead"])

    async def explain_lanes(self, most: int) -> Rows:
        return await self._database.fetch("explain_lanes", most, hot=True)

    async def explain_heads(self, lanes: Sequence[int]) -> Rows:
        return await self._database.fetch("explain_heads", lanes, hot=True) if lanes else []

    async def explain_ahead(self, lanes: Sequence[tuple[int, int]], bound: int) -> dict[int, int]:
        """`lanes` are (lane, rank)."""
        if not lanes:
            return {}
        rows = await self._database.fetch("explain_ahead", *columns(lanes), bound, hot=True)
        return {row["lane_id"]: row["jobs"] for row in rows}

    async def explain_leases(self, workers: Sequence[tuple[int, int]]) -> Rows:
        """`workers` are (worker, how many leases at most)."""
        return await self._database.fetch("explain_leases", *columns(workers), hot=True) if workers else []

    async def explain_rate(self, key: LaneKey) -> float:
        rows = await self._database.fetch("explain_rate", key.tenant_id, key.queue, key.task)
        return float(rows[0]["rate"])

    async def explain_gates(self, key: LaneKey, since: datetime, until: datetime) -> Rows:
        return await self._database.fetch("explain_gates", key.tenant_id, key.queue, key.task, since, until)

    async def explain_starts(self, key: LaneKey, since: datetime, until: datetime, *, hourly: bool) -> Rows:
        return await self._database.fetch("explain_starts", key.queue, key.task, since, until, hourly)

    async def lane_wait_list(self, lane_id: int, since: datetime, until: datetime) -> Rows:
        return await self._database.fetch("lane_wait_list", lane_id, since, until, hot=True)

    async def lane_wait_add(self, rows: Sequence[tuple[int, float, float, str]]) -> None:
        """`rows` are (lane, seconds ago it began, seconds ago it ended, name). Sent once: twice would count twice."""
        await self._database.once("lane_wait_add", *columns(rows))

    async def lane_wait_clean(self, seconds: float, rows: int) -> int:
        return len(await self._database.fetch("lane_wait_clean", seconds, rows))

    async def worker_note_probing(self, rows: Sequence[tuple[int, bool, bool]]) -> None:
        """`rows` are (worker, whether a probe is out, whether it is on probation)."""
        await self._database.fetch("worker_note_probing", *columns(rows))
