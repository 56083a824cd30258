"""Shares: what tenants get follows their weights, and nobody gains by having been away."""

from itertools import cycle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horae.engine.choice import common_time
from horae.engine.shares import EMERGENCIES_ALWAYS, EMERGENCY_WINDOW, Emergencies
from horae.store.control import LaneKey

from .counter import TASK, Counter, worker


def flood(counter: Counter, tenant: int, jobs: int = 3000, queue: str = "default") -> None:
    lane_id = 1000 * tenant + sum(queue.encode()) % 1000
    counter.submit(lane_id, LaneKey(tenant, queue, TASK), *range(jobs))


def used_by(
    counter: Counter, took: dict[int, float], turns: int, wants: tuple[int, ...] = (1, 3, 8)
) -> dict[int, float]:
    """Several workers that ask in turn, each for another number of jobs."""
    total = dict.fromkeys(took, 0.0)
    workers = [worker(number) for number in range(3)]
    for session, want, _ in zip(cycle(workers), cycle(wants), range(turns), strict=False):
        for tenant, seconds in counter.run(session, want, took).items():
            total[tenant] += seconds
    return total


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([0.5, 1, 2, 4]), st.sampled_from([0.002, 0.05, 0.3])), min_size=2, max_size=4)
)
def test_worker_seconds_follow_the_weights_however_long_jobs_take(tenants: list[tuple[float, float]]):
    counter = Counter()
    took = {number: seconds for number, (_, seconds) in enumerate(tenants, 1)}
    counter.weights = {number: weight for number, (weight, _) in enumerate(tenants, 1)}
    counter.seconds = dict(took)
    for number in took:
        flood(counter, number)
    used = used_by(counter, took, 300)
    whole, weights = sum(used.values()), sum(counter.weights.values())
    for number, weight in counter.weights.items():
        # A job is not divisible: who has long ones may be one ahead or behind at the end.
        assert used[number] == pytest.approx(whole * weight / weights, rel=0.05, abs=8 * max(took.values()))


def test_what_jobs_really_took_counts_not_what_was_expected():
    counter = Counter()
    flood(counter, 1)
    flood(counter, 2)
    counter.seconds = {1: 0.05, 2: 0.05}
    used = used_by(counter, {1: 0.5, 2: 0.05}, 600, wants=(1,))
    assert used[1] == pytest.approx(used[2], rel=0.05, abs=0.5)


def test_who_was_idle_starts_at_the_present_and_does_not_save_up():
    counter, session, took = Counter(), worker(), {1: 1.0, 2: 1.0}
    counter.seconds = dict(took)
    flood(counter, 1)
    for _ in range(200):
        counter.run(session, 1, took)
    flood(counter, 2)
    used = used_by(counter, took, 40, wants=(1,))
    assert used[2] == pytest.approx(20, abs=1)


def test_a_new_tenant_in_a_queue_of_its_own_starts_at_the_present_too():
    """Its queue was never served, but the worker was: that is what the present is taken from."""
    counter, session, took = Counter(), worker(), {1: 1.0, 2: 1.0}
    counter.seconds = dict(took)
    flood(counter, 1)
    for _ in range(200):
        counter.run(session, 1, took)
    flood(counter, 2, queue="its-own")
    used = used_by(counter, took, 40, wants=(1,))
    assert used[2] == pytest.approx(20, abs=1)


def test_coming_into_a_busy_queue_does_not_set_a_tenant_back_in_another():
    """Each queue has workers of its own. In the fast one the present is far ahead of that of the slow one."""
    counter = Counter()
    counter.seconds = dict.fromkeys((1, 2, 3), 1.0)
    fast, slow = worker(1, queues=frozenset({"fast"})), worker(2, queues=frozenset({"slow"}))
    flood(counter, 1, queue="fast")
    for _ in range(500):
        counter.run(fast, 1, counter.seconds)
    counter.submit(7, LaneKey(2, "fast", TASK), 1)
    counter.run(fast, 2, counter.seconds)
    flood(counter, 2, queue="slow")
    flood(counter, 3, queue="slow")
    got = [next(iter(counter.run(slow, 1, counter.seconds))) for _ in range(20)]
    assert got.count(2) == pytest.approx(10, abs=1)


def test_a_tenant_in_the_red_does_not_get_out_of_it_by_another_queue():
    counter, session, took = Counter(), worker(), {1: 1.0, 2: 1.0}
    counter.seconds = dict(took)
    flood(counter, 1)
    flood(counter, 2)
    counter.run(session, 2, took)
    counter.backlog.charge(session, 1, 10.0)
    flood(counter, 1, queue="another")
    got = [next(iter(counter.run(session, 1, took))) for _ in range(10)]
    assert got == [2] * 10


def test_what_was_charged_before_durations_were_known_is_put_right_in_full():
    """They are charged by a guess, learnt of while they run, and end."""
    counter, session, took = Counter(), worker(), {1: 0.005, 2: 0.5}
    flood(counter, 1)
    flood(counter, 2)
    running = counter.take(session, 20)
    counter.seconds = dict(took)
    for lane_id, _ in running:
        counter.end(session, lane_id, took[counter.keys[lane_id].tenant_id])
    for tenant, seconds in took.items():
        jobs = sum(counter.keys[lane_id].tenant_id == tenant for lane_id, _ in running)
        assert counter.backlog.line_of(session).at(tenant) == pytest.approx(jobs * seconds)


def test_a_tenant_that_is_behind_catches_up_by_large_claims():
    """All tenants are in every claim here: it is how much they may give that must make up for it."""
    counter, session, took = Counter(), worker(), {1: 1.0, 2: 1.0}
    counter.seconds = dict(took)
    flood(counter, 1)
    flood(counter, 2)
    counter.run(session, 2, took)
    counter.backlog.charge(session, 1, 30.0)
    used = counter.run(session, 100, took)
    assert used[2] - used[1] == pytest.approx(30, abs=4)


def test_nobody_stands_still_while_another_catches_up():
    counter, session, took = Counter(), worker(), {1: 1.0, 2: 1.0}
    counter.seconds = dict(took)
    flood(counter, 1)
    flood(counter, 2)
    counter.run(session, 2, took)
    counter.backlog.charge(session, 1, 10_000.0)
    used = counter.run(session, 100, took)
    assert used[1] == pytest.approx(25, abs=3)


@given(st.integers(1, 1000), st.lists(st.tuples(st.floats(0, 1e6), st.floats(0.1, 1e4)), min_size=1, max_size=64))
def test_all_who_get_something_come_to_the_same_time(want: int, lanes: list[tuple[float, float]]):
    goal = common_time(want, lanes)
    assert sum(speed * max(0.0, goal - start) for start, speed in lanes) == pytest.approx(want, rel=1e-3, abs=0.01)


def test_a_refund_puts_a_tenant_forward_at_once():
    counter, session = Counter(), worker()
    flood(counter, 1)
    flood(counter, 2)
    counter.take(session, 2)
    counter.backlog.charge(session, 1, 5.0)
    counter.backlog.charge(session, 1, -6.0)
    assert [counter.take(session, 1)[0][0] // 1000 for _ in range(3)] == [1, 1, 1]


# Emergencies.


def test_emergencies_are_a_few_a_minute_or_one_in_twenty():
    now = 0.0
    emergencies = Emergencies(lambda: now)
    assert emergencies.left(1) == EMERGENCIES_ALWAYS
    emergencies.started(1, EMERGENCIES_ALWAYS, urgent=True)
    assert emergencies.left(1) == 0
    assert emergencies.left(2) == EMERGENCIES_ALWAYS
    emergencies.started(1, 980, urgent=False)
    assert emergencies.left(1) == 1000 // 20 - EMERGENCIES_ALWAYS
    now = EMERGENCY_WINDOW + 1
    assert emergencies.left(1) == EMERGENCIES_ALWAYS


def test_emergencies_go_before_everybodys_share_but_only_as_many_as_are_allowed():
    counter, session = Counter(), worker()
    flood(counter, 1)
    flood(counter, 2)
    counter.backlog.charge(session, 1, 100.0)
    counter.submit(1, LaneKey(1, "default", TASK, urgent=True), *range(100))
    got = [lane_id for lane_id, _ in counter.take(session, 60)]
    assert got[:EMERGENCIES_ALWAYS] == [1] * EMERGENCIES_ALWAYS
    assert got.count(1) == EMERGENCIES_ALWAYS
    assert len(got) == 60


def test_the_time_of_a_tenant_with_an_emergency_is_not_the_present():
    """Tenant 1 is far in the red; its emergency is served all the same. A newcomer must not start where it stands."""
    counter, session = Counter(), worker()
    counter.seconds = dict.fromkeys((1, 2, 3), 1.0)
    flood(counter, 1)
    flood(counter, 2)
    counter.take(session, 2)
    counter.backlog.charge(session, 1, 1000.0)
    counter.submit(1, LaneKey(1, "default", TASK, urgent=True), 1)
    counter.take(session, 2)
    flood(counter, 3)
    got = [next(iter(counter.run(session, 1, counter.seconds))) for _ in range(10)]
    assert got.count(3) == pytest.approx(5, abs=1)
