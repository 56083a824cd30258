"""The server's clock is PostgreSQL's: the offset to it is measured, and time between measurements is monotonic.

Somebody may set PostgreSQL's clock. Whoever asks for the time gets the new one within a second. But a promise for so
many seconds, as a lease is, must hold although the clock has jumped over its end: for that there is `steady`.
"""

import time
from collections import deque
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

JUMP: Final = timedelta(seconds=1)
"""Further ahead of what is expected, a reading of the clock is no inaccuracy."""


class Clock(Protocol):
    def unix(self) -> float:
        """Seconds since 1970."""

    def now(self) -> datetime:
        """An aware instant, in UTC."""


class DatabaseClock:
    """`patience` is for how many seconds a clock that was set forward is not believed by `steady`."""

    def __init__(self, patience: float = 30.0) -> None:
        self._patience = patience
        self._base = self._highest = time.time() - time.monotonic()
        self._lowest: deque[tuple[float, float]] = deque()
        """Readings that no later one undercuts: (monotonic instant, offset), offsets rising."""

    def observe(self, database_now: datetime, sent: float, received: float) -> None:
        """Takes a reading of the database's clock, made between two monotonic instants."""
        self._base = database_now.timestamp() - (sent + received) / 2
        self._highest = database_now.timestamp() - sent
        while self._lowest and self._lowest[-1][1] >= self._base:
            self._lowest.pop()
        self._lowest.append((received, self._base))

    def unix(self) -> float:
        return self._base + time.monotonic()

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.unix(), UTC)

    def steady(self) -> datetime:
        """The present by the lowest of the readings of late: no instant has passed by it before its time is over.

        A promise made before the clock was set forward ends by the old time as it would have, and one made after lasts
        longer. When the old readings are forgotten, all promises of before are over by either time.
        """
        present = time.monotonic()
        while len(self._lowest) > 1 and self._lowest[0][0] < present - self._patience:
            self._lowest.popleft()
        base = self._lowest[0][1] if self._lowest else self._base
        return datetime.fromtimestamp(base + present, UTC)

    def latest(self) -> datetime:
        """What the database's clock can show at most, however long the last reading took, unless it is set forward."""
        return datetime.fromtimestamp(self._highest + time.monotonic(), UTC) + JUMP

    def expects(self, database_now: datetime) -> bool:
        """Whether the database's clock has not been set forward since it was read last."""
        return database_now <= self.latest()
