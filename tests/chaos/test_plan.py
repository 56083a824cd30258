"""The plan of a seed."""

from hypothesis import given
from hypothesis import strategies as st

from .plan import dealt, make_plan

NAMES = st.dictionaries(st.text("abcdef.", min_size=1, max_size=8), st.floats(0.1, 5), min_size=1, max_size=30)


@given(st.integers(0, 10**6), NAMES, st.integers(1, 60), st.floats(1, 100))
def test_a_seed_gives_the_same_plan_each_time_in_order_and_in_time(seed, weights, number, seconds):
    plan = make_plan(seed, weights, number, seconds)
    assert plan == make_plan(seed, dict(reversed(weights.items())), number, seconds)
    assert len(plan) == number
    assert [strike.at for strike in plan] == sorted(strike.at for strike in plan)
    assert all(0 <= strike.at <= seconds and strike.fault in weights for strike in plan)


@given(st.integers(0, 10**6), NAMES, st.integers(1, 60))
def test_every_fault_has_its_turn_within_as_many_seeds_as_it_takes(first, weights, number):
    needed = -(-len(weights) // dealt(number))
    struck = {strike.fault for seed in range(first, first + needed) for strike in make_plan(seed, weights, number, 10)}
    assert struck == set(weights)


def test_seeds_differ():
    weights = dict.fromkeys("abcdefghij", 1.0)
    plans = {tuple(strike.fault for strike in make_plan(seed, weights, 20, 10)) for seed in range(10)}
    assert len(plans) == 10


def test_no_faults_no_plan():
    assert make_plan(1, {}, 10, 10) == make_plan(1, {"a": 1.0}, 0, 10) == []
