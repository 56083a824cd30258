"""Service levels: every promise is judged once, by one server, soon after it is over; jobs at risk are moved up before.

Figures are kept for a little more than the longest span that is shown.
"""

from collections.abc import Mapping
from typing import Final

from horae.engine.promises import Promises
from horae.store.servicelevels import ServiceLevelRows

CLEAN_EVERY: Final = 3600
KEEP_SECONDS: Final = 32 * 86_400.0
CLEAN_ROWS: Final = 10_000


class ServiceLevelsDuty:
    name = "service_levels"
    interval = 1.0

    def __init__(self, promises: Promises, rows: ServiceLevelRows) -> None:
        self._promises = promises
        self._rows = rows
        self._runs = 0

    async def run_once(self) -> Mapping[str, int]:
        judged = await self._promises.watch()
        self._runs += 1
        cleaned = await self._clean() if self._runs % CLEAN_EVERY == 1 else 0
        return {**judged, "cleaned": cleaned}

    async def _clean(self) -> int:
        total = 0
        while cleaned := await self._rows.attainment_clean(KEEP_SECONDS, CLEAN_ROWS):
            total += cleaned
        return total
