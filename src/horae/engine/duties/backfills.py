"""Backfills: one that was asked for goes on until it is done or cancelled, whichever servers come and go."""

from collections.abc import Mapping
from typing import Final

from horae.engine.backfill import Backfilling
from horae.engine.schedules import Scheduling
from horae.store.backfills import Backfills

BATCH: Final = 100


class BackfillDuty:
    name = "backfills"
    interval = 1.0

    def __init__(self, backfills: Backfills, backfilling: Backfilling, scheduling: Scheduling) -> None:
        self._backfills = backfills
        self._backfilling = backfilling
        self._scheduling = scheduling

    async def run_once(self) -> Mapping[str, int]:
        made = await self._backfills.backfill_claim(BATCH, self._backfilling.go_on)
        self._scheduling.announce(made)
        return {"jobs": len(made)}
