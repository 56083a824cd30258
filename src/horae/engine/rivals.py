"""Rivals: the other lanes whose jobs want the same slots, and how many of their jobs go before one of ours.

A lane is no rival when a gate or a limit keeps it from taking what we wait for. What is counted has bounds: when a
bound is reached, `more` says so.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import asyncpg

from horae.engine.backlog import HIGHEST_RANK
from horae.engine.crew import Crew
from horae.engine.offers import offer_of, serves
from horae.engine.policy import Policy
from horae.model.limits import Group
from horae.model.matching import fits
from horae.model.placement import read_placement
from horae.store.control import LaneKey, lane_key
from horae.store.explain import ExplainRows
from horae.store.policy import PolicyRows

MOST_LANES: Final = 500
BOUND: Final = 10_000
LEAST_A_LANE: Final = 50


class Rival(NamedTuple):
    lane_id: int
    key: LaneKey
    tenant: str
    jobs: int
    """That go before ours or, of another tenant, in turn with them."""
    more: bool
    for_workers: bool
    """Whether it wants the same workers."""
    for_groups: frozenset[int]
    """The limits without room that it waits for as well."""


class Rivals(NamedTuple):
    all: list[Rival]
    more: bool
    """There are lanes that nobody looked at."""


NOBODY: Final = Rivals([], more=False)


class Competition:
    def __init__(self, rows: ExplainRows, policy_rows: PolicyRows, policy: Policy) -> None:
        self._rows = rows
        self._policy_rows = policy_rows
        self._policy = policy

    async def around(self, row: asyncpg.Record, key: LaneKey, crew: Crew, full: frozenset[int]) -> Rivals:
        """Of a job: who else wants its workers, or room in its full groups."""
        found = await self._rows.explain_lanes(MOST_LANES + 1)
        open_ = [(lane, of) for lane in found[:MOST_LANES] if (of := self._open(lane, row["lane_id"])) is not None]
        exhausted = await self._exhausted([group for _, groups in open_ for group in groups])
        suited: dict[LaneKey, bool] = {}
        wanted = []
        for lane, groups in open_:
            ids = frozenset(group.id for group in groups)
            free = not ids & exhausted and _suits(lane_key(lane), crew, suited)
            if free or ids & full:
                wanted.append((lane, free, ids & full))
        counts = await self._count(row, key, [lane for lane, _, _ in wanted])
        return Rivals(
            [
                Rival(lane["lane_id"], lane_key(lane), lane["tenant"], *counts[lane["lane_id"]], free, shared)
                for lane, free, shared in wanted
            ],
            len(found) > MOST_LANES,
        )

    def _open(self, lane: asyncpg.Record, own_lane: int) -> tuple[Group, ...] | None:
        """The limits of another lane that no gate closes; None for all others."""
        if lane["lane_id"] == own_lane:
            return None
        policy = self._policy.of(lane["lane_id"], lane_key(lane))
        return policy.groups if policy.closed is None else None

    async def _exhausted(self, groups: Sequence[Group]) -> frozenset[int]:
        by_id = {group.id: group for group in groups if group.max_running is not None}
        if not by_id:
            return frozenset()
        counts = await self._policy_rows.slot_counts(list(by_id))
        return frozenset(c["group_id"] for c in counts if c["taken"] >= (by_id[c["group_id"]].max_running or 0))

    async def _count(
        self, row: asyncpg.Record, key: LaneKey, lanes: Sequence[asyncpg.Record]
    ) -> dict[int, tuple[int, bool]]:
        below = {lane["lane_id"]: _ceiling(row["rank"], key, lane_key(lane)) for lane in lanes}
        asked = [(lane["lane_id"], below[lane["lane_id"]]) for lane in lanes if lane["rank"] < below[lane["lane_id"]]]
        bound = max(LEAST_A_LANE, BOUND // max(len(asked), 1))
        counts = await self._rows.explain_ahead(asked, bound)
        return {lane_id: (counts.get(lane_id, 0), counts.get(lane_id, 0) >= bound) for lane_id in below}


def _ceiling(rank: int, key: LaneKey, other: LaneKey) -> int:
    """The rank below which another lane's jobs go before ours: emergencies go before all that are none."""
    if other.urgent != key.urgent:
        return HIGHEST_RANK if other.urgent else -HIGHEST_RANK
    return rank if other.tenant_id == key.tenant_id else HIGHEST_RANK


def _suits(key: LaneKey, crew: Crew, known: dict[LaneKey, bool]) -> bool:
    """Whether one of our workers could run such jobs, too."""
    profile = key._replace(concurrency_key="", urgent=False)
    if profile not in known:
        placement = read_placement(key.requires)
        known[profile] = any(
            serves(hand.row, key) and fits(placement, offer_of(hand.row)) for hand in crew.working
        )  # fmt: skip
    return known[profile]
