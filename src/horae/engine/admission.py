"""Admission: what may be submitted now. Asked before anything is stored; a refusal stores nothing.

Two reasons to refuse. A *quota* of the tenant, the user or the queue is used up: `quota_exceeded` (429). Or the system
as a whole has too much: `overloaded` (503), the lowest priorities first. Both say when to come back.

Rates are token buckets in memory, exact on each server; of a quota each of n servers gives the n-th part. The number of
jobs that wait is the database's depth of a moment ago and what this server let in since, so that several servers
together can overshoot by what they let in within about a second. With no quota and no strain nothing here is called:
`active` is all that a submit looks at.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from horae.engine.gauges import PENDING_RETRY, Gauge, Standing
from horae.model.errors import Overloaded
from horae.model.overload import REFUSED_FROM, STRAINED, refuses
from horae.model.quota import ANY_TENANT, Quota, Scope
from horae.store.jobs import NewJob

SLOWEST_FLUSH: Final = 5.0
"""Seconds for which a batch may take to be stored at most. Slowness alone never refuses the highest priorities."""
SLOWNESS_LASTS: Final = 2.0
MOST_BY_SLOWNESS: Final = 0.95


class Admission:
    def __init__(self, max_pending: int | None = None) -> None:
        self.active = False
        """Whether a submit has to ask at all."""
        self.max_pending = max_pending
        self.total_pending = 0
        self.holding: frozenset[int] = frozenset()
        """The keys of users who may have only so many jobs pending."""
        self._waiting: Callable[[], float] = lambda: 0.0
        self._slow = (0.0, 0.0)
        self._servers = 1
        self._gauges: dict[Quota, Gauge] = {}
        self._tenants: dict[int, Gauge] = {}
        self._keys: dict[int, Gauge] = {}
        self._queues: dict[tuple[int, str], Gauge] = {}
        self._queue_tenants: frozenset[int] = frozenset()
        self._held: list[tuple[int, int, str]] = []

    # What a submit asks.

    def concerns(self, key_id: int | None, tenant_id: int | None) -> bool:
        """Whether anything could refuse this key's submits; `tenant_id` is None when it may be any."""
        if self.load() >= STRAINED or key_id in self._keys:
            return True
        if tenant_id is None:
            return bool(self._tenants or self._queues)
        return tenant_id in self._tenants or not self._queue_tenants.isdisjoint((tenant_id, ANY_TENANT))

    def admit(self, tenant_id: int, queue: str, key_id: int | None, priority: int, count: int = 1) -> None:
        """Lets all of them in, or raises and lets in none."""
        load = self.load()
        if load >= STRAINED and refuses(load, priority):
            raise self._overloaded(load, priority)
        gauges = self._concerned(tenant_id, queue, key_id)
        now = time.monotonic()
        for gauge in gauges:
            gauge.check(count, now)
        for gauge in gauges:
            gauge.take(count, now)

    def standing(self, key_id: int | None, places: Iterable[tuple[int, str]]) -> list[Standing]:
        """How much is left for a key that submits to these tenants and queues: the least of each policy."""
        now = time.monotonic()
        least: dict[str, Standing] = {}
        for tenant_id, queue in places:
            for gauge in self._concerned(tenant_id, queue, key_id):
                for standing in gauge.standings(now):
                    known = least.get(standing.policy)
                    if known is None or standing.remaining < known.remaining:
                        least[standing.policy] = standing
        return list(least.values())

    def note_stored(self, jobs: Iterable[NewJob]) -> None:
        """Jobs of users whose pending ones are counted; asked only when `holding` names some."""
        for job in jobs:
            if job.key_id is not None and job.key_id in self.holding:
                self._held.append((job.tenant_id, job.key_id, job.id))

    def load(self) -> float:
        """0 … 1 and more: how much of what it can bear the system has."""
        share = self._waiting()
        took, until = self._slow
        if took and time.monotonic() < until:
            share = max(share, min(took / SLOWEST_FLUSH, MOST_BY_SLOWNESS))
        if self.max_pending is not None:
            share = max(share, self.total_pending / self.max_pending)
        return share

    # What those tell who know.

    def watch(self, waiting: Callable[[], float]) -> None:
        """`waiting` says which share of the room for waiting submits is taken."""
        self._waiting = waiting

    def flushed(self, seconds: float) -> None:
        """A batch took so long to be stored."""
        if seconds >= STRAINED * SLOWEST_FLUSH:
            self._slow = (seconds, time.monotonic() + SLOWNESS_LASTS)
            self.active = True

    def share_among(self, servers: int) -> None:
        if servers != self._servers:
            self._servers = servers
            for gauge in self._gauges.values():
                gauge.share(servers, time.monotonic())

    def set_quotas(self, quotas: Sequence[tuple[Quota, Sequence[int]]]) -> None:
        """The quotas as they are now, each with the keys of its user. One that did not change keeps its tokens."""
        now = time.monotonic()
        self._gauges = {q: self._gauges.get(q) or Gauge(q, self._servers, now) for q, _ in quotas}
        of = {scope: [q for q in self._gauges if q.scope is scope] for scope in Scope}
        self._tenants = {q.tenant_id: self._gauges[q] for q in of[Scope.TENANT]}
        self._queues = {(q.tenant_id, q.name): self._gauges[q] for q in of[Scope.QUEUE]}
        self._queue_tenants = frozenset(q.tenant_id for q in of[Scope.QUEUE])
        self._keys = {key_id: self._gauges[q] for q, keys in quotas for key_id in keys}
        self.holding = frozenset(k for k, gauge in self._keys.items() if gauge.quota.max_pending is not None)

    def settle(self) -> None:
        """All that is known has been told: whether submits have to ask from now on."""
        self.active = bool(self._gauges) or self.load() >= STRAINED

    def counted(self) -> list[Gauge]:
        """The quotas that want to know how many jobs wait."""
        return [gauge for gauge in self._gauges.values() if gauge.quota.max_pending is not None]

    def take_held(self) -> list[tuple[int, int, str]]:
        held, self._held = self._held, []
        return held

    def keys_of(self, gauge: Gauge) -> list[int]:
        return [key_id for key_id, found in self._keys.items() if found is gauge]

    def _concerned(self, tenant_id: int, queue: str, key_id: int | None) -> list[Gauge]:
        found = (
            self._tenants.get(tenant_id),
            None if key_id is None else self._keys.get(key_id),
            self._queues.get((tenant_id, queue)),
            self._queues.get((ANY_TENANT, queue)),
        )
        return [gauge for gauge in found if gauge is not None]

    def _overloaded(self, load: float, priority: int) -> Overloaded:
        many = self.max_pending is not None and self.total_pending >= REFUSED_FROM[priority] * self.max_pending
        why = f"{self.total_pending} jobs wait, {self.max_pending} may" if many else "too many submits are under way"
        return Overloaded(
            f"{why}: jobs of priority {priority} are refused until the load, now {load:.2f}, is below "
            f"{REFUSED_FROM[priority]:g}",
            retry_after=PENDING_RETRY if many else 1,
        )
