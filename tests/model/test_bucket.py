"""The token bucket, by its properties; and what a loaded system refuses first."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from horae.model.bucket import Bucket
from horae.model.overload import REFUSED_FROM, STRAINED, refuses
from horae.model.quota import window

RATES = st.floats(0.01, 1000)
BURSTS = st.integers(1, 1000)
STEPS = st.lists(st.tuples(st.floats(0, 10), st.integers(1, 50)), max_size=60)


@given(RATES, BURSTS, STEPS)
def test_in_no_time_more_is_taken_than_the_burst_and_the_rate_allow(rate, burst, steps):
    now, bucket = 0.0, Bucket(rate, burst, 0.0)
    taken: list[tuple[float, int]] = []
    for pause, count in steps:
        now += pause
        if bucket.take(count, now):
            taken.append((now, count))
    for i, (start, _) in enumerate(taken):
        for j in range(i, len(taken)):
            allowed = burst + rate * (taken[j][0] - start)
            assert sum(count for _, count in taken[i : j + 1]) <= allowed + 1e-6 * (1 + allowed)


@given(RATES, BURSTS, STEPS, st.integers(1, 1000))
def test_who_waits_as_long_as_told_gets_what_was_asked_and_not_sooner(rate, burst, steps, count):
    now, bucket = 0.0, Bucket(rate, burst, 0.0)
    for pause, some in steps:
        now += pause
        bucket.take(some, now)
    wanted = min(count, burst)
    wait = bucket.seconds_until(wanted, now)
    if wait > 1e-3:
        assert not bucket.take(wanted, now + wait * 0.9)
    assert bucket.take(wanted, now + wait + 1e-6 * (1 + wait + 1 / rate))


@given(RATES, BURSTS)
def test_what_is_refused_costs_nothing(rate, burst):
    bucket = Bucket(rate, burst, 0.0)
    assert not bucket.take(burst + 1, 0.0)
    assert bucket.remaining(0.0) == burst
    assert bucket.take(burst, 0.0)
    assert bucket.remaining(0.0) == 0


@given(RATES, BURSTS, BURSTS)
def test_a_smaller_bucket_keeps_no_more_than_it_holds(rate, burst, smaller):
    bucket = Bucket(rate, burst, 0.0)
    bucket.resize(rate, smaller, 0.0)
    assert bucket.remaining(0.0) == min(burst, smaller)


def test_a_clock_that_goes_back_gives_nothing():
    bucket = Bucket(10, 5, 100.0)
    assert bucket.take(5, 100.0)
    assert not bucket.take(1, 50.0)
    assert bucket.take(1, 100.2)


@given(st.floats(0.0001, 10_000))
def test_a_rate_is_told_in_whole_numbers_that_are_close_to_it(rate):
    jobs, seconds = window(rate)
    assert jobs >= 1
    assert abs(jobs / seconds - rate) <= 0.5 * min(rate, 1)


def test_the_lowest_priorities_are_refused_first_and_the_highest_only_at_the_end():
    assert all(not refuses(STRAINED - 0.001, priority) for priority in REFUSED_FROM)
    assert [p for p in REFUSED_FROM if refuses(0.8, p)] == [1, 2]
    assert [p for p in REFUSED_FROM if refuses(0.96, p)] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert all(refuses(1.0, priority) for priority in REFUSED_FROM)
    assert all(a <= b for a, b in pairwise(REFUSED_FROM.values()))
