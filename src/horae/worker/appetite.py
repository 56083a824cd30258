"""How many jobs to ask the server for: what will start within the prefetch time, and no more.

Unknown tasks are asked for only when a child is free. A job held here cannot start on another worker, so it is better
to come back for it a millisecond later than to hold it behind one of unknown length.
"""

from typing import Final

from horae.worker.config import AgentConfig
from horae.worker.dispatch import Dispatch

MOST_WANTED: Final = 1000


class Appetite:
    def __init__(self, config: AgentConfig, dispatch: Dispatch) -> None:
        self._config = config
        self._dispatch = dispatch
        self._async_share = 1

    def want(self) -> int:
        if self._dispatch.draining:
            return 0
        return min(self._want_sync() + self._want_async(), MOST_WANTED)

    def granted(self, jobs: int, asynchronous: int) -> None:
        """The call names one number for both kinds, so beside sync tasks the share of coroutines is found by trying."""
        if asynchronous:
            self._async_share = min(self._config.async_slots, self._async_share * 2)
        elif jobs:
            self._async_share = max(1, self._async_share // 2)

    def _want_sync(self) -> int:
        children = [child for child in self._dispatch.crew.children if child.usable and not child.concurrent]
        blocked = sum(child.slow for child in children)
        free = len(children) - blocked
        if self._dispatch.burden.held:
            if self._dispatch.burden.waits(self._dispatch.crew.children):
                return 0  # Whatever came would stand behind it.
            free -= self._dispatch.burden.extra_slots(self._dispatch.async_tasks, concurrent=False)
        target = self._dispatch.pace.target(max(0, free), blocked, self._config.prefetch_seconds)
        held = len(self._dispatch.waiting) + sum(len(child.jobs) for child in children)
        # Large holdings are refilled when half empty, so that exchanges stay large too.
        return max(0, target - held) if held < 2 * len(children) or held <= target // 2 else 0

    def _want_async(self) -> int:
        children = self._dispatch.crew.children
        crowd = [child for child in children if child.usable and child.concurrent]
        if not crowd or self._is_overfed():
            return 0
        room = self._config.async_slots - len(self._dispatch.waiting_async) - sum(len(child.jobs) for child in crowd)
        room -= self._dispatch.burden.extra_slots(self._dispatch.async_tasks, concurrent=True)
        alone = all(child.concurrent for child in children)
        return max(0, room if alone else min(room, self._async_share))

    def _is_overfed(self) -> bool:
        """Sync jobs wait while no child is free for them: a call for coroutines could bring more of them."""
        children = self._dispatch.crew.children
        return bool(self._dispatch.waiting) and all(child.jobs for child in children if not child.concurrent)
