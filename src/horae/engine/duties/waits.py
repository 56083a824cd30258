"""Waits: what lanes waited for limits, and which workers are on probation, is known to all servers within seconds.

Both are for `explain` and for people only. A server that dies takes the last minute of its waits with it, and a
worker's probation ends with the server that saw it fail.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Final

from horae.engine.holders import limit_name
from horae.engine.lanes import Lanes
from horae.engine.policy import Policy
from horae.engine.sessions import Session
from horae.engine.waits import Waits
from horae.store.explain import ExplainRows

KEPT: Final = timedelta(days=7)
BATCH: Final = 5000
CLEAN_EVERY: Final = 60


class WaitsDuty:
    name = "waits"
    interval = 2.0

    def __init__(
        self,
        rows: ExplainRows,
        waits: Waits,
        lanes: Lanes,
        policy: Policy,
        probing: Callable[[], Iterable[tuple[Session, bool]]],
        retention: timedelta,
    ) -> None:
        self._rows = rows
        self._waits = waits
        self._lanes = lanes
        self._policy = policy
        self._probing = probing
        self._kept = min(retention, KEPT).total_seconds()
        self._told: dict[int, tuple[bool, bool]] = {}
        self._runs = 0

    async def run_once(self) -> Mapping[str, int]:
        written = await self._write()
        await self._tell_probing()
        if self._runs % CLEAN_EVERY == 0:
            while await self._rows.lane_wait_clean(self._kept, BATCH) == BATCH:
                pass
        self._runs += 1
        return {"written": written}

    async def _write(self) -> int:
        taken = self._waits.take()
        now = self._waits.clock()
        rows = [
            (wait.lane_id, now - wait.since, now - wait.until, limit_name(self._policy, key, wait.group_id))
            for wait in taken
            if (key := self._lanes.key(wait.lane_id)) is not None
        ]
        for start in range(0, len(rows), BATCH):
            await self._rows.lane_wait_add(rows[start : start + BATCH])
        return len(rows)

    async def _tell_probing(self) -> None:
        present = {session.worker_id: (probing, session.record.probation) for session, probing in self._probing()}
        changed = [(number, *told) for number, told in present.items() if self._told.get(number) != told]
        if changed:
            await self._rows.worker_note_probing(changed)
        self._told = present
