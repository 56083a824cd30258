"""Strangers: whoever comes without a key and with tokens that are none. Nobody can guess one; who tries many is slowed
down, so that trying costs the database nothing.
"""

import time
from typing import Final

from horae.model.bucket import Bucket
from horae.model.errors import Overloaded

MISSES_A_SECOND: Final = 200.0
MISSES_AT_ONCE: Final = 2000.0
"""A look costs the database next to nothing; to refuse those who have a right to call costs them their jobs."""
MAX_STRANGERS: Final = 10_000


class Strangers:
    """By address; a proxy in front makes one of all, so the bounds are wide."""

    def __init__(self) -> None:
        self._buckets: dict[str, Bucket] = {}

    def check(self, address: str) -> None:
        bucket = self._buckets.get(address)
        if bucket is not None and not bucket.remaining(time.monotonic()):
            raise Overloaded(
                "too many calls from here with tokens that nobody waits for; come back later", retry_after=5
            )

    def note(self, address: str) -> None:
        if len(self._buckets) >= MAX_STRANGERS:
            self._buckets.clear()
        now = time.monotonic()
        self._buckets.setdefault(address, Bucket(MISSES_A_SECOND, MISSES_AT_ONCE, now)).take(1, now)
