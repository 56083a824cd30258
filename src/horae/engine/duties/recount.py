"""Recount: depths do not stay wrong.

Depths are kept by adding changes, so whatever nobody counted stays wrong: jobs made by SQL, the last second of a server
that died. Here the waiting jobs are counted in stretches along the keys of their tables, on one server at a time, and
the difference to what the depth was before is added to what it is now. So changes written meanwhile are kept; what
moved while it counted, or other servers had not written down by then, remains as an error until the next one. Depths
are approximate by design. It counts less often when counting is dear, and rests between stretches: ten million jobs are
some seconds of PostgreSQL's time, and whoever wants to run them should not find it busy.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, NamedTuple
from uuid import UUID

from horae.engine.duties.alone import alone
from horae.engine.lanes import Lanes
from horae.store.database import Database, Rows
from horae.store.rollups import SoleActor

STRETCH: Final = 50_000
SHARE: Final = 0.01
"""Of one server's time, at most this much goes into counting."""
WHILE_COUNTING: Final = 0.25
"""The same while a count goes on: the rest of it is rests. Longer ones would make it less true."""
SHORTEST, LONGEST = 30.0, 1800.0
LOWEST_RANK: Final = -(2**63)
NO_ID: Final = UUID(int=0)

Depths = Counter[tuple[int, str]]


class Recount:
    name = "recount"
    interval = 10.0

    def __init__(self, database: Database, lanes: Lanes, flush: Callable[[], Awaitable[int]]) -> None:
        self._database = database
        self._lanes = lanes
        self._flush = flush

    async def run_once(self) -> Mapping[str, int]:
        async with alone(self._database, self.name) as actor:
            if actor is None:
                return {}
            started = time.monotonic()
            await self._flush()  # What is written down later is added to what was counted, and would count twice.
            corrected = await self._correct(actor)
            await actor.depth_clean()
            pause = (time.monotonic() - started) * WHILE_COUNTING / SHARE
            await actor.duty_done(self.name, min(max(SHORTEST, pause), LONGEST))
            return {"corrected": corrected}

    async def _correct(self, actor: SoleActor) -> int:
        before = {
            (row["tenant_id"], row["queue"]): (row["pending"], row["running"], row["scheduled"], row["blocked"])
            for row in await actor.depth_list()
        }
        waiting = await count_waiting(actor)
        pending = await self._by_queue(waiting.all)
        scheduled, blocked = await self._by_queue(waiting.scheduled), await self._by_queue(waiting.blocked)
        running = await self._by_queue(_add(Counter(), await actor.lease_count()))
        corrections = []
        for key in before.keys() | pending.keys() | running.keys():
            was = before.get(key, (0, 0, 0, 0))
            now = (pending[key], running[key], scheduled[key], blocked[key])
            if now != was:
                corrections.append((*key, now[0] - was[0], now[1] - was[1], now[2], now[3]))
        if corrections:
            await actor.depth_correct(corrections)
        return len(corrections)

    async def _by_queue(self, lanes: Counter[int]) -> Depths:
        keys = await self._lanes.keys(lanes)
        depths: Depths = Counter()
        for lane_id, jobs in lanes.items():
            if lane_id in keys:
                depths[keys[lane_id].tenant_id, keys[lane_id].queue] += jobs
        return depths


class Waiting(NamedTuple):
    """How many jobs wait in each lane, by state."""

    ready: Counter[int]
    scheduled: Counter[int]
    blocked: Counter[int]

    @property
    def all(self) -> Counter[int]:
        return self.ready + self.scheduled + self.blocked


async def count_waiting(actor: SoleActor, stretch: int = STRETCH) -> Waiting:
    counts = Waiting(Counter(), Counter(), Counter())
    lane_id, rank, job_id = -1, LOWEST_RANK, NO_ID
    while rows := await _unhurried(actor.ready_count(lane_id, rank, job_id, stretch)):
        _add(counts.ready, rows)
        lane_id, rank, job_id = next((r["lane_id"], r["rank"], r["id"]) for r in rows if r["id"] is not None)
    lane_id, job_id = -1, NO_ID
    while rows := await _unhurried(actor.timer_count(lane_id, job_id, stretch)):
        _add(counts.scheduled, rows)
        lane_id, job_id = next((r["lane_id"], r["id"]) for r in rows if r["id"] is not None)
    _add(counts.blocked, await actor.blocked_count())
    return counts


async def _unhurried(counting: Awaitable[Rows]) -> Rows:
    """What it finds, and then a rest in proportion to what it took."""
    started = time.monotonic()
    rows = await counting
    await asyncio.sleep((time.monotonic() - started) * (1 / WHILE_COUNTING - 1))
    return rows


def _add(counts: Counter[int], rows: Rows) -> Counter[int]:
    for row in rows:
        counts[row["lane_id"]] += row["jobs"]
    return counts
