"""Choice: which lanes a worker gets jobs from, and in which order."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horae.engine import reservations
from horae.engine.backlog import HIGHEST_RANK
from horae.engine.breadth import LEAST_LANES
from horae.engine.choice import GRACE_SECONDS, MOMENT, SPAN
from horae.engine.sessions import Session
from horae.model.gates import Action, Gate
from horae.model.matching import Free, Offer
from horae.model.placement import Placement, Requirements, Traits, canonical
from horae.model.rank import HEAD_START_MICROS
from horae.store.control import LaneKey

from .counter import TASK, Counter, claimed, worker

HEAVY = canonical(Placement(requires=Requirements(slots=4)))
NEAR = canonical(Placement(prefers=Traits(region="near")))
STICKY = canonical(Placement(sticky=3))
STEP = HEAD_START_MICROS[6] - HEAD_START_MICROS[5]


def located(number: int, region: str) -> Session:
    session = Session(Offer(worker_id=number, slots=10, region=region), None, frozenset({TASK}), None, "active")
    session.renew(3600)
    return session


def lanes_of(got: list[tuple[int, int]]) -> list[int]:
    return [lane_id for lane_id, _ in got]


ranks = st.lists(st.integers(0, 8 * SPAN), min_size=1, max_size=30)


@settings(deadline=None)
@given(st.lists(ranks, min_size=1, max_size=6), st.lists(st.integers(1, 20), min_size=1, max_size=10))
def test_a_tenants_jobs_come_in_the_order_of_rank_whatever_lanes_they_are_in(lanes: list[list[int]], wants: list[int]):
    """Give or take the span of a claim, and but for the one job by which a lane's lost head is found again."""
    counter, session = Counter(), worker()
    for number, jobs in enumerate(lanes):
        counter.submit(number, LaneKey(1, f"queue-{number % 2}", TASK, f"key-{number}" if number > 1 else ""), *jobs)
    while any(counter.waiting.values()):
        for want in wants:
            for job in counter.take(session, want):
                left = min((jobs[0] for jobs in counter.waiting.values() if jobs), default=job[1])
                assert job[1] <= left + SPAN or job in counter.doubted


def test_priorities_do_not_mix_whichever_lanes_they_are_in():
    """A step of priority is a minute of rank: jobs of one lane that are due later do not go before it."""
    counter, session = Counter(), worker()
    low, high = LaneKey(1, "low", TASK), LaneKey(1, "high", TASK)
    counter.submit(1, low, *(due + STEP for due in range(100)))
    counter.submit(2, high, *range(1, 100))
    assert lanes_of(counter.take(session, 99)) == [2] * 99


@settings(deadline=None)
@given(st.lists(ranks, min_size=1, max_size=6), st.lists(st.integers(1, 200), min_size=1), st.floats(1e-5, 2 * MOMENT))
def test_out_of_the_order_of_rank_a_claim_takes_no_more_than_a_moment(
    lanes: list[list[int]], wants: list[int], seconds: float
):
    counter, session = Counter(), worker()
    counter.seconds[1] = seconds
    for number, jobs in enumerate(lanes):
        counter.submit(number, LaneKey(1, f"queue-{number}", TASK), *jobs)
    for want in wants:
        first = min((jobs[0] for jobs in counter.waiting.values() if jobs), default=0)
        got = counter.rows(chosen := counter.choice.choose(session, want), want)
        counter.learning.learn(session, chosen, claimed(got), want)
        left = min((jobs[0] for jobs in counter.waiting.values() if jobs), default=HIGHEST_RANK)
        early = [job for job in got if job[1] > max(first + SPAN, left) and job not in counter.doubted]
        assert len(early) * seconds <= MOMENT


def test_lanes_whose_jobs_are_over_in_a_moment_give_many_at_once():
    """However far apart these rank: who comes after them waits for a moment, and few lanes fill the claim."""
    counter, session = Counter(), worker()
    for number in range(1000):
        counter.seconds[number % 100] = 0.000_05
        counter.submit(
            number, LaneKey(number % 100, f"queue-{number // 100}", TASK), *(place * SPAN for place in range(100))
        )
    got = counter.take(session, 1000)
    assert len(got) >= 1000
    assert len(set(lanes_of(got))) <= LEAST_LANES


def test_a_lane_gives_a_claim_what_is_close_in_rank_at_once():
    """Many lanes with many jobs each are served few at a time, not a job of each."""
    counter, session = Counter(), worker()
    for number in range(1000):
        ranks = [second * 1_000_000 + number for second in range(100)]
        counter.submit(number, LaneKey(number % 100, f"queue-{number // 100}", TASK), *ranks)
    got = counter.take(session, 500)
    assert len(got) >= 400
    assert len(set(lanes_of(got))) <= LEAST_LANES


@given(st.integers(1, 300), st.integers(1, 100))
@settings(deadline=None)
def test_a_claim_takes_no_more_than_it_wants_and_no_less_than_there_is(lanes: int, want: int):
    counter, session = Counter(), worker()
    for number in range(lanes):
        counter.submit(number, LaneKey(number % 7, "default", TASK, f"key-{number}"), number)
    assert len(counter.take(session, want)) == min(want, lanes)


def test_a_closed_lane_gives_nothing_until_the_policy_changes():
    counter, session = Counter(), worker()
    counter.policy.gates = (Gate(id=1, action=Action.HOLD, queue="shut"),)
    counter.submit(1, LaneKey(1, "shut", TASK), 1)
    counter.submit(2, LaneKey(1, "open", TASK), 2)
    assert lanes_of(counter.take(session, 10)) == [2]
    counter.policy.gates = ()
    counter.policy._known.clear()
    counter.backlog.reconsider()
    assert lanes_of(counter.take(session, 10)) == [1]


def test_a_worker_of_a_tenant_takes_its_tenants_jobs_only_and_costs_it_nothing():
    counter, own = Counter(), worker(tenant_id=2)
    counter.submit(1, LaneKey(1, "default", TASK), 1)
    assert not counter.choice.possible(own)
    counter.submit(2, LaneKey(2, "default", TASK), 2)
    assert lanes_of(counter.take(own, 10)) == [2]
    everybodys = worker()
    assert lanes_of(counter.take(everybodys, 10)) == [1]
    assert counter.backlog.line_of(everybodys).at(2) == 0


@pytest.mark.parametrize("placement", [NEAR, STICKY])
def test_a_lane_with_a_preference_goes_to_the_worker_it_prefers_and_after_a_while_to_anybody(placement: str):
    counter = Counter()
    counter.sessions = [located(1, "near"), located(2, "far")]
    counter.submit(1, LaneKey(1, "default", TASK, requires=placement), 1, 2, 3)
    profile = counter.backlog.known(1).profile  # type: ignore[union-attr]
    best, other = sorted(counter.sessions, key=lambda one: not one.is_best(profile, counter.sessions))
    assert counter.take(other, 1) == []
    assert counter.choice.waiting_for_better
    assert lanes_of(counter.take(best, 1)) == [1]
    assert counter.take(other, 1) == []
    counter.backlog.known(1).since -= GRACE_SECONDS  # type: ignore[union-attr]
    assert lanes_of(counter.take(other, 1)) == [1]


def test_a_lane_whose_best_worker_drains_goes_to_the_others():
    counter = Counter()
    counter.sessions = [located(1, "near"), located(2, "far")]
    counter.submit(1, LaneKey(1, "default", TASK, requires=NEAR), 1)
    counter.sessions[0].steer("draining")
    assert lanes_of(counter.take(counter.sessions[1], 1)) == [1]


def test_large_jobs_get_no_more_than_fits_over_all_their_lanes():
    counter, session = Counter(), worker()
    session.free = Free(slots=9)
    for number in (1, 2):
        counter.submit(number, LaneKey(number, "default", TASK, requires=HEAVY), *range(5))
    assert len(counter.take(session, 20)) == 2


def test_a_worker_is_kept_for_a_large_job_that_waits_too_long(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reservations, "PATIENCE_SECONDS", -1.0)
    counter, session = Counter(), worker()
    counter.sessions, session.free = [session], Free(slots=2)
    counter.submit(1, LaneKey(1, "default", TASK, requires=HEAVY), 1)
    counter.submit(2, LaneKey(1, "default", TASK), *range(100))
    assert lanes_of(counter.take(session, 2)) == [2, 2]
    counter.reservations.look()
    assert counter.take(session, 2) == []
    session.free = Free(slots=4)
    assert lanes_of(counter.take(session, 1)) == [1]
    assert lanes_of(counter.take(session, 1)) == [2]


def test_a_worker_is_kept_no_longer_than_need_be(monkeypatch: pytest.MonkeyPatch):
    """Not for ever, not when it drains, and not when nothing waits any more; and another is kept in its place."""
    monkeypatch.setattr(reservations, "PATIENCE_SECONDS", -1.0)
    counter, one, other = Counter(), worker(1), worker(2)
    counter.sessions = [one]
    counter.submit(1, LaneKey(1, "default", TASK, requires=HEAVY), 1)
    counter.reservations.look()
    assert one.reserved_for is not None
    one.steer("draining")
    counter.sessions = [one, other]
    counter.reservations.look()
    assert (one.reserved_for, other.reserved_for is not None) == (None, True)
    one.steer("active")
    monkeypatch.setattr(reservations, "LONGEST_SECONDS", -1.0)
    monkeypatch.setattr(reservations, "PATIENCE_SECONDS", 1000.0)
    counter.reservations.look()
    assert (one.reserved_for, other.reserved_for) == (None, None)
    monkeypatch.undo()
    monkeypatch.setattr(reservations, "PATIENCE_SECONDS", -1.0)
    counter.reservations.look()
    assert [one.reserved_for, other.reserved_for].count(None) == 1
    counter.choice.choose(other if one.reserved_for is None else one, 1)
    counter.reservations.look()
    assert (one.reserved_for, other.reserved_for) == (None, None)
