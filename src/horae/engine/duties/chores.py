"""Small duties: the look-up for those who wait for results, and the record of which keys were used."""

from collections.abc import Mapping

from horae.engine.access import Access
from horae.engine.watch import POLL_SECONDS, Watch


class WatchPoll:
    name = "watch"
    interval = POLL_SECONDS

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    async def run_once(self) -> Mapping[str, int]:
        return {"found": await self._watch.run_once() if self._watch.anybody else 0}


class KeyUse:
    name = "key_use"
    interval = 60.0

    def __init__(self, access: Access) -> None:
        self._access = access

    async def run_once(self) -> Mapping[str, int]:
        return {"keys": await self._access.note_use()}
