"""Waits: which lanes had work that a limit let not start, and when. Kept in memory, written down by a duty.

A lane that waits for a limit is tried again whenever there may be room, so its wait comes in pieces: those that follow
each other closely are one. Waits shorter than `SHORTEST` are nobody's question. All of it is a record for later, never
a ground for a decision.
"""

import time
from collections.abc import Callable
from typing import Final, NamedTuple

SHORTEST: Final = 0.5
GAP: Final = 3.0
"""Longer than a blocked lane rests before it is tried again."""
PIECE: Final = 60.0
"""A wait that goes on is written down in pieces of this length."""
MAX_KNOWN: Final = 200_000


class Wait(NamedTuple):
    lane_id: int
    group_id: int
    since: float
    until: float
    """By the monotonic clock."""


class _Open:
    __slots__ = ("ended", "group_id", "since")

    def __init__(self, group_id: int, since: float) -> None:
        self.group_id = group_id
        self.since = since
        self.ended: float | None = None


class Waits:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._open: dict[int, _Open] = {}
        self._over: list[Wait] = []

    def begin(self, lane_id: int, group_id: int) -> None:
        now = self.clock()
        known = self._open.get(lane_id)
        if known is not None:
            if known.group_id == group_id and (known.ended is None or now - known.ended < GAP):
                known.ended = None
                return
            self._close(lane_id, known, now)
        if len(self._open) < MAX_KNOWN:
            self._open[lane_id] = _Open(group_id, now)

    def end(self, lane_id: int) -> None:
        known = self._open.get(lane_id)
        if known is not None:
            known.ended = self.clock()

    def of(self, lane_id: int) -> Wait | None:
        """The wait of a lane that is not written down yet."""
        known = self._open.get(lane_id)
        if known is None:
            return None
        return Wait(lane_id, known.group_id, known.since, self.clock() if known.ended is None else known.ended)

    def take(self) -> list[Wait]:
        """What can be written down now: waits that are over, and the first part of those that last."""
        now = self.clock()
        for lane_id, known in list(self._open.items()):
            if known.ended is not None and now - known.ended >= GAP:
                del self._open[lane_id]
                self._close(lane_id, known, now)
            elif now - known.since >= PIECE:
                end = now if known.ended is None else known.ended
                self._over.append(Wait(lane_id, known.group_id, known.since, end))
                known.since = end
        taken, self._over = self._over, []
        return taken

    def _close(self, lane_id: int, known: _Open, now: float) -> None:
        wait = Wait(lane_id, known.group_id, known.since, now if known.ended is None else known.ended)
        if wait.until - wait.since >= SHORTEST and len(self._over) < MAX_KNOWN:
            self._over.append(wait)
