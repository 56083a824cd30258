"""Scout: no ready job is overlooked.

Looks through the lanes that have something ready, one index probe each, for what this server did not hear of: jobs
made by other servers, by a user's own transaction, or before a restart. It looks less often when the look is dear.
"""

import time
from collections.abc import Mapping
from typing import Final

from horae.engine.dispatch import Dispatch
from horae.engine.duties.loop import spaced
from horae.store.upkeep import Upkeep

LANES: Final = 5000
SHORTEST, LONGEST = 0.25, 15.0


class Scout:
    name = "scout"

    def __init__(self, upkeep: Upkeep, dispatch: Dispatch) -> None:
        self._upkeep = upkeep
        self._dispatch = dispatch
        self.interval = SHORTEST

    async def run_once(self) -> Mapping[str, int]:
        started = time.monotonic()
        after = -1
        found = 0
        while rows := await self._upkeep.ready_lanes(LANES, after):
            self._dispatch.note_ready({row["lane_id"]: row["rank"] for row in rows})
            found += len(rows)
            after = rows[-1]["lane_id"]
            if len(rows) < LANES:
                break
        self._dispatch.look_around()
        self.interval = spaced(time.monotonic() - started, SHORTEST, LONGEST)
        return {}
