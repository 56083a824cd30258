"""The jobs of the soak that are only submitted: what of, how often, and of whom."""

import random
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from horae.model.job import JobRequest
from horae.model.retry import RetryPolicy
from horae.model.unique import Unique

TENANTS: Final = tuple(f"team-{letter}" for letter in "abcde")
GUESTS: Final = "guests"
"""The queue that workers which come and go serve too."""
NOBODY: Final = "nobody"
"""The queue that no worker serves."""
LIMITED: Final = "limited"
QUEUES: Final = ("default", GUESTS, LIMITED)
KEYS: Final = 50
LARGE: Final = 200_000
SOON: Final = RetryPolicy(first=1.0)


class Kind(NamedTuple):
    every: float
    """Seconds from one to the next."""
    make: Callable[[random.Random], JobRequest]


def _job(task: str, chance: random.Random, **options: object) -> JobRequest:
    return JobRequest(task=f"soak.{task}", tenant=chance.choice(TENANTS), **options)  # type: ignore[arg-type]


def _keyed(chance: random.Random) -> JobRequest:
    key = f"key-{chance.randrange(KEYS)}"
    return _job("work", chance, queue=GUESTS, concurrency_key=key, params={"seconds": 0.005})


KINDS: Final[Mapping[str, Kind]] = {
    "at once": Kind(0.1, lambda chance: _job("noop", chance, labels={"customer": f"c{chance.randrange(1000)}"})),
    "scheduled": Kind(0.2, lambda chance: _job("noop", chance, delay=chance.uniform(1, 20))),
    "urgent": Kind(1.0, lambda chance: _job("noop", chance, priority=chance.randint(1, 9))),
    "retried": Kind(1.0, lambda chance: _job("flaky", chance, retry=SOON)),
    "failing": Kind(2.0, lambda chance: _job("broken", chance, retry=SOON, params={"number": chance.randrange(8)})),
    "crashing": Kind(20.0, lambda chance: _job("crash", chance)),
    "keyed": Kind(0.2, _keyed),
    "limited": Kind(0.2, lambda chance: _job("work", chance, queue=LIMITED, params={"seconds": 0.01})),
    "large results": Kind(2.0, lambda chance: _job("large", chance, params={"size": LARGE})),
    "talkative": Kind(2.0, lambda chance: _job("talk", chance, params={"lines": 100})),
    "with steps": Kind(2.0, lambda chance: _job("steps", chance)),
    "unique": Kind(0.5, lambda chance: _job("work", chance, unique=Unique(), params={"seconds": 0.02})),
    "expiring": Kind(1.0, lambda chance: _job("noop", chance, queue=NOBODY, expires_in=5)),
}
