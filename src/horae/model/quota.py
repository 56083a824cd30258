"""Quotas: how much may be submitted in a second, and how much may wait, for a tenant, a user or a queue."""

import math
from enum import StrEnum
from typing import Final

import msgspec

from horae.model.errors import InvalidInput
from horae.model.job import check_name
from horae.model.limits import default_burst, read_rate

MAX_BURST: Final = 10_000_000
MAX_PENDING: Final = 10**12
ANY_TENANT: Final = 0
"""For a user: a key that belongs to no tenant. For a queue: the queue of all tenants together."""


class Scope(StrEnum):
    TENANT = "tenant"
    USER = "user"
    """The name of an API key; several keys of one name, such as a rotated one, share its quota."""
    QUEUE = "queue"


class Quota(msgspec.Struct, kw_only=True, frozen=True):
    scope: Scope
    tenant_id: int
    name: str
    submit_rate: float | None = None
    """Jobs a second, on average."""
    burst: int | None = None
    """Jobs at once."""
    max_pending: int | None = None


def make_quota(
    scope: Scope, tenant_id: int, name: str, submit_rate: str | float | None, burst: int | None, max_pending: int | None
) -> Quota:
    """A quota that was asked for, checked. A burst left out is one second's worth, and at least one job."""
    check_name(name, "name")
    if submit_rate is None and max_pending is None:
        raise InvalidInput("a quota needs submit_rate or max_pending; to lift it, remove it", field="submit_rate")
    if max_pending is not None and not 0 <= max_pending <= MAX_PENDING:
        raise InvalidInput(f"max_pending: {max_pending} is outside 0…{MAX_PENDING}", field="max_pending")
    if submit_rate is None:
        if burst is not None:
            raise InvalidInput("burst: needs a submit_rate", field="burst")
        return Quota(scope=scope, tenant_id=tenant_id, name=name, max_pending=max_pending)
    rate = read_rate(submit_rate, "submit_rate")
    at_once = math.ceil(default_burst(rate, burst))
    if not 1 <= at_once <= MAX_BURST:
        raise InvalidInput(f"burst: {at_once} is outside 1…{MAX_BURST}", field="burst")
    return Quota(
        scope=scope, tenant_id=tenant_id, name=name, submit_rate=rate, burst=at_once, max_pending=max_pending
    )  # fmt: skip


def window(rate: float) -> tuple[int, int]:
    """A rate as `(jobs, seconds)` with whole numbers, as the RateLimit-Policy header wants it."""
    seconds = max(1, math.ceil(1 / rate))
    return max(1, round(rate * seconds)), seconds
