"""Crew: the workers that could run a lane's jobs, and what each of them is doing.

Judged from the store, so that every server says the same, with the predicates that dispatch uses. Only a worker's
reservation for a large job is known to no server but the one it talks to.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from enum import Enum, auto
from typing import Final, NamedTuple

import asyncpg
import msgspec

from horae.engine.dispatch import Dispatch
from horae.engine.offers import LIVING, knows, offer_of, serves
from horae.model.limits import spread_group
from horae.model.matching import Demand, Free, demand, fits, room, whole
from horae.model.placement import Placement, read_placement
from horae.store.control import LaneKey
from horae.store.explain import ExplainRows
from horae.store.policy import PolicyRows
from horae.store.workers import Workers

MOST: Final = 200
"""Fitting workers that are looked at closely, the idlest first."""


class Standing(Enum):
    FREE = auto()
    BUSY = auto()
    SPREAD = auto()
    """It runs as many jobs of the lane as may run on one worker."""
    RESERVED = auto()
    PROBING = auto()
    DRAINING = auto()


class Run(NamedTuple):
    """A job that a worker runs."""

    tenant_id: int
    task: str
    since: datetime
    slots: int


class Hand(NamedTuple):
    row: asyncpg.Record
    standing: Standing
    room: int
    """How many jobs of the lane it could start now."""
    taken: int
    """Slots."""
    runs: list[Run]


class Crew(NamedTuple):
    knowing: list[asyncpg.Record]
    """Workers that have the task."""
    serving: list[asyncpg.Record]
    """Those that take jobs of the queue as well."""
    fitting: int
    """How many of those could run the job when idle."""
    hands: list[Hand]
    """What these are doing; the idlest, when they are many."""

    def of(self, standing: Standing) -> list[Hand]:
        return [hand for hand in self.hands if hand.standing is standing]

    @property
    def room(self) -> int:
        return sum(hand.room for hand in self.hands)

    @property
    def working(self) -> list[Hand]:
        return [hand for hand in self.hands if hand.standing is not Standing.DRAINING]


class Crews:
    def __init__(self, workers: Workers, rows: ExplainRows, policy_rows: PolicyRows, dispatch: Dispatch) -> None:
        self._workers = workers
        self._rows = rows
        self._policy_rows = policy_rows
        self._dispatch = dispatch

    async def of(self, lane_id: int, key: LaneKey, placement: Placement) -> Crew:
        rows = await self._workers.worker_list(key.tenant_id, LIVING)
        knowing = [row for row in rows if row["expires_at"] > row["now"] and knows(row, key)]
        serving = [row for row in knowing if serves(row, key)]
        fitting = [row for row in serving if fits(placement, offer_of(row))]
        hands = await self._look(lane_id, key, placement, sorted(fitting, key=_load)[:MOST])
        return Crew(knowing, serving, len(fitting), hands)

    async def _look(
        self, lane_id: int, key: LaneKey, placement: Placement, rows: Sequence[asyncpg.Record]
    ) -> list[Hand]:
        leases = await self._rows.explain_leases([(row["id"], row["slots"]) for row in rows])
        spread = await self._spread_full(lane_id, placement.spread, rows)
        mine: dict[int, list[asyncpg.Record]] = {row["id"]: [] for row in rows}
        for lease in leases:
            mine[lease["worker_id"]].append(lease)
        return [self._hand(row, key, placement, mine[row["id"]], spread=row["id"] in spread) for row in rows]

    def _hand(
        self, row: asyncpg.Record, key: LaneKey, placement: Placement, leases: Sequence[asyncpg.Record], *, spread: bool
    ) -> Hand:
        needs = [demand(read_placement(lease["requires"])) for lease in leases]
        runs = [
            Run(lease["tenant_id"], lease["task"], lease["granted_at"], need.slots)
            for lease, need in zip(leases, needs, strict=True)
        ]
        taken, left = sum(need.slots for need in needs), room(placement, _left(row, needs))
        if row["state"] == "draining":
            standing = Standing.DRAINING
        elif self._probing(row):
            standing = Standing.PROBING
        elif self._reserved(row["id"], key, placement):
            standing = Standing.RESERVED
        elif spread:
            standing = Standing.SPREAD
        else:
            standing = Standing.FREE if left > 0 else Standing.BUSY
        return Hand(row, standing, left if standing is Standing.FREE else 0, taken, runs)

    def _probing(self, row: asyncpg.Record) -> bool:
        session = self._dispatch.session(row["id"])
        return bool(row["probing"]) if session is None else self._dispatch.allowed(session, 1) == 0

    def _reserved(self, worker_id: int, key: LaneKey, placement: Placement) -> bool:
        session = self._dispatch.session(worker_id)
        kept = None if session is None else session.reserved_for
        ours = (key.queue, key.task, placement, key.urgent)
        return kept is not None and (kept.queue, kept.task, kept.placement, kept.urgent) != ours

    async def _spread_full(self, lane_id: int, spread: int | None, rows: Sequence[asyncpg.Record]) -> set[int]:
        if spread is None:
            return set()
        groups = {spread_group(lane_id, row["id"], spread).id: row["id"] for row in rows}
        counts = await self._policy_rows.slot_counts(list(groups))
        return {groups[count["group_id"]] for count in counts if count["taken"] >= spread}


def _load(row: asyncpg.Record) -> tuple[bool, float]:
    return row["state"] != "active", row["running"] / max(row["slots"], 1)


def _left(row: asyncpg.Record, needs: Sequence[Demand]) -> Free:
    """What a worker has beside what it runs."""
    used: Counter[str] = Counter()
    for need in needs:
        used.update(need._asdict())
    idle = msgspec.structs.asdict(msgspec.structs.replace(whole(offer_of(row)), slots=row["slots"]))
    return Free(**{name: amount - used[name] for name, amount in idle.items()})
