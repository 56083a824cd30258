"""The server's clock is PostgreSQL's: the offset to it is measured, and time between measurements is monotonic."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    def unix(self) -> float:
        """Seconds since 1970."""

    def now(self) -> datetime:
        """An aware instant, in UTC."""


class DatabaseClock:
    def __init__(self) -> None:
        self._base = time.time() - time.monotonic()

    def observe(self, database_now: datetime, sent: float, received: float) -> None:
        """Takes a reading of the database's clock, made between two monotonic instants."""
        self._base = database_now.timestamp() - (sent + received) / 2

    def unix(self) -> float:
        return self._base + time.monotonic()

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.unix(), UTC)
