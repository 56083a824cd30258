"""Backfills: one that was asked for goes on until it is done or cancelled, whichever servers come and go.

They take turns by number, so many of one tenant only make the round longer, and each is a transaction of its own, so
one that cannot go on keeps no other from it. Where the round has got to is a matter of each server: it may forget.
"""

from collections.abc import Mapping
from typing import Final

import asyncpg
import structlog

from horae.engine.backfill import Backfilling
from horae.engine.schedules import Scheduling
from horae.model.errors import StoreUnavailable
from horae.store.backfills import Backfills

log = structlog.get_logger()

BATCH: Final = 100


class BackfillDuty:
    name = "backfills"
    interval = 1.0

    def __init__(self, backfills: Backfills, backfilling: Backfilling, scheduling: Scheduling) -> None:
        self._backfills = backfills
        self._backfilling = backfilling
        self._scheduling = scheduling
        self._after = 0

    async def run_once(self) -> Mapping[str, int]:
        rows = await self._backfills.backfill_running(self._after, BATCH)
        jobs = 0
        for row in rows:
            self._after = row["id"]
            jobs += await self._go_on(row)
        if len(rows) < BATCH:
            self._after = 0
        return {"jobs": jobs}

    async def _go_on(self, row: asyncpg.Record) -> int:
        try:
            made = await self._backfills.backfill_claim(row["tenant_id"], row["id"], self._backfilling.go_on)
        except StoreUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - one that cannot be read must not stop the others
            log.warning("backfill_broken", backfill=row["id"], tenant=row["tenant_id"], error=repr(error))
            return 0
        self._scheduling.announce(made)
        return len(made)
