"""Prospects: every server knows, some seconds late at most, which workers there are for the jobs submitted to it."""

from collections.abc import Mapping

from horae.engine.prospects import Prospects


class ProspectsDuty:
    name = "prospects"
    interval = 3.0

    def __init__(self, prospects: Prospects) -> None:
        self._prospects = prospects

    async def run_once(self) -> Mapping[str, int]:
        await self._prospects.refresh()
        return {}
