"""Backlog: what this server believes of the lanes that have work, kept so that choosing among them is quick.

Whether a worker can run a lane depends on the lane's queue, task and placement: its *profile*. There are few of those,
however many tenants and concurrency keys there are. A profile keeps each tenant's lanes in the order of their heads,
and the workers that can run the same profiles have a `Line` of the tenants that have work for them. So a choice costs
the logarithm of what is there.

A lane is *full* (believed to have work), *claimed* (a claim for it is under way), *quiet* (believed empty), *blocked*
(a limit has no room) or *closed* (a gate). Everything here is a hint: the claim itself finds out.
"""

import heapq
import itertools
import time
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from typing import TYPE_CHECKING, Final

from horae.engine.heads import Heads
from horae.engine.line import Line
from horae.engine.shares import Shares
from horae.engine.waits import Waits
from horae.model.matching import LIGHT, Demand, demand
from horae.model.placement import Placement, read_placement
from horae.store.control import LaneKey

if TYPE_CHECKING:
    from horae.engine.sessions import Session

LOWEST_RANK: Final = -(2**63)
HIGHEST_RANK: Final = 2**63 - 1
MAX_QUIET: Final = 64_000
MAX_IDLE_LINES: Final = 16
LINE_SECONDS: Final = 60.0
"""A line that no worker asked for so long is closed when there are many."""


class LaneState(Enum):
    FULL = auto()
    CLAIMED = auto()
    QUIET = auto()
    BLOCKED = auto()
    CLOSED = auto()


class LaneHint:
    __slots__ = (
        "blocked_on", "claimed_at", "doubtful", "floor", "head", "heard", "key", "lane_id", "profile", "since", "state",
    )  # fmt: skip

    def __init__(self, lane_id: int, key: LaneKey, profile: "Profile") -> None:
        self.lane_id = lane_id
        self.key = key
        self.profile = profile
        self.head = HIGHEST_RANK
        """The smallest rank that is believed to be there."""
        self.floor = LOWEST_RANK
        """No rank below can be there, as far as this server heard."""
        self.state = LaneState.QUIET
        self.since = 0.0
        """When it became full."""
        self.heard: int | None = None
        """The smallest rank announced while a claim was under way."""
        self.blocked_on: int | None = None
        self.claimed_at = 0
        """When the claim under way began, counted in moments of the backlog."""
        self.doubtful = False
        """Its last claim found nothing below a ceiling: the next looks for one job wherever it is, to settle it."""

    def __lt__(self, other: "LaneHint") -> bool:
        """Heaps compare hints when a lane was forgotten and met again: which of the two comes first is all one."""
        return False

    def lower(self, rank: int) -> None:
        self.head = min(self.head, rank)
        self.floor = min(self.floor, rank)


class Profile:
    """Lanes that the same workers can run."""

    def __init__(self, key: LaneKey, number: int) -> None:
        self.number = number
        self.queue = key.queue
        self.task = key.task
        self.urgent = key.urgent
        self.placement: Placement = read_placement(key.requires)
        self.demand: Demand = demand(self.placement)
        self.heavy = self.demand is not LIGHT
        self.choosy = self.placement.prefers != self.placement.avoids or self.placement.sticky is not None
        self.count = 0
        """How many lanes are full."""
        self._lanes: dict[int, list[tuple[int, int, LaneHint]]] = {}

    def add(self, hint: LaneHint) -> None:
        heapq.heappush(self._lanes.setdefault(hint.key.tenant_id, []), (hint.head, hint.lane_id, hint))

    def head(self, tenant_id: int) -> int | None:
        lanes = self._lanes.get(tenant_id)
        while lanes:
            head, _, hint = lanes[0]
            if hint.state is LaneState.FULL and hint.head == head:
                return head
            heapq.heappop(lanes)
        self._lanes.pop(tenant_id, None)
        return None

    def pop(self, tenant_id: int) -> LaneHint:
        """The tenant's lane with the smallest head; there must be one."""
        return heapq.heappop(self._lanes[tenant_id])[2]

    def tenants(self) -> list[int]:
        """Those with full lanes."""
        return [tenant_id for tenant_id in list(self._lanes) if self.head(tenant_id) is not None]


class Backlog:
    def __init__(self, shares: Shares) -> None:
        self.shares = shares
        self.waits = Waits()
        self._hints: dict[int, LaneHint] = {}
        self._quiet: dict[int, None] = {}
        self._profiles: dict[tuple[str, str, str, bool], Profile] = {}
        self._numbered: list[Profile] = []
        self._lines: dict[int, Line] = {}
        self._active: dict[Profile, None] = {}
        self._heads: dict[int, Heads] = {}
        self._blocked: dict[int, list[tuple[int, int, LaneHint]]] = {}
        self._closed: dict[int, LaneHint] = {}
        self._moments = itertools.count(1)
        self._claims = 0
        self._freed: dict[int, int] = {}
        """The moments at which groups had more room than lanes to fill, as long as claims are under way."""

    # What is there.

    def known(self, lane_id: int) -> LaneHint | None:
        return self._hints.get(lane_id)

    def active(self) -> Iterable[Profile]:
        """The profiles with full lanes."""
        return self._active

    def heads_of(self, tenant_id: int) -> Heads:
        """The profiles in which a tenant has full lanes."""
        heads = self._heads.get(tenant_id)
        if heads is None:
            heads = self._heads[tenant_id] = Heads(tenant_id)
        return heads

    @property
    def anything(self) -> bool:
        return bool(self._active)

    def waiting(self) -> Iterator[LaneHint]:
        """The lanes that are believed to have jobs which wait."""
        return (hint for hint in list(self._hints.values()) if hint.state is not LaneState.QUIET)

    def is_blocking(self, group_id: int) -> bool:
        return group_id in self._blocked

    def depth(self) -> dict[str, int]:
        return {
            "lanes_with_work": sum(profile.count for profile in self._active),
            "lanes_blocked": sum(1 for _ in self._all_blocked()),
            "lanes_closed": len(self._closed),
        }

    # News.

    def note(self, lane_id: int, key: LaneKey | None, rank: int) -> bool:
        """A lane has work, the smallest rank heard of being this. False when the lane is not known."""
        hint = self._hints.get(lane_id)
        if hint is None:
            if key is None:
                return False
            hint = self._hints[lane_id] = LaneHint(lane_id, key, self._profile(key))
        if hint.state is LaneState.FULL and rank >= hint.head:
            if rank < hint.floor:
                hint.floor = rank
        elif hint.state is LaneState.CLAIMED:
            hint.heard = rank if hint.heard is None else min(rank, hint.heard)
            hint.floor = min(hint.floor, rank)
        elif hint.state is LaneState.QUIET:
            hint.head = rank
            hint.floor = min(hint.floor, rank)
            self.fill(hint)
        elif rank < hint.head:
            hint.lower(rank)
            self._moved(hint)
        else:
            hint.floor = min(hint.floor, rank)
        return True

    def _moved(self, hint: LaneHint) -> None:
        if hint.state is LaneState.FULL:
            self.stand(hint)
        elif hint.state is LaneState.BLOCKED and hint.blocked_on is not None:
            heapq.heappush(self._blocked.setdefault(hint.blocked_on, []), (hint.head, hint.lane_id, hint))

    # The moves between states.

    def fill(self, hint: LaneHint) -> None:
        self._quiet.pop(hint.lane_id, None)
        self._closed.pop(hint.lane_id, None)
        if hint.blocked_on is not None:
            self.waits.end(hint.lane_id)
        served = hint.state is LaneState.CLAIMED
        if served:
            self._claim_ended()
        hint.state, hint.since, hint.blocked_on, hint.heard = LaneState.FULL, time.monotonic(), None, None
        profile, tenant_id = hint.profile, hint.key.tenant_id
        idle = profile.head(tenant_id) is None
        self.stand(hint)
        profile.count += 1
        self._active[profile] = None
        if idle:
            for line in self._lines.values():
                if line.serves(profile.number) and not line.has(tenant_id):
                    # Unless its last lane was out for a claim: then it did not come in just now.
                    line.enter(tenant_id, newcomer=not served)

    def stand(self, hint: LaneHint) -> None:
        """Puts a full lane where its head belongs."""
        hint.profile.add(hint)
        self.heads_of(hint.key.tenant_id).note(hint.profile, hint.head)

    def claim(self, hint: LaneHint) -> None:
        self._leave_full(hint, LaneState.CLAIMED)
        hint.claimed_at = next(self._moments)
        self._claims += 1

    def _claim_ended(self) -> None:
        self._claims -= 1
        if not self._claims:
            self._freed.clear()

    def quiet(self, hint: LaneHint) -> None:
        """After a claim: there was nothing, or nothing more."""
        self._claim_ended()
        hint.state, hint.head = LaneState.QUIET, HIGHEST_RANK
        self._quiet[hint.lane_id] = None
        if len(self._quiet) > MAX_QUIET:
            oldest = next(iter(self._quiet))
            del self._quiet[oldest], self._hints[oldest]

    def block(self, hint: LaneHint, group_id: int) -> None:
        """After a claim: the group has no room. `free` brings the lane back.

        If room came while the claim was under way, nobody would say so again: the lane is full as before.
        """
        if self._freed.get(group_id, 0) > hint.claimed_at:
            self.fill(hint)
            return
        self._claim_ended()
        hint.state, hint.blocked_on = LaneState.BLOCKED, group_id
        self.waits.begin(hint.lane_id, group_id)
        heapq.heappush(self._blocked.setdefault(group_id, []), (hint.head, hint.lane_id, hint))

    def close(self, hint: LaneHint) -> None:
        self._leave_full(hint, LaneState.CLOSED)
        self._closed[hint.lane_id] = hint

    def free(self, group_id: int, count: int) -> int:
        """Room in a group: as many of its lanes as there is room, smallest heads first. Returns how many."""
        lanes, freed = self._blocked.get(group_id), 0
        while lanes and freed < count:
            head, _, hint = heapq.heappop(lanes)
            if hint.state is LaneState.BLOCKED and hint.blocked_on == group_id and hint.head == head:
                self.fill(hint)
                freed += 1
        if not lanes:
            self._blocked.pop(group_id, None)
        if freed < count and self._claims:
            self._freed[group_id] = next(self._moments)
        return freed

    def reconsider(self) -> None:
        """The policy has changed: whatever was blocked or closed may be open now."""
        waiting = [*self._all_blocked(), *self._closed.values()]
        self._blocked.clear()
        for hint in waiting:
            self.fill(hint)

    # Lines.

    def line_of(self, session: "Session") -> Line:
        """The line of the workers that can run the same as this one."""
        line = session.line
        new = len(self._numbered) > session.profiles_judged
        if line is None or new or self._lines.get(line.kind) is not line:
            kind = 0 if line is None else line.kind
            for profile in self._numbered[session.profiles_judged :]:
                kind |= session.can_run(profile) << profile.number
            session.profiles_judged = len(self._numbered)
            line = session.line = self._lines.get(kind) or self._open(kind, line)
        line.used_at = time.monotonic()
        return line

    def _open(self, kind: int, parent: Line | None) -> Line:
        if len(self._lines) > MAX_IDLE_LINES:
            recent = time.monotonic() - LINE_SECONDS
            self._lines = {kind: line for kind, line in self._lines.items() if line.used_at > recent}
        line = self._lines[kind] = Line(kind) if parent is None else parent.branch(kind)
        # By tenant, who has one such profile mostly at the first look; by profile, it would be a look at every lane.
        for tenant_id, heads in self._heads.items():
            if any(line.serves(profile.number) for profile in heads.profiles()):
                line.enter(tenant_id, newcomer=False)
        return line

    def charge(self, session: "Session", tenant_id: int, seconds: float) -> None:
        """A tenant's own workers cost it nothing."""
        if session.tenant_id is None:
            self.line_of(session).charge(tenant_id, seconds / self.shares.weight(tenant_id))

    def _leave_full(self, hint: LaneHint, state: LaneState) -> None:
        hint.state = state
        hint.profile.count -= 1
        if not hint.profile.count:
            self._active.pop(hint.profile, None)

    def _all_blocked(self) -> Iterator[LaneHint]:
        seen: set[int] = set()
        for group_id, lanes in self._blocked.items():
            for head, lane_id, hint in lanes:
                valid = hint.state is LaneState.BLOCKED and hint.blocked_on == group_id and hint.head == head
                if valid and lane_id not in seen:
                    seen.add(lane_id)
                    yield hint

    def _profile(self, key: LaneKey) -> Profile:
        name = (key.queue, key.task, key.requires, key.urgent)
        profile = self._profiles.get(name)
        if profile is None:
            profile = self._profiles[name] = Profile(key, len(self._numbered))
            self._numbered.append(profile)
        return profile
