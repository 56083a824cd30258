"""The backlog: whatever happens to lanes, none that has work is forgotten."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, precondition, rule

from horae.engine import backlog as module
from horae.engine.backlog import Backlog, LaneState
from horae.engine.choice import Chosen
from horae.engine.shares import Shares
from horae.model.gates import Action, Gate
from horae.store.control import LaneKey

from .counter import TASK, Counter, worker

KEYS = {
    number: LaneKey(1 + number % 3, f"queue-{number % 2}", TASK, f"key-{number}", urgent=number % 5 == 0)
    for number in range(12)
}
GATE = Gate(id=1, action=Action.HOLD, queue="queue-1")
lanes = st.sampled_from(sorted(KEYS))
groups = st.integers(1, 3)


class Lanes(RuleBasedStateMachine):
    """`has_work` is the truth; the backlog is told of it as servers are: now and then, and late."""

    claims = Bundle("claims")

    def __init__(self) -> None:
        super().__init__()
        self.counter = Counter()
        self.has_work: set[int] = set()
        self.claimed: set[int] = set()

    @property
    def backlog(self) -> Backlog:
        return self.counter.backlog

    @rule(lane=lanes, rank=st.integers(0, 50))
    def note(self, lane: int, rank: int) -> None:
        assert self.backlog.note(lane, KEYS[lane], rank)
        self.has_work.add(lane)

    @rule(target=claims, want=st.integers(1, 8), tenant=st.none() | st.integers(1, 3))
    def choose(self, want: int, tenant: int | None):
        chosen = self.counter.choice.choose(worker(tenant_id=tenant), want)
        assert not self.claimed & {lane.hint.lane_id for lane in chosen}
        self.claimed |= {lane.hint.lane_id for lane in chosen}
        return multiple(*chosen)

    @rule(lane=consumes(claims), rank=st.integers(0, 50))
    def leaves_some(self, lane: Chosen, rank: int) -> None:
        self._ended(lane)
        lane.hint.head = rank
        self.backlog.fill(lane.hint)

    @rule(lane=consumes(claims))
    def leaves_nothing(self, lane: Chosen) -> None:
        heard = lane.hint.heard
        self._ended(lane)
        if heard is None:
            self.backlog.quiet(lane.hint)
            self.has_work.discard(lane.hint.lane_id)
        else:
            lane.hint.head = heard
            self.backlog.fill(lane.hint)

    @rule(lane=consumes(claims), group=groups)
    def is_cut(self, lane: Chosen, group: int) -> None:
        self._ended(lane)
        self.backlog.block(lane.hint, group)

    def _ended(self, lane: Chosen) -> None:
        self.claimed.discard(lane.hint.lane_id)
        lane.hint.heard = None

    @rule(group=groups, count=st.integers(1, 3))
    def free(self, group: int, count: int) -> None:
        assert 0 <= self.backlog.free(group, count) <= count

    @rule(gates=st.sampled_from([(), (GATE,)]))
    def change_policy(self, gates: tuple[Gate, ...]) -> None:
        self.counter.policy.gates = gates
        self.counter.policy._known.clear()
        self.backlog.reconsider()

    @rule(tenant=st.integers(1, 3), seconds=st.floats(-5, 5))
    def charge(self, tenant: int, seconds: float) -> None:
        self.backlog.charge(worker(), tenant, seconds)

    @precondition(lambda self: not self.claimed)
    @rule()
    def everything_that_is_full_can_be_chosen(self) -> None:
        """And once the policy lets it and every group has room, all that has work."""
        self.change_policy(())
        found: list[Chosen] = []
        while chosen := self.counter.choice.choose(worker(), 3):
            found += chosen
        assert {lane.hint.lane_id for lane in found} == self.has_work
        for lane in found:
            self.backlog.fill(lane.hint)

    @invariant()
    def no_lane_with_work_is_forgotten(self) -> None:
        blocked = {hint.lane_id for hint in self.backlog._all_blocked()}
        for lane in self.has_work:
            hint = self.backlog.known(lane)
            assert hint is not None
            state = hint.state
            assert state is not LaneState.QUIET
            assert (state is LaneState.CLAIMED) == (lane in self.claimed)
            assert (state is LaneState.BLOCKED) == (lane in blocked)
            assert (state is LaneState.CLOSED) == (lane in self.backlog._closed)
            assert state is not LaneState.BLOCKED or self.backlog.is_blocking(hint.blocked_on or 0)

    @invariant()
    def the_counts_are_right(self) -> None:
        full = [lane for lane in KEYS if (hint := self.backlog.known(lane)) and hint.state is LaneState.FULL]
        assert self.backlog.depth()["lanes_with_work"] == len(full)
        assert {self.backlog.known(lane).profile for lane in full} == set(self.backlog.active())  # type: ignore[union-attr]
        assert self.backlog._claims == len(self.claimed)


Lanes.TestCase.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
TestLanes = Lanes.TestCase


def a_backlog() -> Backlog:
    return Backlog(Shares(lambda _: 1.0, lambda *_: None))


def test_room_that_came_while_a_claim_was_under_way_is_not_lost():
    """The claim counts the slots; a job ends and its slot is free; the claim comes back with "no room"."""
    backlog = a_backlog()
    for lane in (1, 2):
        backlog.note(lane, KEYS[lane], 1)
    early, late = backlog.known(1), backlog.known(2)
    assert early is not None
    assert late is not None
    backlog.claim(early)
    assert backlog.free(77, 1) == 0
    backlog.claim(late)
    backlog.block(early, 77)
    backlog.block(late, 77)
    assert (early.state, late.state) == (LaneState.FULL, LaneState.BLOCKED)


def test_a_lane_that_was_forgotten_and_met_again_is_as_good_as_new(monkeypatch):
    monkeypatch.setattr(module, "MAX_QUIET", 1)
    counter = Counter()
    for lane, ranks in ((1, [5]), (7, [5, 90])):
        counter.submit(lane, LaneKey(1, "default", TASK, f"key-{lane}"), *ranks)
    for _ in range(3):
        assert len(counter.take(worker(), 1)) == 1
        counter.submit(1, LaneKey(1, "default", TASK, "key-1"), 5)
    counter.take(worker(), 10)
    assert not any(counter.waiting.values())


def test_the_order_of_tenants_does_not_grow_with_the_charges():
    counter, session = Counter(), worker()
    counter.submit(1, KEYS[1], *range(5000))
    counter.submit(2, KEYS[2], *range(5000))
    for _ in range(2000):
        counter.take(session, 2)
        counter.backlog.charge(session, KEYS[1].tenant_id, -0.01)
    assert len(counter.backlog.line_of(session)._order) < 200
