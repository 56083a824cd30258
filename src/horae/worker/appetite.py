"""How many jobs to ask the server for: what will start within the prefetch time, and no more.

Unknown tasks are asked for only when a child is free. A job held here cannot start on another worker, so it is better
to come back for it a millisecond later than to hold it behind one of unknown length.
"""

from typing import Final

from horae.worker.config import AgentConfig
from horae.worker.dispatch import Dispatch

MOST_WANTED: Final = 2000


class Appetite:
    def __init__(self, config: AgentConfig, dispatch: Dispatch) -> None:
        self._config = config
        self._dispatch = dispatch
        self._async_share = 1

    def want(self, asked: int = 0) -> int:
        """Beside those that are asked for already: then coroutines and heavy jobs, whose room is counted, can wait."""
        if self._dispatch.draining or (asked and self._dispatch.burden.held):
            return 0
        return min(self._want_sync(asked) + (0 if asked else self._want_async()), MOST_WANTED)

    def granted(self, jobs: int, asynchronous: int) -> None:
        """The call names one number for both kinds, so beside sync tasks the share of coroutines is found by trying."""
        if asynchronous:
            self._async_share = min(self._config.async_slots, self._async_share * 2)
        elif jobs:
            self._async_share = max(1, self._async_share // 2)

    def _want_sync(self, asked: int) -> int:
        dispatch, roster = self._dispatch, self._dispatch.roster
        children = [child for child in dispatch.crew.children if child.usable and not child.concurrent]
        errands = roster.running(concurrent=False)
        blocked = sum(child.slow for child in children) + sum(place.slow for place in errands)
        slots = self._slots() if roster.offers(concurrent=False) else len(children)
        free = slots - blocked
        if dispatch.burden.held:
            if dispatch.burden.waits(dispatch.stations):
                return 0  # Whatever came would stand behind it.
            free -= dispatch.burden.extra_slots(dispatch.is_concurrent, concurrent=False)
        target = dispatch.pace.target(max(0, free), blocked, self._config.prefetch_seconds)
        held = asked + len(dispatch.waiting) + sum(len(child.jobs) for child in children)
        held += roster.count(concurrent=False)
        # Large holdings are refilled when half empty, so that exchanges stay large too.
        return max(0, target - held) if held < 2 * slots or held <= target // 2 else 0

    def _slots(self) -> int:
        """Those that are free, or will be, for errands: a child that ends with its last job has one of them still."""
        ending = [child for child in self._dispatch.crew.children if not (child.usable or child.concurrent)]
        return self._config.slots - sum(bool(child.jobs) for child in ending)

    def _want_async(self) -> int:
        dispatch, roster = self._dispatch, self._dispatch.roster
        crowd = [child for child in dispatch.crew.children if child.usable and child.concurrent]
        if not (crowd or roster.offers(concurrent=True)) or self._is_overfed():
            return 0
        room = self._config.async_slots - len(dispatch.waiting_async) - sum(len(child.jobs) for child in crowd)
        room -= roster.count(concurrent=True)
        room -= dispatch.burden.extra_slots(dispatch.is_concurrent, concurrent=True)
        alone = all(child.concurrent for child in dispatch.crew.children) and not roster.offers(concurrent=False)
        return max(0, room if alone else min(room, self._async_share))

    def _is_overfed(self) -> bool:
        """Sync jobs wait while no slot is free for them: a call for coroutines could bring more of them."""
        dispatch = self._dispatch
        if not dispatch.waiting and not dispatch.roster.waiting:
            return False
        busy = sum(bool(child.jobs) for child in dispatch.crew.children if not child.concurrent)
        return busy + len(dispatch.roster.running(concurrent=False)) >= self._config.slots
