"""Line-up: who stands in line, since when, and what holds them.

Which lanes have work is known by the backlog, a hint that may be a moment old; what is told of them comes from the
store. So the look costs the same whether a hundred jobs wait or ten million. What is shown has bounds, and `more` says
when one was reached.
"""

import heapq
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from horae.engine.backlog import HIGHEST_RANK, Backlog, LaneHint
from horae.engine.facts import tokens_of
from horae.engine.holders import limit_name
from horae.engine.policy import LanePolicy, Policy
from horae.engine.prospects import Prospects
from horae.model.limits import Group, LimitRule, concerns, distinct
from horae.store.control import LaneKey
from horae.store.explain import ExplainRows
from horae.store.policy import PolicyRows

MOST_LANES: Final = 500
"""Lanes that a look takes in, those first in line."""
SHOWN: Final = 50
COUNTED: Final = 10_000
LANES_A_QUEUE: Final = 3


class Head(NamedTuple):
    """A lane and the job that is first in it."""

    lane_id: int
    key: LaneKey
    tenant: str
    job_id: UUID
    due_at: datetime


class Waiting(NamedTuple):
    head: Head
    jobs: int
    more: bool
    gate: int | None
    """The gate that closes the lane."""
    limit: str | None
    """The limit that has no room for it."""
    no_worker: bool
    """No worker that is alive could run it."""


class Lineup(NamedTuple):
    items: list[Waiting]
    more: bool


class Lineups:
    def __init__(
        self, backlog: Backlog, rows: ExplainRows, policy_rows: PolicyRows, policy: Policy, prospects: Prospects
    ) -> None:
        self._backlog = backlog
        self._rows = rows
        self._policy_rows = policy_rows
        self._policy = policy
        self._prospects = prospects

    async def of_queue(self, tenant_id: int | None, queue: str) -> Lineup:
        return await self._look(lambda key: key.queue == queue and tenant_id in {None, key.tenant_id})

    async def of_limit(self, tenant_id: int | None, rule: LimitRule) -> Lineup:
        return await self._look(lambda key: concerns(rule, key) and tenant_id in {None, key.tenant_id})

    async def oldest(self, tenant_id: int | None) -> dict[tuple[int, str], Head]:
        """By tenant and queue: the job that waits longest, of those that are first in line."""
        queues: dict[tuple[int, str], list[LaneHint]] = {}
        for hint in self._backlog.waiting():
            if tenant_id in {None, hint.key.tenant_id}:
                queues.setdefault((hint.key.tenant_id, hint.key.queue), []).append(hint)
        first = [hint for hints in queues.values() for hint in heapq.nsmallest(LANES_A_QUEUE, hints, key=_head)]
        found: dict[tuple[int, str], Head] = {}
        for head in await self._heads(first[:MOST_LANES]):
            place = (head.key.tenant_id, head.key.queue)
            if place not in found or head.due_at < found[place].due_at:
                found[place] = head
        return found

    async def _look(self, wanted: Callable[[LaneKey], bool]) -> Lineup:
        await self._policy.refresh()
        hints = (hint for hint in self._backlog.waiting() if wanted(hint.key))
        first = heapq.nsmallest(MOST_LANES + 1, hints, key=_head)
        heads = sorted(await self._heads(first[:MOST_LANES]), key=lambda head: head.due_at)
        shown = heads[:SHOWN]
        bound = max(COUNTED // max(len(shown), 1), 1)
        jobs = await self._rows.explain_ahead([(head.lane_id, HIGHEST_RANK) for head in shown], bound)
        policies = [self._policy.of(head.lane_id, head.key) for head in shown]
        full = await self._full([policy.groups for policy in policies])
        items = [
            await self._waiting(head, policy, jobs.get(head.lane_id, 0), bound, full)
            for head, policy in zip(shown, policies, strict=True)
        ]
        return Lineup([one for one in items if one.jobs], len(first) > MOST_LANES or len(heads) > SHOWN)

    async def _heads(self, hints: Iterable[LaneHint]) -> list[Head]:
        keys = {hint.lane_id: hint.key for hint in hints}
        rows = await self._rows.explain_heads(list(keys))
        return [Head(row["lane_id"], keys[row["lane_id"]], row["tenant"], row["id"], row["run_at"]) for row in rows]

    async def _waiting(self, head: Head, policy: LanePolicy, jobs: int, bound: int, full: frozenset[int]) -> Waiting:
        group = next((group for group in policy.groups if group.id in full), None)
        return Waiting(
            head, jobs, jobs >= bound, None if policy.closed is None else policy.closed.id,
            None if group is None else limit_name(self._policy, head.key, group.id),
            self._prospects.poor(head.lane_id) and bool(await self._prospects.warnings(head.lane_id)),
        )  # fmt: skip

    async def _full(self, lanes: Sequence[tuple[Group, ...]]) -> frozenset[int]:
        """The groups that let nothing start now."""
        groups = {group.id: group for group in distinct(lanes)}
        counts = await self._policy_rows.slot_counts(list(groups)) if groups else []
        return frozenset(count["group_id"] for count in counts if _no_room(groups[count["group_id"]], count))


def _no_room(group: Group, count: asyncpg.Record) -> bool:
    no_slot = group.max_running is not None and count["taken"] >= group.max_running
    return no_slot or (group.rate is not None and tokens_of(group, count) < 1)


def _head(hint: LaneHint) -> int:
    return hint.head
