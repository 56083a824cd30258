"""Choice: which lanes a worker's claim shall take from, and how much of each.

Emergencies first, within their quota; then the tenants in the order of their shares; inside a tenant the lane with the
smallest head. Lanes of one tenant go into the same claim only when their heads are close, and none may give up jobs
that rank far behind the head of a lane left out: so a batch keeps the order of ranks that single claims would have,
give or take twice `SLACK`. Eligibility is decided here, with the predicates that `explain` uses too.
"""

import heapq
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from horae.engine.backlog import HIGHEST_RANK, Backlog, LaneHint, Profile
from horae.engine.policy import Policy
from horae.engine.sessions import Session
from horae.engine.shares import Emergencies
from horae.model.matching import less, room
from horae.store.control import LaneKey

SLACK: Final = 20_000_000
"""Twenty seconds of rank, in microseconds: twice that is still under the step between priorities."""
LEAST: Final = 2
"""Asked for one more than it has, a lane with a single job shows at once that it is empty, or its limit that it is
reached; asked for one, it would have to be claimed again."""
GRACE_SECONDS: Final = 1.0
"""How long a lane with a preference waits for the worker it prefers."""


class Chosen(NamedTuple):
    hint: LaneHint
    head: int
    quota: int
    ceiling: int
    job_seconds: float
    """What one of its jobs is charged its tenant, in worker-seconds."""
    pledged: float
    """What was charged ahead."""
    policy: int
    """The version of the policy it was chosen by: the claim goes by that one, or takes nothing."""
    start: float = 0.0
    """Its tenant's virtual time when it was chosen; before all time for emergencies within their quota."""


class Picked(NamedTuple):
    hint: LaneHint
    job_seconds: float
    pledged: float
    most: int | None
    """How many emergencies it may give before everybody's share; None when it stands in line like all."""
    start: float


class Choice:
    def __init__(
        self, backlog: Backlog, policy: Policy, emergencies: Emergencies, peers: Callable[[], Iterable[Session]]
    ) -> None:
        self._backlog = backlog
        self._policy = policy
        self._emergencies = emergencies
        self._peers = peers
        self.waiting_for_better = False
        """Whether the last choice left lanes for workers they prefer."""

    def possible(self, session: Session) -> bool:
        """Whether there may be something for this worker."""
        if session.tenant_id is None:
            return any(self._suits(session, profile) for profile in self._backlog.active())
        return any(self._suits(session, profile) for _, profile in self._backlog.heads_of(session.tenant_id))

    def choose(self, session: Session, want: int) -> list[Chosen]:
        self.waiting_for_better = False
        suitable = [profile for profile in self._backlog.active() if self._suits(session, profile)]
        if not suitable or want <= 0:
            return []
        most = min(want, session.breadth.lanes)
        picking = _Picking(self, self._backlog, session, suitable, want / most)
        picking.pick_emergencies(most)
        picking.pick(most)
        picking.restore()
        return self._with_quotas(picking, want)

    def _suits(self, session: Session, profile: Profile) -> bool:
        if session.reserved_for is not None and session.reserved_for is not profile:
            return False
        if not session.can_run(profile):
            return False
        return not profile.heavy or room(profile.placement, session.free) > 0

    def is_open(self, hint: LaneHint) -> bool:
        return self._policy.of(hint.lane_id, hint.key).closed is None

    def is_best(self, session: Session, profile: Profile) -> bool:
        """Whether no other worker that is there suits a preference better."""
        others = [peer for peer in self._peers() if peer.can_run(profile) and not peer.draining]
        return session.is_best(profile, others)

    def _with_quotas(self, picking: "_Picking", want: int) -> list[Chosen]:
        """Half of the want is shared by weight whatever was before, so that nobody stands still while another catches
        up; the other half brings the tenants to the same virtual time. A tenant's lanes share its part alike.
        """
        picked, free = picking.picked, picking.free
        lanes_of = Counter(one.hint.key.tenant_id for one in picked)
        speeds = [self._speed(one.hint.key, lanes_of[one.hint.key.tenant_id]) for one in picked]
        in_line = [(one.start, speed) for one, speed in zip(picked, speeds, strict=True) if one.most is None]
        span = want / 2 / sum(speeds) if picked else 0.0
        goal = common_time(want / 2, in_line)
        ceilings = _ceilings(picking, lanes_of)
        chosen = []
        for (hint, job_seconds, pledged, most, start), speed in zip(picked, speeds, strict=True):
            jobs = speed * (span + max(0.0, goal - start))
            quota = max(LEAST, math.ceil(jobs)) if most is None else min(want, most)
            if hint.profile.heavy:
                quota = min(quota, 1 + room(hint.profile.placement, free))
                free = less(free, hint.profile.demand, quota - 1)
            ceiling = max(ceilings[hint.key.tenant_id], min(hint.head, HIGHEST_RANK - SLACK) + SLACK)
            if hint.doubtful:
                quota, ceiling = 1, HIGHEST_RANK
            chosen.append(Chosen(hint, hint.head, quota, ceiling, job_seconds, pledged, self._policy.version, start))
        return chosen

    def _speed(self, key: LaneKey, lanes: int) -> float:
        """The jobs by which one of a tenant's lanes moves it on by a second of virtual time."""
        shares = self._backlog.shares
        return shares.weight(key.tenant_id) / (lanes * shares.cost(key.tenant_id, key.task))

    def claim(self, session: Session, hint: LaneHint, jobs: float, most: int | None, start: float) -> Picked:
        """Takes a lane, and charges its tenant ahead for what it may give."""
        key = hint.key
        self._backlog.claim(hint)
        seconds = self._backlog.shares.cost(key.tenant_id, key.task) * hint.profile.demand.slots
        self._backlog.charge(session, key.tenant_id, seconds * jobs)
        return Picked(hint, seconds, seconds * jobs, most, start)

    def emergencies_left(self, tenant_id: int) -> int:
        return self._emergencies.left(tenant_id)


def common_time(want: float, lanes: Sequence[tuple[float, float]]) -> float:
    """The virtual time to which so many jobs bring lanes of these starts and speeds; those ahead of it get none."""
    jobs, speed, goal = float(want), 0.0, -math.inf
    for start, more in sorted(lanes):
        if start >= goal > -math.inf:
            break
        jobs += start * more
        speed += more
        goal = jobs / speed
    return goal


def _ceilings(picking: "_Picking", lanes_of: Counter[int]) -> dict[int, int]:
    """The highest rank that each tenant's lanes may give: not far behind the head of its next lane."""
    last: dict[int, int] = {}
    for hint, *_ in picking.picked:
        last[hint.key.tenant_id] = max(hint.head, last.get(hint.key.tenant_id, hint.head))
    ceilings = {}
    for tenant_id, count in lanes_of.items():
        head = min(picking.next_head(tenant_id), last[tenant_id] if count > 1 else HIGHEST_RANK)
        ceilings[tenant_id] = head + SLACK if head < HIGHEST_RANK - SLACK else HIGHEST_RANK
    return ceilings


class _Picking:
    """One choice under way: what was picked, and what was put aside to be put back afterwards."""

    def __init__(
        self, choice: Choice, backlog: Backlog, session: Session, suitable: Sequence[Profile], jobs_a_lane: float
    ) -> None:
        self._choice = choice
        self._backlog = backlog
        self._session = session
        self._suitable = set(suitable)
        self._jobs = jobs_a_lane
        self.picked: list[Picked] = []
        self.free = session.free
        """What the worker has left beside one job of each picked lane that takes more than a slot."""
        self._lanes: dict[int, list[tuple[int, int, Profile]]] = {}
        """Of each tenant that was looked at: its profiles by their heads."""
        self._aside: list[LaneHint] = []
        self._tenants_aside: list[int] = []
        self._first_heads: dict[int, int] = {}
        self._starts: dict[int, float] = {}
        self._best: dict[Profile, bool] = {}
        self._now = time.monotonic()

    def pick_emergencies(self, most: int) -> None:
        """The least charged tenants first here too, but each only as long as it has emergencies left."""
        urgent = [profile for profile in self._suitable if profile.urgent]
        if not urgent:
            return
        own = self._session.tenant_id
        tenants = {one for profile in urgent for one in profile.tenants()} if own is None else {own}
        for tenant_id in sorted(tenants, key=self._backlog.line_of(self._session).at):
            for profile in urgent:
                left = self._choice.emergencies_left(tenant_id)
                if left and len(self.picked) < most and profile.head(tenant_id) is not None:
                    self._consider(profile, tenant_id, left)

    def pick(self, most: int) -> None:
        own = self._session.tenant_id
        if own is not None:
            while len(self.picked) < most and self._pick_of(own):
                pass
            return
        line = self._backlog.line_of(self._session)
        present, emergencies = line.present, len(self.picked)
        while len(self.picked) < most and (tenant_id := line.first()) is not None:
            if len(self.picked) == emergencies:
                present = max(line.present, line.at(tenant_id))
            if not self._pick_of(tenant_id):
                line.leave(tenant_id)
                self._tenants_aside.append(tenant_id)
        line.present = present if len(self.picked) > emergencies else line.present

    def _pick_of(self, tenant_id: int) -> bool:
        """Looks at a tenant's next lane; False when it has none for this worker in this claim."""
        lanes = self._lanes_of(tenant_id)
        while lanes and lanes[0][0] <= self._first_heads.get(tenant_id, lanes[0][0]) + SLACK:
            head, _, profile = heapq.heappop(lanes)
            if profile.heavy and not room(profile.placement, self.free):
                continue
            if profile.head(tenant_id) == head:
                self._consider(profile, tenant_id, None)
            following = profile.head(tenant_id)
            if following is not None:
                heapq.heappush(lanes, (following, profile.number, profile))
            return True
        return False

    def _lanes_of(self, tenant_id: int) -> list[tuple[int, int, Profile]]:
        lanes = self._lanes.get(tenant_id)
        if lanes is None:
            heads = self._backlog.heads_of(tenant_id)
            lanes = [(head, profile.number, profile) for head, profile in heads if profile in self._suitable]
            heapq.heapify(lanes)
            self._lanes[tenant_id] = lanes
        return lanes

    def next_head(self, tenant_id: int) -> int:
        """The smallest head of the tenant's lanes that were left out, as far as this worker could run them."""
        lanes = self._lanes_of(tenant_id)
        return lanes[0][0] if lanes else HIGHEST_RANK

    def _consider(self, profile: Profile, tenant_id: int, emergencies: int | None) -> None:
        hint = profile.pop(tenant_id)
        if not self._choice.is_open(hint):
            self._backlog.close(hint)
        elif not (self._session.may_have_more(hint.lane_id) and self._should_run(hint)):
            self._aside.append(hint)
        else:
            self._first_heads.setdefault(tenant_id, hint.head)
            if profile.heavy:
                self.free = less(self.free, profile.demand, 1)
            start = self._start(tenant_id) if emergencies is None else -math.inf
            self.picked.append(self._choice.claim(self._session, hint, self._jobs, emergencies, start))

    def _start(self, tenant_id: int) -> float:
        """Where the tenant was before it was charged ahead for lanes of this choice."""
        if self._session.tenant_id is not None:
            return 0.0
        start = self._starts.get(tenant_id)
        if start is None:
            start = self._starts[tenant_id] = self._backlog.line_of(self._session).at(tenant_id)
        return start

    def _should_run(self, hint: LaneHint) -> bool:
        """A lane with a preference should go to the best worker there, or to anybody after a while."""
        profile = hint.profile
        if not profile.choosy or self._now - hint.since >= GRACE_SECONDS:
            return True
        best = self._best.get(profile)
        if best is None:
            best = self._best[profile] = self._choice.is_best(self._session, profile)
        self._choice.waiting_for_better = self._choice.waiting_for_better or not best
        return best

    def restore(self) -> None:
        """Puts back what was only looked at."""
        for hint in self._aside:
            hint.profile.add(hint)
        if not self._tenants_aside:
            return
        line = self._backlog.line_of(self._session)
        for tenant_id in self._tenants_aside:
            if any(line.serves(profile.number) for _, profile in self._backlog.heads_of(tenant_id)):
                line.place(tenant_id)
