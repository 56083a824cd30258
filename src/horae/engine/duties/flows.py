"""Flows: what happened to each tenant's jobs is in the database two seconds later, with how late they started.

As with rollups, counts that could not be sent are kept for the next time, and counts whose answer got lost are let go.
"""

import time
from collections.abc import Mapping

from horae.engine.flows import Flows, rows_of
from horae.engine.lanes import Lanes
from horae.engine.tally import Tally
from horae.store import flows as store
from horae.store.database import TRANSIENT, NotConnected


class FlowFlush:
    name = "flows"
    interval = 2.0

    def __init__(self, rows: store.Flows, flows: Flows, tally: Tally, lanes: Lanes) -> None:
        self._store = rows
        self._flows = flows
        self._tally = tally
        self._lanes = lanes

    async def run_once(self) -> Mapping[str, int]:
        return {"delays": await self._look_at_starts(), "written": await self.flush()}

    async def flush(self) -> int:
        taken = self._flows.take()
        if not taken:
            return 0
        try:
            await self._store.flow_add(rows_of(taken))
        except (NotConnected, *TRANSIENT):
            self._flows.give_back(taken)
            raise
        return len(taken)

    async def _look_at_starts(self) -> int:
        """How late jobs start, of the few that stand for all."""
        starts = self._tally.take_starts()
        if not starts:
            return 0
        keys = await self._lanes.keys({start.lane_id for start in starts})
        now = time.monotonic()
        asked = [
            (keys[start.lane_id].tenant_id, start.id, now - start.at, start.jobs)
            for start in starts
            if start.lane_id in keys
        ]
        found = await self._store.start_delays(asked) if asked else []
        for row in found:
            self._flows.waited(row["tenant_id"], row["seconds"], row["jobs"])
        return len(found)
