"""Fair share between tenants: what jobs are charged, and the quota of emergencies.

A tenant is charged the worker-seconds its jobs use, divided by its weight; the least-charged tenant with work that a
worker can run is served first (see `line`). The charge is made when jobs are claimed, from what such jobs took before,
and put right when they end.

All of it is this server's own memory. Losing it costs a moment's fairness and nothing else.
"""

import time
from collections.abc import Callable
from typing import Final

UNKNOWN_SECONDS: Final = 0.05
"""What a job of a task that never ran is charged."""
SHORTEST_SECONDS: Final = 0.000_05
"""Handing out a job costs something even if it does nothing."""
EMERGENCY_WINDOW: Final = 60.0
EMERGENCY_SHARE: Final = 0.05
EMERGENCIES_ALWAYS: Final = 20


class Shares:
    def __init__(self, weight: Callable[[int], float], expected: Callable[[int, str], float | None]) -> None:
        self._weight = weight
        self._expected = expected

    def cost(self, tenant_id: int, task: str) -> float:
        """The worker-seconds that one job of a task is expected to use."""
        seconds = self._expected(tenant_id, task)
        return UNKNOWN_SECONDS if seconds is None else max(seconds, SHORTEST_SECONDS)

    def weight(self, tenant_id: int) -> float:
        return self._weight(tenant_id)


class Emergencies:
    """Priority 10 goes before everybody's share, as long as it is rare: twenty jobs a minute of each tenant, and
    beyond that one in twenty of its jobs. What is over that still has its head start among the tenant's own."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._window: dict[int, list[float]] = {}

    def left(self, tenant_id: int) -> int:
        """How many of a tenant's emergencies may still go before everybody's share."""
        _, urgent, started = self._counts(tenant_id)
        return max(0, int(max(EMERGENCIES_ALWAYS, EMERGENCY_SHARE * started) - urgent))

    def started(self, tenant_id: int, count: int, *, urgent: bool) -> None:
        counts = self._counts(tenant_id)
        counts[2] += count
        if urgent:
            counts[1] += count

    def _counts(self, tenant_id: int) -> list[float]:
        """The window's start, emergencies started in it, jobs started in it."""
        now = self._clock()
        counts = self._window.get(tenant_id)
        if counts is None or now - counts[0] > EMERGENCY_WINDOW:
            counts = self._window[tenant_id] = [now, 0.0, 0.0]
        return counts
