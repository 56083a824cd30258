"""Queues: how much waits and runs in each, how fast, and who waits for what.

The list is asked for by every page that shows jobs. It is made of sums that are a second old anyway, so everybody who
asks for the same within a second gets the same.
"""

from typing import Final, NamedTuple

import asyncpg

from horae.engine.lineup import Head, Lineup, Lineups
from horae.engine.shared import Shared
from horae.store.rollups import Rollups

MAX_QUEUES: Final = 5000
FRESH_SECONDS: Final = 1.0


class QueueView(NamedTuple):
    row: asyncpg.Record
    oldest: Head | None


class Queues:
    def __init__(self, rollups: Rollups, lineups: Lineups) -> None:
        self._rollups = rollups
        self._lineups = lineups
        self._lists: Shared[list[QueueView]] = Shared()

    async def list_all(self, tenant_id: int | None) -> list[QueueView]:
        """How much waits and runs in each queue, approximately, the rates of the last minute, and who waits longest."""
        return await self._lists.get(tenant_id, FRESH_SECONDS, lambda: self._list(tenant_id))

    async def _list(self, tenant_id: int | None) -> list[QueueView]:
        oldest = await self._lineups.oldest(tenant_id)
        rows = await self._rollups.queue_list(tenant_id, MAX_QUEUES)
        return [QueueView(row, oldest.get((row["tenant_id"], row["queue"]))) for row in rows]

    async def waiting(self, tenant_id: int | None, queue: str) -> Lineup:
        return await self._lineups.of_queue(tenant_id, queue)
