"""Lanes: all jobs that may run under the same conditions, interned to a small number."""

from collections.abc import Iterable
from typing import Final

from horae.store.control import Control, LaneKey

MAX_REMEMBERED: Final = 500_000


class Lanes:
    """What each lane's number stands for, and back. Lanes never change, so the memory is never wrong. It has an end:
    any lane may be forgotten at any await."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._ids: dict[LaneKey, int] = {}
        self._keys: dict[int, LaneKey] = {}

    def known(self, key: LaneKey) -> int | None:
        return self._ids.get(key)

    async def intern(self, keys: Iterable[LaneKey]) -> dict[LaneKey, int]:
        """The numbers of these lanes; new ones are made."""
        wanted = set(keys)
        found = {key: self._ids[key] for key in wanted if key in self._ids}
        if missing := wanted - found.keys():
            for key, lane_id in (await self._control.lane_intern(list(missing))).items():
                found[key] = lane_id
                self._remember(key, lane_id)
        return found

    async def keys(self, ids: Iterable[int]) -> dict[int, LaneKey]:
        """What these numbers stand for; unknown ones are left out."""
        wanted = set(ids)
        found = {lane_id: self._keys[lane_id] for lane_id in wanted if lane_id in self._keys}
        if missing := wanted - found.keys():
            for lane_id, key in (await self._control.lane_load(list(missing))).items():
                found[lane_id] = key
                self._remember(key, lane_id)
        return found

    def key(self, lane_id: int) -> LaneKey | None:
        """What the number stands for, if it is remembered; `keys` asks the database for the rest."""
        return self._keys.get(lane_id)

    def _remember(self, key: LaneKey, lane_id: int) -> None:
        if len(self._ids) >= MAX_REMEMBERED and key not in self._ids:
            oldest = next(iter(self._ids))
            del self._keys[self._ids.pop(oldest)]
        self._ids[key] = lane_id
        self._keys[lane_id] = key
