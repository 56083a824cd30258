"""What the load did: how much of each kind, what went wrong, and how long jobs waited."""

import time
from collections import Counter
from collections.abc import Awaitable, Callable

Act = Callable[[], Awaitable[None]]


class Tally:
    def __init__(self) -> None:
        self.began = time.monotonic()
        self.done: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        """Not even begun, because too many of the kind were under way: the load is more than the machine bears."""
        self.examples: dict[str, str] = {}
        self.waits: list[tuple[float, float]] = []
        """When a job was submitted, and milliseconds until it started."""

    def now(self) -> float:
        return time.monotonic() - self.began

    async def count(self, kind: str, act: Act) -> None:
        """Whatever goes wrong is counted, with the first of its kind in words; the load goes on."""
        try:
            await act()
        except Exception as error:  # noqa: BLE001 - what nobody foresaw has failed, too
            self.failed[kind] += 1
            self.examples.setdefault(kind, f"{self.now():.0f} s: {error!r}"[:500])
        else:
            self.done[kind] += 1
