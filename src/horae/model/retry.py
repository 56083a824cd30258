"""When to try again: exponential backoff with full jitter and a cap."""

from datetime import timedelta
from typing import Final

import msgspec

from horae.model.errors import InvalidInput

DEFAULT_MAX_ATTEMPTS: Final = 5
MAX_ATTEMPTS_LIMIT: Final = 1000
MAX_CRASHES: Final = 3
"""A job that takes its process or its worker down this often goes to the dead letters, whatever its attempts."""
_LONGEST_EXPONENT: Final = 64


class RetryPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Try `n` waits a random time between 0 and `first × factor**(n-1)`, at most `cap` (seconds)."""

    first: float = 2.0
    factor: float = 2.0
    cap: float = 3600.0
    jitter: bool = True

    def __post_init__(self) -> None:
        if not (0 <= self.first <= 86_400 and 1 <= self.factor <= 100 and 0 <= self.cap <= 30 * 86_400):
            raise ValueError("retry: first must be 0…86400 s, factor 1…100, cap 0…2592000 s")

    def wait(self, failures: int, chance: float) -> timedelta:
        """The wait after that many failures (1 or more); `chance` is a random number in [0, 1)."""
        ceiling = min(self.cap, self.first * self.factor ** min(max(failures, 1) - 1, _LONGEST_EXPONENT))
        return timedelta(seconds=ceiling * chance if self.jitter else ceiling)


def check_max_attempts(value: int) -> int:
    if not 1 <= value <= MAX_ATTEMPTS_LIMIT:
        raise InvalidInput(f"max_attempts: {value} is outside 1…{MAX_ATTEMPTS_LIMIT}", field="max_attempts")
    return value
