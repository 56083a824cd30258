"""Rollups: what was counted in memory is in the database a second later, or some seconds where it is of thousands of
tenants, and old sums do not pile up.

Counts that could not be sent are kept for the next time. Counts whose answer got lost are let go: added twice they
would be wrong for good, while depths that miss them are corrected by the recount.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, Final

from horae.engine.durations import Durations, Sums
from horae.engine.duties.alone import alone
from horae.engine.flows import Flow, by_tenant
from horae.engine.lanes import Lanes
from horae.engine.tally import Counts, Tally
from horae.store.control import LaneKey
from horae.store.database import TRANSIENT, Database, NotConnected
from horae.store.rollups import RollupRow, Rollups, SoleActor

LEARN_EVERY: Final = 10
"""Runs of the duty between two looks at what ended on other servers."""
DAY: Final = 86_400.0
FINE_SECONDS: Final = DAY / 4
HOURLY_SECONDS: Final = 90 * DAY
FLOW_SECONDS: Final = {10: DAY / 12, 60: DAY + 7200.0, 3600: HOURLY_SECONDS}
"""How long flows are kept, by their span: the ranges of the overview, and a little."""
CLEAN_ROWS: Final = 20_000


class RollupFlush:
    name = "rollups"
    interval = 1.0
    longest = 5.0

    def __init__(self, rollups: Rollups, tally: Tally, lanes: Lanes, durations: Durations) -> None:
        self._rollups = rollups
        self._tally = tally
        self._lanes = lanes
        self._durations = durations
        self._flushing = asyncio.Lock()
        self._runs = 0
        self._read: datetime | None = None
        self.on_written: list[Callable[[Mapping[int, Flow], Sequence[tuple[int, str]]], None]] = []
        """Told what happened by tenant, and some of the jobs it happened to, with their tenants."""

    async def run_once(self) -> Mapping[str, int]:
        written = await self.flush()
        learnt = await self._learn() if self._runs % LEARN_EVERY == 0 else 0
        self._runs += 1
        return {"written": written, "learnt": learnt}

    async def flush(self) -> int:
        """Writes down what was counted: when this returns, nothing from before is still under way."""
        async with self._flushing:
            return await self._flush()

    async def _flush(self) -> int:
        counts = self._tally.take()
        if not counts:
            return 0
        try:
            keys = await self._lanes.keys(counts)
            rows = rows_of(counts, keys)
            if rows:
                await self._rollups.rollup_add(rows)
        except (NotConnected, *TRANSIENT):
            self._tally.give_back(counts)
            raise
        flows = by_tenant(rows)
        changed = self._tally.take_changed().items()
        jobs = [(keys[lane_id].tenant_id, job_id) for job_id, lane_id in changed if lane_id in keys]
        for listener in self.on_written:
            listener(flows, jobs)
        return len(rows)

    async def _learn(self) -> int:
        rows = await self._rollups.rollup_durations(self._read)
        self._read = rows[0]["until"]
        return self._durations.learn_all(
            (row["tenant_id"], row["task"], Sums(row["runs"], row["seconds"], row["squares"]))
            for row in rows
            if row["tenant_id"] is not None
        )


def rows_of(counts: Mapping[int, Counts], keys: Mapping[int, LaneKey]) -> list[RollupRow]:
    """The counts of lanes, of which there may be many, as those of tenant, task and queue."""
    groups: dict[tuple[int, str, str], list[Counts]] = {}
    for lane_id, more in counts.items():
        key = keys.get(lane_id)
        if key is not None:
            groups.setdefault((key.tenant_id, key.task, key.queue), []).append(more)
    return [RollupRow(*where, *_sums(lanes)) for where, lanes in groups.items()]


def _sums(lanes: Sequence[Counts]) -> Iterable[Any]:
    if len(lanes) == 1:
        return _values(lanes[0])
    return map(sum, zip(*map(_values, lanes), strict=True))


_values: Callable[[Counts], tuple[Any, ...]] = attrgetter(*RollupRow._fields[3:])


class RollupUpkeep:
    """Sums up minutes and hours that are over and forgets what is old; on one server at a time."""

    name = "rollup_upkeep"
    interval = 60.0
    """What is not summed up yet is read row by row: six rows a minute of each tenant and task."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def run_once(self) -> Mapping[str, int]:
        async with alone(self._database, self.name) as actor:
            if actor is None:
                return {}
            await actor.rollup_fold()
            forgotten = await self._clean(actor)
            await actor.duty_done(self.name, self.interval * 0.9)
            return {"forgotten": forgotten}

    async def _clean(self, actor: SoleActor) -> int:
        total = 0
        while cleaned := await actor.clean_rollup(FINE_SECONDS, CLEAN_ROWS):
            total += cleaned
        while cleaned := await actor.clean_rollup_minute(FINE_SECONDS, CLEAN_ROWS):
            total += cleaned
        while cleaned := await actor.clean_rollup_hour(HOURLY_SECONDS, CLEAN_ROWS):
            total += cleaned
        for span, seconds in FLOW_SECONDS.items():
            while cleaned := await actor.flow_clean(span, seconds, CLEAN_ROWS):
                total += cleaned
        return total
