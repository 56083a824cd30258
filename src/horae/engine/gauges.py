"""Gauges: one quota as one server keeps it, and how much of it is left."""

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

from horae.model.bucket import Bucket
from horae.model.errors import QuotaExceeded
from horae.model.quota import ANY_TENANT, Quota, Scope, window

PENDING_RETRY: Final = 5
"""Seconds after which to come back when too much waits: depths are a second old, and work takes its time."""


class Standing(NamedTuple):
    """How much of a quota is left: what the RateLimit headers say."""

    policy: str
    limit: int
    seconds: int | None
    """The time that the limit is for; None for jobs that may wait."""
    remaining: int
    reset: int
    """Seconds until there is more."""


class Gauge:
    """One quota as this server keeps it."""

    __slots__ = ("admitted", "bucket", "pending", "quota")

    def __init__(self, quota: Quota, servers: int, now: float) -> None:
        self.quota = quota
        self.bucket = None if quota.submit_rate is None else Bucket(*_part(quota, servers), now)
        self.pending = 0
        """Jobs that waited when the database was asked."""
        self.admitted = 0
        """Jobs let in since."""

    def share(self, servers: int, now: float) -> None:
        if self.bucket is not None:
            self.bucket.resize(*_part(self.quota, servers), now)

    def check(self, count: int, now: float) -> None:
        if self.bucket is not None and self.bucket.remaining(now) < count:
            wait = math.ceil(self.bucket.seconds_until(count, now))
            raise self._exceeded("submissions", self.standings(now)[0], max(1, wait))
        if self.quota.max_pending is not None and self.pending + self.admitted + count > self.quota.max_pending:
            raise self._exceeded("pending jobs", self.standings(now)[-1], PENDING_RETRY)

    def take(self, count: int, now: float) -> None:
        if self.bucket is not None:
            self.bucket.take(count, now)
        self.admitted += count

    def standings(self, now: float) -> list[Standing]:
        found = []
        quota = self.quota
        if self.bucket is not None and quota.submit_rate is not None:
            limit, seconds = window(quota.submit_rate)
            full = math.ceil(self.bucket.seconds_until(self.bucket.burst, now))
            found.append(Standing(quota.scope.value, limit, seconds, self.bucket.remaining(now), full))
        if quota.max_pending is not None:
            left = max(0, quota.max_pending - self.pending - self.admitted)
            found.append(Standing(f"{quota.scope.value}-pending", quota.max_pending, None, left, PENDING_RETRY))
        return found

    def _exceeded(self, what: str, standing: Standing, wait: int) -> QuotaExceeded:
        per = "" if standing.seconds is None else f" in {standing.seconds} s"
        return QuotaExceeded(
            f"the quota of {self.quota.scope} {self.quota.name!r} allows {standing.limit} {what}{per}; "
            f"come back in {wait} s, or ask an admin to raise it",
            scope=self.quota.scope.value,
            name=self.quota.name,
            policy=standing.policy,
            limit=standing.limit,
            window=standing.seconds,
            remaining=standing.remaining,
            retry_after=wait,
        )


def _part(quota: Quota, servers: int) -> tuple[float, float]:
    """Rate and burst of one of several servers. At least one job at once: less would let nothing through for ever."""
    return (quota.submit_rate or 0.0) / servers, max(1.0, (quota.burst or 1) / servers)


def depths_of(gauge: Gauge, depths: Mapping[tuple[int, str], int]) -> int:
    """How many jobs wait under a tenant's or a queue's quota."""
    quota = gauge.quota
    if quota.scope is Scope.TENANT:
        return sum(jobs for (tenant_id, _), jobs in depths.items() if tenant_id == quota.tenant_id)
    return sum(
        jobs
        for (tenant_id, queue), jobs in depths.items()
        if queue == quota.name and quota.tenant_id in {ANY_TENANT, tenant_id}
    )
