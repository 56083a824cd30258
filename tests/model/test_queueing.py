"""Queueing: more before a job never lets it start earlier, more slots never later."""

import math

from hypothesis import given
from hypothesis import strategies as st

from horae.model.queueing import Line, remaining, starts_in

SECONDS = st.floats(0.01, 100)
LINES = st.builds(Line, st.integers(0, 200), SECONDS, st.floats(0.1, 10))
SLOTS = st.lists(st.floats(0, 100), min_size=1, max_size=8)


def test_a_job_starts_when_the_slots_before_it_are_through():
    assert starts_in([0.0, 0.0], Line(4, 10.0), []) == 20.0
    assert starts_in([5.0], Line(0, 0.0), []) == 5.0
    assert starts_in([], Line(0, 0.0), []) == math.inf


def test_tenants_take_turns_by_weight():
    alone = starts_in([0.0], Line(10, 1.0), [])
    shared = starts_in([0.0], Line(10, 1.0), [Line(1000, 1.0)])
    favoured = starts_in([0.0], Line(10, 1.0, weight=2.0), [Line(1000, 1.0)])
    assert alone == 10
    assert 19 <= shared <= 21
    assert 14 <= favoured <= 16


@given(SLOTS, LINES, st.lists(LINES, max_size=3))
def test_no_job_starts_before_a_slot_is_free(slots, own, others):
    assert starts_in(slots, own, others) >= min(slots)


@given(st.integers(1, 8), LINES)
def test_more_slots_never_let_it_start_later(slots, own):
    assert starts_in([0.0] * (slots + 1), own, []) <= starts_in([0.0] * slots, own, [])


@given(SLOTS, LINES, st.integers(1, 50))
def test_more_jobs_before_it_never_let_it_start_earlier(slots, own, more):
    assert starts_in(slots, own._replace(jobs=own.jobs + more), []) >= starts_in(slots, own, [])


@given(st.integers(1, 64), st.integers(5_000, 50_000))
def test_very_many_jobs_take_about_as_long_as_their_sum(slots, jobs):
    told, exact = starts_in([0.0] * slots, Line(jobs, 1.0), []), jobs / slots
    assert 0.8 * exact <= told <= 1.25 * exact


@given(st.floats(0, 1000), st.none() | SECONDS, st.none() | SECONDS)
def test_what_remains_is_never_negative(elapsed, expected, spread):
    assert remaining(elapsed, expected, spread) >= 0
