"""Flows: what happened to each tenant's jobs is in the database some seconds later, with how late they started.

Sums of minutes and hours are for ranges of hours and days: they get what came together in ten seconds, once those are
over. With a thousand busy tenants that is half of what there is to write otherwise.

As with rollups, counts that could not be sent are kept for the next time, and counts whose answer got lost are let go.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Final

from horae.engine.clock import Clock
from horae.engine.flows import Flows, rows_of
from horae.engine.lanes import Lanes
from horae.engine.tally import Tally
from horae.store import flows as store
from horae.store.database import TRANSIENT, NotConnected

SHORT: Final = (10,)
LONGER: Final = (60, 3600)
AGO: Final = 5.0
"""Seconds: the middle of the ten that are over."""


class FlowFlush:
    name = "flows"
    interval = 2.0
    longest = 5.0

    def __init__(self, rows: store.Flows, flows: Flows, tally: Tally, lanes: Lanes, clock: Clock) -> None:
        self._store = rows
        self._flows = flows
        self._longer = Flows()
        """What longer spans have not been given yet."""
        self._tally = tally
        self._lanes = lanes
        self._clock = clock
        self._ten = self._present_ten()

    async def run_once(self) -> Mapping[str, int]:
        over = self._present_ten() != self._ten
        delays, written = await self._look_at_starts(), await self._write(self._flows, SHORT)
        if over:
            # What comes now is of the ten seconds that are over, but for the last moments.
            self._ten = self._present_ten()
            written += await self._write(self._longer, LONGER, AGO)
        return {"delays": delays, "written": written}

    async def flush(self) -> int:
        """Writes down everything."""
        return await self._write(self._flows, SHORT) + await self._write(self._longer, LONGER)

    async def _write(self, flows: Flows, spans: Sequence[int], ago: float = 0.0) -> int:
        taken = flows.take()
        if not taken:
            return 0
        try:
            await self._store.flow_add(rows_of(taken), spans, ago)
        except (NotConnected, *TRANSIENT):
            flows.give_back(taken)
            raise
        if flows is self._flows:
            self._longer.give_back(taken)
        return len(taken)

    def _present_ten(self) -> int:
        return int(self._clock.unix()) // 10

    async def _look_at_starts(self) -> int:
        """How late jobs start, of the few that stand for all."""
        starts = self._tally.take_starts()
        if not starts:
            return 0
        keys = await self._lanes.keys({start.lane_id for start in starts})
        now = time.monotonic()
        asked = [
            (keys[start.lane_id].tenant_id, start.lane_id, start.id, now - start.at, start.jobs)
            for start in starts
            if start.lane_id in keys
        ]
        found = await self._store.start_delays(asked) if asked else []
        for row in found:
            self._flows.waited(row["tenant_id"], row["seconds"], row["jobs"])
            self._tally.waited(row["lane_id"], row["seconds"], row["jobs"])
        return len(found)
