"""Quotas: what this server believes of quotas, depths and the number of servers is about a second old at most."""

import os
import socket
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Final
from uuid import uuid4

import asyncpg

from horae.engine.admission import Admission
from horae.engine.gauges import Gauge, depths_of
from horae.model.quota import ANY_TENANT, Quota, Scope
from horae.release import own_version
from horae.store.quotas import Quotas
from horae.store.rollups import Rollups

SILENCE_SECONDS: Final = 15.0
"""A server that says nothing for so long no longer counts."""
CLEAN_SHARE: Final = 0.05
"""Of this server's time, at most this much goes into looking which held jobs still wait."""


class QuotaWatch:
    name = "quotas"
    interval = 1.0

    def __init__(
        self, quotas: Quotas, rollups: Rollups, admission: Admission, flush: Callable[[], Awaitable[int]]
    ) -> None:
        self._quotas = quotas
        self._rollups = rollups
        self._admission = admission
        self._flush = flush
        self._held_keys: list[int] | None = None
        self._clean_at = 0.0

    async def run_once(self) -> Mapping[str, int]:
        self._admission.set_quotas([_quota(row) for row in await self._quotas.quota_load()])
        await self._count(self._admission.counted())
        self._admission.settle()
        return {}

    async def _count(self, counted: list[Gauge]) -> None:
        """Learns how much waits. What this server let in before the look is in it; what it let in since is added."""
        before = [gauge.admitted for gauge in counted]
        held = await self._held()
        if not counted and self._admission.max_pending is None:
            return
        await self._flush()
        depths = await self._depths([gauge.quota for gauge in counted])
        for gauge, admitted in zip(counted, before, strict=True):
            of_user = gauge.quota.scope is Scope.USER
            keys = self._admission.keys_of(gauge) if of_user else []
            gauge.pending = sum(held.get(key, 0) for key in keys) if of_user else depths_of(gauge, depths)
            gauge.admitted -= admitted

    async def _depths(self, quotas: list[Quota]) -> dict[tuple[int, str], int]:
        tenants = [q.tenant_id for q in quotas if q.scope is not Scope.USER and q.tenant_id != ANY_TENANT]
        queues = [q.name for q in quotas if q.scope is Scope.QUEUE and q.tenant_id == ANY_TENANT]
        rows = await self._rollups.depth_load(tenants, queues)
        found = {(row["tenant_id"], row["queue"]): row["pending"] for row in rows}
        self._admission.total_pending = max(0, found.pop((ANY_TENANT, ""), 0))
        return found

    async def _held(self) -> dict[int, int]:
        """How many jobs wait of each key whose user may have only so many."""
        if new := self._admission.take_held():
            await self._quotas.hold_add(new)
        keys = sorted(self._admission.holding)
        if keys != self._held_keys or (keys and time.monotonic() >= self._clean_at):
            started = time.monotonic()
            await self._quotas.hold_clean(keys)
            self._clean_at = time.monotonic() + (time.monotonic() - started) / CLEAN_SHARE
            self._held_keys = keys
        return await self._quotas.hold_count(keys) if keys else {}


def _quota(row: asyncpg.Record) -> tuple[Quota, list[int]]:
    quota = Quota(
        scope=Scope(row["scope"]),
        tenant_id=row["tenant_id"],
        name=row["name"],
        submit_rate=row["submit_rate"],
        burst=row["burst"],
        max_pending=row["max_pending"],
    )
    return quota, list(row["keys"])


class Presence:
    """This server is on the list of those that live, and knows how many there are."""

    name = "presence"
    interval = 5.0

    def __init__(self, quotas: Quotas, admission: Admission) -> None:
        self._quotas = quotas
        self._admission = admission
        self._id = uuid4()

    async def run_once(self) -> Mapping[str, int]:
        alive = await self._quotas.server_beat(
            self._id, socket.gethostname(), os.getpid(), own_version(), self._admission.load(), SILENCE_SECONDS
        )
        self._admission.share_among(alive)
        return {}

    async def leave(self) -> None:
        await self._quotas.server_leave(self._id)
