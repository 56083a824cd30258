"""Limit watch: no slot outlives its lease, and no limit is exceeded. Both are impossible by construction, and watched
all the same: a slot that leaked would hold jobs back for ever.

A group that holds more than its limit allows is no fault when the limit was lowered while more ran; it is told apart by
the jobs that started since.
"""

from collections.abc import Mapping
from typing import Final

import structlog

from horae.engine.policy import Policy
from horae.model.limits import groups_of
from horae.store.policy import PolicyRows

log = structlog.get_logger()

GROUPS: Final = 100_000
DAY: Final = 86_400.0


class LimitWatch:
    name = "limits"
    interval = 15.0

    def __init__(self, rows: PolicyRows, policy: Policy) -> None:
        self._rows = rows
        self._policy = policy
        self._before: dict[int, int] = {}
        self.faults: dict[str, int] = {}
        """What was found wrong the last time; readiness and `doctor` look at it."""

    async def run_once(self) -> Mapping[str, int]:
        orphans = await self._rows.slot_orphans()
        exceeded = await self._exceeded()
        self.faults = {name: n for name, n in (("slot_orphans", orphans), ("limits_exceeded", exceeded)) if n}
        if self.faults:
            log.error("limits_broken", **self.faults)
        await self._rows.bucket_clean(self._filling_seconds())
        return self.faults

    def _filling_seconds(self) -> float:
        """After so long without a start, every bucket is full: it can be forgotten."""
        rules = self._policy.limits
        return max([DAY, *(r.burst / r.rate for r in rules if r.rate is not None and r.burst is not None)])

    async def _exceeded(self) -> int:
        """Groups over their limit that hold more than they did the last time."""
        taken = await self._rows.slot_groups(GROUPS)
        version = self._policy.version
        most = {
            group.id: group.max_running
            for key in (await self._rows.lease_lanes()).values()
            for group in groups_of(self._policy.limits, key)
            if group.max_running is not None
        }
        grown = [g for g, limit in most.items() if taken.get(g, 0) > limit and taken[g] > self._before.get(g, limit)]
        self._before = taken
        return len(grown) if version == self._policy.version else 0
