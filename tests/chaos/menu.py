"""What clients ask for: a mix of jobs drawn by chance, each with a reference of its own."""

import random
import re
from collections.abc import Sequence
from itertools import count
from typing import Any, Final

from horae.model.definition import ScheduleDefinition
from horae.model.job import JobRequest
from horae.model.overlap import Overlap

FLOOD: Final = "flood"
TENANTS: Final = ("default", "blue")
LIMITS: Final = {"limited": 3}
REFERENCE: Final = re.compile(rb'"ref":\s*"(\w+)"')
KEYS: Final = 12
LARGE_BYTES: Final = 70_000
"""More than a row holds: it goes to object storage."""
WEIGHTS: Final = {
    "quick": 55, "short": 12, "limited": 6, "keyed": 8, "failing": 6, "crashing": 0.2, "large": 1.5, "gentle": 11,
    "lasting": 0.4,
}  # fmt: skip
SCHEDULES: Final = (
    ScheduleDefinition(name="every-second", task="ticking", every="1s", tick_param="tick"),
    ScheduleDefinition(name="every-second-too", task="ticking", every="1s", tick_param="tick"),
    ScheduleDefinition(name="every-two-seconds", task="ticking", every="2s", tick_param="tick", overlap=Overlap.SKIP),
    ScheduleDefinition(name="in-a-queue", task="ticking", every="2s", tick_param="tick", overlap=Overlap.QUEUE),
)


class Menu:
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._numbers = count(1)

    def job(self, kind: str | None = None, tenant: str | None = None, delay: float | None = None) -> JobRequest:
        kind = kind or self._chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        params: dict[str, Any] = {"ref": f"r{next(self._numbers)}"} | self._extras(kind)
        key = f"k{self._chance.randrange(KEYS)}" if kind == "keyed" else None
        # A key counts by tenant: with one tenant there is one place to look.
        owner = tenant or (TENANTS[0] if key else self._chance.choice(TENANTS))
        task = "short" if kind == "keyed" else kind
        return JobRequest(task=task, params=params, delay=delay, concurrency_key=key, tenant=owner)

    def jobs(self, number: int, **options: Any) -> list[JobRequest]:
        return [self.job(**options) for _ in range(number)]

    def _extras(self, kind: str) -> dict[str, Any]:
        match kind:
            case "short" | "limited" | "keyed" | "gentle":
                return {"seconds": round(self._chance.uniform(0.001, 0.02), 4)}
            case "lasting":
                return {"seconds": round(self._chance.uniform(1, 8), 1)}
            case "failing":
                return {"times": self._chance.randint(1, 2)}
            case "large":
                return {"size": LARGE_BYTES}
            case _:
                return {}


def references_in(request: bytes) -> list[str]:
    """The jobs that a request asks for, as it goes over the wire."""
    return [ref.decode() for ref in REFERENCE.findall(request)]


def references(jobs: Sequence[JobRequest]) -> list[str]:
    return [job.params["ref"] for job in jobs]
