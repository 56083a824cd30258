"""Uniques: keys whose job can no longer keep others away are forgotten.

A submit judges by the job's present state, so a key that lies about does no harm; the duty walks over them, a bounded
number a run, and goes on next time where it stopped.
"""

from collections.abc import Mapping
from typing import Final

from horae.store.unique import KeyPlace, Uniques

BATCH: Final = 2000
BATCHES_A_RUN: Final = 25


class UniquesDuty:
    name = "uniques"
    interval = 30.0

    def __init__(self, uniques: Uniques) -> None:
        self._uniques = uniques
        self._place = KeyPlace()

    async def run_once(self) -> Mapping[str, int]:
        forgotten = 0
        for _ in range(BATCHES_A_RUN):
            place, gone = await self._uniques.unique_clean(self._place, BATCH)
            forgotten += gone
            self._place = place or KeyPlace()
            if place is None:
                break
        return {"forgotten": forgotten}
