"""Choice: which lanes a worker's claim shall take from, and how much of each.

Emergencies first, within their quota; then the tenants in the order of their shares; inside a tenant the lane with the
smallest head. What one claim takes of a tenant's lanes ranks within `SPAN` of the smallest of their heads, or is done
within a `MOMENT`: so a batch keeps the order of ranks that single claims would have, give or take that much.
Eligibility is decided here, with the predicates that `explain` uses too.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from horae.engine.backlog import HIGHEST_RANK, Backlog, LaneHint, Profile
from horae.engine.line import Line
from horae.engine.policy import Policy
from horae.engine.sessions import Session
from horae.engine.shares import Emergencies
from horae.model.matching import less, room

SPAN: Final = 58_000_000
"""In microseconds of rank: under the minute that is the step between priorities, so that they do not mix."""
MOMENT: Final = 0.005
"""Seconds of work: so soon over that nobody can tell whether it came before or after."""
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
        return any(self._suits(session, profile) for profile in self._backlog.heads_of(session.tenant_id).profiles())

    def choose(self, session: Session, want: int) -> list[Chosen]:
        self.waiting_for_better = False
        suitable = [profile for profile in self._backlog.active() if self._suits(session, profile)]
        if not suitable or want <= 0:
            return []
        most = min(want, session.breadth.lanes)
        picking = _Picking(self, self._backlog, session, suitable, want / most)
        picking.pick_emergencies(most)
        picking.pick(most)
        chosen = self._with_quotas(picking, want)
        picking.restore()
        return chosen

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
        speeds = [self._speed(one, lanes_of[one.hint.key.tenant_id]) for one in picked]
        in_line = [(one.start, speed) for one, speed in zip(picked, speeds, strict=True) if one.most is None]
        span = want / 2 / sum(speeds) if picked else 0.0
        goal = common_time(want / 2, in_line)
        ceilings = {tenant_id: picking.ceiling(tenant_id, lanes) for tenant_id, lanes in lanes_of.items()}
        chosen = []
        for (hint, job_seconds, pledged, most, start), speed in zip(picked, speeds, strict=True):
            jobs = speed * (span + max(0.0, goal - start))
            quota = max(LEAST, math.ceil(jobs)) if most is None else min(want, most)
            if hint.profile.heavy:
                quota = min(quota, 1 + room(hint.profile.placement, free))
                free = less(free, hint.profile.demand, quota - 1)
            ceiling = ceilings[hint.key.tenant_id]
            if quota * job_seconds * lanes_of[hint.key.tenant_id] <= MOMENT:
                ceiling = HIGHEST_RANK
            if hint.doubtful:
                quota, ceiling = 1, HIGHEST_RANK
            chosen.append(Chosen(hint, hint.head, quota, ceiling, job_seconds, pledged, self._policy.version, start))
        return chosen

    def _speed(self, picked: Picked, lanes: int) -> float:
        """The jobs by which one of a tenant's lanes moves it on by a second of virtual time."""
        return self._backlog.shares.weight(picked.hint.key.tenant_id) / (lanes * picked.job_seconds)

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


class _Picking:
    """One choice under way: what was picked, and what was put aside to be put back afterwards."""

    def __init__(
        self, choice: Choice, backlog: Backlog, session: Session, suitable: Sequence[Profile], jobs_a_lane: float
    ) -> None:
        self._choice = choice
        self._backlog = backlog
        self._session = session
        self._line = backlog.line_of(session) if session.tenant_id is None else None
        """None for a tenant's own worker, which costs it nothing."""
        self._suitable = set(suitable)
        self._jobs = jobs_a_lane
        self.picked: list[Picked] = []
        self.free = session.free
        """What the worker has left beside one job of each picked lane that takes more than a slot."""
        self._aside: list[LaneHint] = []
        self._profiles_aside: list[tuple[int, Profile]] = []
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
        for tenant_id in tenants if self._line is None else sorted(tenants, key=self._line.at):
            for profile in urgent:
                left = self._choice.emergencies_left(tenant_id)
                if left and len(self.picked) < most and profile.head(tenant_id) is not None:
                    self._consider(profile, tenant_id, left)

    def pick(self, most: int) -> None:
        own = self._session.tenant_id
        while own is not None and len(self.picked) < most and self._pick_of(own):
            pass
        if self._line is not None:
            self._pick_in_line(self._line, most)

    def _pick_in_line(self, line: Line, most: int) -> None:
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
        found = self._first(tenant_id)
        if found is None or found[0] > self._first_heads.get(tenant_id, found[0]) + SPAN // 2:
            return False
        self._consider(found[1], tenant_id, None)
        return True

    def _first(self, tenant_id: int) -> tuple[int, Profile] | None:
        """The smallest head of the tenant's lanes that were not picked, as far as this worker could run them now."""
        heads = self._backlog.heads_of(tenant_id)
        while (found := heads.first()) is not None and not self._has_room(found[1]):
            heads.set_aside(found[1])
            self._profiles_aside.append((tenant_id, found[1]))
        return found

    def _has_room(self, profile: Profile) -> bool:
        return profile in self._suitable and (not profile.heavy or room(profile.placement, self.free) > 0)

    def ceiling(self, tenant_id: int, lanes: int) -> int:
        """The highest rank that a tenant's lanes may give. A lane alone may give all up to the head of the next."""
        end = min(self._first_heads[tenant_id], HIGHEST_RANK - SPAN) + SPAN
        if lanes > 1:
            return end
        found = self._first(tenant_id)
        return HIGHEST_RANK if found is None else max(end, found[0])

    def _consider(self, profile: Profile, tenant_id: int, emergencies: int | None) -> None:
        hint = profile.pop(tenant_id)
        if not self._choice.is_open(hint):
            self._backlog.close(hint)
        elif not (self._session.may_have_more(hint.lane_id) and self._should_run(hint)):
            self._aside.append(hint)
        else:
            self._first_heads[tenant_id] = min(hint.head, self._first_heads.get(tenant_id, hint.head))
            if profile.heavy:
                self.free = less(self.free, profile.demand, 1)
            start = self._start(tenant_id) if emergencies is None else -math.inf
            self.picked.append(self._claim(hint, emergencies, start))

    def _claim(self, hint: LaneHint, most: int | None, start: float) -> Picked:
        """Takes a lane, and charges its tenant ahead for what it may give."""
        self._backlog.claim(hint)
        seconds = self._backlog.shares.cost(hint.key.tenant_id, hint.key.task) * hint.profile.demand.slots
        pledged = seconds * self._jobs
        self._backlog.charge(self._session, hint.key.tenant_id, pledged)
        return Picked(hint, seconds, pledged, most, start)

    def _start(self, tenant_id: int) -> float:
        """Where the tenant was before it was charged ahead for lanes of this choice."""
        if self._line is None:
            return 0.0
        start = self._starts.get(tenant_id)
        if start is None:
            start = self._starts[tenant_id] = self._line.at(tenant_id)
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
            self._backlog.stand(hint)
        for tenant_id, profile in self._profiles_aside:
            head = profile.head(tenant_id)
            if head is not None:
                self._backlog.heads_of(tenant_id).note(profile, head)
        if self._line is not None:
            self._line_up(self._line)

    def _line_up(self, line: Line) -> None:
        for tenant_id in self._tenants_aside:
            if any(line.serves(profile.number) for profile in self._backlog.heads_of(tenant_id).profiles()):
                line.place(tenant_id)
