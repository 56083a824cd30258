"""Learned durations: the mean and spread of what ran, and what they do to a deadline."""

import math
import random
from datetime import UTC, datetime, timedelta
from statistics import fmean, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.engine.durations import MEMORY, Durations, Sums
from horae.model.rank import EMERGENCY_HEAD_START, micros, rank


def sums(values: list[float]) -> Sums:
    return Sums(len(values), sum(values), sum(value * value for value in values))


def test_nothing_is_expected_of_a_task_that_never_ran():
    assert Durations().expected(1, "work") is None
    assert Durations().spread(1, "work") is None
    assert Durations().expected_span(1, "work") == timedelta(0)


@given(st.lists(st.floats(0.001, 1000), min_size=1, max_size=50))
def test_a_first_batch_is_learnt_as_it_is(values):
    known = Durations()
    known.learn(1, "work", sums(values))
    assert known.expected(1, "work") == pytest.approx(fmean(values))
    assert known.spread(1, "work") == pytest.approx(pstdev(values), abs=1e-3 * max(values))


def test_one_by_one_or_in_batches_it_comes_to_about_the_same():
    chance = random.Random(3)
    values = [chance.lognormvariate(0, 0.5) for _ in range(3000)]
    single, batched = Durations(), Durations()
    for value in values:
        single.learn(1, "work", sums([value]))
    for start in range(0, len(values), 20):
        batched.learn(1, "work", sums(values[start : start + 20]))
    true = math.exp(0.125)
    for known in (single, batched):
        assert known.expected(1, "work") == pytest.approx(true, rel=0.25)
        assert known.spread(1, "work") == pytest.approx(true * math.sqrt(math.exp(0.25) - 1), rel=0.5)


def test_it_follows_when_a_task_becomes_slower_and_forgets_how_it_was():
    known = Durations()
    for _ in range(1000):
        known.learn(1, "work", sums([1.0]))
    for _ in range(MEMORY * 5):
        known.learn(1, "work", sums([10.0]))
    assert known.expected(1, "work") == pytest.approx(10, rel=0.05)


def test_tenants_and_tasks_are_learnt_apart():
    known = Durations()
    known.learn_all([(1, "work", sums([1.0])), (2, "work", sums([5.0])), (1, "other", sums([9.0]))])
    assert [known.expected(1, "work"), known.expected(2, "work"), known.expected(1, "other")] == [1, 5, 9]


def test_a_deadline_pulls_a_job_forward_by_what_it_is_expected_to_run():
    now = datetime(2026, 11, 16, tzinfo=UTC)
    deadline, hour = now + timedelta(hours=3), timedelta(hours=1)
    later = now + timedelta(days=1)
    assert rank(later, now, 5, deadline, hour) == micros(deadline - hour)
    assert rank(later, now, 5, deadline, hour * 100) == micros(now - EMERGENCY_HEAD_START)
    assert rank(later, now, 5, None, hour) == rank(later, now, 5)
