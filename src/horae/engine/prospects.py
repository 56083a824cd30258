"""Prospects: whether any worker could run a lane's jobs, for the warning at submit.

A submit must not wait for this: it looks into a memory that a duty refreshes every few seconds. Only when that says
that nobody could is the store asked again, at most twice a second, because a worker may just have joined.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Final

import asyncpg

from horae.engine.lanes import Lanes
from horae.engine.offers import LIVING, knows, nearest, offer_of, serves
from horae.model.errors import HoraeError
from horae.model.matching import fits
from horae.model.placement import read_placement
from horae.store.control import LaneKey
from horae.store.workers import Workers

FRESH_SECONDS: Final = 0.5
MAX_KNOWN: Final = 100_000
Kind = tuple[int, str, str, str]


class Prospects:
    def __init__(self, workers: Workers, lanes: Lanes) -> None:
        self._workers = workers
        self._lanes = lanes
        self._rows: Sequence[asyncpg.Record] = ()
        self._read_at: float | None = None
        self._known: dict[Kind, str | None] = {}
        self._reading = asyncio.Lock()

    async def refresh(self) -> int:
        """Reads which workers there are. Returns how many."""
        rows = await self._workers.worker_list(None, LIVING)
        self._rows = [row for row in rows if row["expires_at"] > row["now"]]
        self._read_at, self._known = time.monotonic(), {}
        return len(self._rows)

    async def all_poor(self, lane_ids: Sequence[int]) -> bool:
        """Whether there are workers, and none of them could run any of these lanes' jobs."""
        await self._lanes.keys(lane_ids)
        return bool(self._rows) and all(map(self.poor, lane_ids))

    def poor(self, lane_id: int) -> bool:
        """Whether nobody could run this lane's jobs, as far as is known."""
        key = self._lanes.key(lane_id)
        return self._read_at is not None and key is not None and self._look(key) is not None

    async def warnings(self, lane_id: int) -> list[str]:
        """Why nobody could; empty when somebody can after all, or when the store does not answer."""
        try:
            async with self._reading:
                if self._read_at is None or time.monotonic() - self._read_at > FRESH_SECONDS:
                    await self.refresh()
        except (HoraeError, asyncpg.PostgresError):
            # The job is stored: its submit must not fail for want of a remark.
            return []
        key = self._lanes.key(lane_id)
        found = None if key is None else self._look(key)
        return [] if found is None else [found]

    def _look(self, key: LaneKey) -> str | None:
        kind = (key.tenant_id, key.queue, key.task, key.requires)
        if kind not in self._known:
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            self._known[kind] = self._judge(key)
        return self._known[kind]

    def _judge(self, key: LaneKey) -> str | None:
        placement = read_placement(key.requires)
        if any(serves(row, key) and fits(placement, offer_of(row)) for row in self._rows):
            return None
        knowing = [row for row in self._rows if knows(row, key)]
        if not knowing:
            what = "runs jobs of this tenant" if placement.runner else f"has the task {key.task!r}"
            return f"no worker that is alive {what}: the job waits for one"
        serving = [row for row in knowing if serves(row, key)]
        found = nearest(serving, placement)
        if found is None:
            return f"no worker with the task {key.task!r} takes jobs of the queue {key.queue!r}: the job waits for one"
        row, lacks = found
        words = "; ".join(lack.words for lack in lacks)
        return f"no worker has all that the job requires; the nearest is {row['name']} ({row['id']}): {words}"
