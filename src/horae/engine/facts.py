"""Facts: all that is to be known of a job that waits, read once, before anybody judges it."""

from datetime import datetime
from typing import Final, NamedTuple

import asyncpg

from horae.engine.clock import Clock
from horae.engine.crew import Crew, Crews, Standing
from horae.engine.gatekeeper import Gatekeeper
from horae.engine.holders import gate_of
from horae.engine.policy import Policy
from horae.engine.rivals import BOUND, NOBODY, Competition, Rival, Rivals
from horae.model.explanation import Place
from horae.model.gates import Gate
from horae.model.limits import Group
from horae.model.placement import Placement, read_placement
from horae.store.control import LaneKey, lane_key
from horae.store.explain import ExplainRows
from horae.store.policy import PolicyRows

MOST_HOLDERS: Final = 200


class GroupFacts(NamedTuple):
    group: Group
    gate: Gate | None
    """When it is the rate of a gate's release or of its probes."""
    taken: int
    tokens: float
    holders: list[asyncpg.Record]
    """The jobs in its slots, if none is left."""

    @property
    def no_slot(self) -> bool:
        return self.group.max_running is not None and self.taken >= self.group.max_running

    @property
    def no_token(self) -> bool:
        return self.group.rate is not None and self.tokens < 1


class Facts(NamedTuple):
    now: datetime
    row: asyncpg.Record
    key: LaneKey
    placement: Placement
    closing: list[Gate]
    """Gates that let nothing of the lane start."""
    partial: list[Gate]
    """Gates for some of the lane's jobs that are for this one."""
    behind: Gate | None
    """The gate that it was put behind, as long as that has an effect."""
    groups: list[GroupFacts]
    crew: Crew
    place: Place | None
    rivals: Rivals

    @property
    def due(self) -> datetime | None:
        """When it is due, if that is still to come."""
        at: datetime | None = self.row["timer_at"]
        return at if at is not None and at > self.now else None

    @property
    def full(self) -> list[GroupFacts]:
        return [facts for facts in self.groups if facts.no_slot or facts.no_token]

    @property
    def no_free_worker(self) -> bool:
        return not self.crew.of(Standing.FREE)

    @property
    def before(self) -> int:
        """How many jobs of its lane go before it."""
        return 0 if self.place is None else self.place.number - 1

    @property
    def crowded(self) -> bool:
        """Whether the workers have no room left when all who go before it have got theirs."""
        ahead = self.before + sum(rival.jobs for rival in self.rivals.all if rival.for_workers)
        return self.due is None and bool(self.crew.working) and ahead >= self.crew.room

    @property
    def in_the_way(self) -> list[Rival]:
        """The other lanes whose jobs go before it, or in turn with it, to what it waits for."""
        crowded = self.crowded
        return [r for r in self.rivals.all if r.jobs and (r.for_groups or (crowded and r.for_workers))]


class FactFinder:
    def __init__(
        self,
        rows: ExplainRows,
        policy_rows: PolicyRows,
        policy: Policy,
        gatekeeper: Gatekeeper,
        crews: Crews,
        clock: Clock,
    ) -> None:
        self._rows = rows
        self._policy_rows = policy_rows
        self._policy = policy
        self._gatekeeper = gatekeeper
        self._crews = crews
        self._clock = clock
        self._competition = Competition(rows, policy_rows, policy)

    async def find(self, row: asyncpg.Record) -> Facts:
        """Of a `job_get` row of a job that waits."""
        await self._policy.refresh()
        key = lane_key(row)
        placement = read_placement(key.requires)
        crew = await self._crews.of(row["lane_id"], key, placement)
        groups = await self._groups(row["lane_id"], key)
        facts = Facts(
            self._clock.now(), row, key, placement, self._policy.closing(key), self._partial(row, key),
            next((gate for gate in self._policy.gates if gate.id == row["gate_id"]), None),
            groups, crew, await self._place(row), NOBODY,
        )  # fmt: skip
        return facts._replace(rivals=await self._rivals(facts))

    def _partial(self, row: asyncpg.Record, key: LaneKey) -> list[Gate]:
        gates = self._policy.of(row["lane_id"], key).partial
        said = (str(row["id"]), row["params"], row["options"])
        return [gate for gate in gates if self._gatekeeper.verdict((gate,), *said) is not None]

    async def _groups(self, lane_id: int, key: LaneKey) -> list[GroupFacts]:
        groups = {group.id: group for group in self._policy.of(lane_id, key).groups}
        if not groups:
            return []
        counts = await self._policy_rows.slot_counts(list(groups))
        found = [
            GroupFacts(groups[c["group_id"]], gate_of(self._policy, key, c["group_id"]), c["taken"],
                       tokens_of(groups[c["group_id"]], c), [])
            for c in counts
        ]  # fmt: skip
        taken = [facts.group.id for facts in found if facts.no_slot]
        holders = await self._policy_rows.slot_holders(taken, None, MOST_HOLDERS) if taken else []
        return [f._replace(holders=[h for h in holders if h["group_id"] == f.group.id]) for f in found]

    async def _place(self, row: asyncpg.Record) -> Place | None:
        if not row["is_ready"]:
            return None
        ahead = await self._rows.explain_place(row["lane_id"], row["rank"], row["id"], BOUND + 1)
        return Place(min(ahead, BOUND) + 1, more=ahead > BOUND)

    async def _rivals(self, facts: Facts) -> Rivals:
        """Nobody is in the way of a job that is not due, or waits for nothing that others could take."""
        full = frozenset(group.group.id for group in facts.full)
        if facts.due is not None or not (full or facts.crew.working):
            return NOBODY
        return await self._competition.around(facts.row, facts.key, facts.crew, full)


def tokens_of(group: Group, count: asyncpg.Record) -> float:
    """What a bucket holds by now; one that nobody took from is full."""
    if group.rate is None or group.burst is None or count["tokens"] is None:
        return group.burst or 0.0
    since = (count["now"] - count["at"]).total_seconds()
    held: float = count["tokens"] + since * group.rate
    return min(group.burst, held)
