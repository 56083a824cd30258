"""Which exchanges of a worker have come to this server: each has its number, and comes once.

Somebody on the way may send one again. Whatever its second coming were granted, the worker would not hear of it, or
would take for the first answer, and the jobs of the other would be nobody's for as long as the worker lives.
"""

from typing import Final

REMEMBERED: Final = 256
"""A worker has two exchanges under way: what is older by so many came long ago, or is lost."""


class Numbers:
    def __init__(self) -> None:
        self._highest = 0
        self._seen = 0
        """A bit for each number from the highest down."""

    def is_first(self, number: int) -> bool:
        """Notes it down. Also those far behind the highest have been there."""
        ahead = number - self._highest
        if ahead > 0:
            self._seen = self._seen << min(ahead, REMEMBERED) & (1 << REMEMBERED) - 1
            self._highest, ahead = number, 0
        if -ahead >= REMEMBERED or self._seen >> -ahead & 1:
            return False
        self._seen |= 1 << -ahead
        return True
