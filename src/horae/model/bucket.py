"""A token bucket: so many a second on average, and so many at once. Pure: the caller brings the time."""

import math


class Bucket:
    """Holds at most `burst` tokens and gains `rate` a second; starts full. Times are seconds of any steady clock."""

    __slots__ = ("_at", "_tokens", "burst", "rate")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self.rate = rate
        self.burst = burst
        self._tokens = burst
        self._at = now

    def take(self, count: int, now: float) -> bool:
        """All or nothing."""
        self._fill(now)
        if self._tokens < count:
            return False
        self._tokens -= count
        return True

    def remaining(self, now: float) -> int:
        self._fill(now)
        return math.floor(self._tokens)

    def seconds_until(self, count: float, now: float) -> float:
        """Until that many are there; for more than the burst, until it is full."""
        self._fill(now)
        return max(0.0, (min(count, self.burst) - self._tokens) / self.rate)

    def resize(self, rate: float, burst: float, now: float) -> None:
        """What it holds stays, as far as it fits."""
        self._fill(now)
        self.rate, self.burst = rate, burst
        self._tokens = min(self._tokens, burst)

    def _fill(self, now: float) -> None:
        if now > self._at:
            self._tokens = min(self.burst, self._tokens + (now - self._at) * self.rate)
            self._at = now
