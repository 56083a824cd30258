"""Scout: no ready job is overlooked.

Looks through the lanes that have something ready, one index probe each, for what this server did not hear of: jobs
made by other servers, by a user's own transaction, or before a restart. It looks less often when the look is dear.
"""

from collections.abc import Mapping
from typing import Final

from horae.engine.dispatch import Dispatch
from horae.store.upkeep import Upkeep

LANES: Final = 5000


class Scout:
    name = "scout"
    interval = 0.25
    longest = 15.0

    def __init__(self, upkeep: Upkeep, dispatch: Dispatch) -> None:
        self._upkeep = upkeep
        self._dispatch = dispatch

    async def run_once(self) -> Mapping[str, int]:
        after = -1
        while rows := await self._upkeep.ready_lanes(LANES, after):
            self._dispatch.note_ready({row["lane_id"]: row["rank"] for row in rows})
            after = rows[-1]["lane_id"]
            if len(rows) < LANES:
                break
        self._dispatch.look_around()
        return {}
