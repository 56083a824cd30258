"""Rank: who runs first, by properties."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from horae.model.rank import EMERGENCY, HEAD_START_MICROS, LOWEST, NORMAL, micros, rank

instants = st.integers(0, 6 * 10**15).map(lambda n: datetime(1980, 1, 1, tzinfo=UTC) + timedelta(microseconds=n))
priorities = st.integers(LOWEST, EMERGENCY)


def head_start(priority: int) -> timedelta:
    return timedelta(microseconds=HEAD_START_MICROS[priority])


def test_head_starts_grow_with_the_priority():
    starts = [HEAD_START_MICROS[p] for p in range(LOWEST, EMERGENCY + 1)]
    assert starts == sorted(set(starts))
    assert HEAD_START_MICROS[NORMAL] == 0
    assert head_start(EMERGENCY) == timedelta(hours=1)


@given(instants, instants, priorities, priorities)
def test_a_job_is_overtaken_only_by_jobs_due_within_their_head_start(first, second, p, q):
    """However much is submitted later, none of it that is due after the difference of head starts goes before."""
    now = min(first, second)
    if rank(second, now, q) < rank(first, now, p):
        assert second - first < head_start(q) - head_start(p)


@given(instants, priorities)
def test_of_two_jobs_of_one_priority_the_earlier_goes_first(due, p):
    later = due + timedelta(microseconds=1)
    assert rank(due, due, p) < rank(later, due, p)


@given(instants, priorities, instants)
def test_a_deadline_never_puts_a_job_back(due, p, deadline):
    assert rank(due, due, p, deadline) <= rank(due, due, p)


@given(instants, priorities, st.timedeltas(timedelta(0), timedelta(days=20_000)), instants)
def test_nobody_gets_ahead_by_backdating(now, p, back, deadline):
    past = now - min(back, now - datetime(1971, 1, 1, tzinfo=UTC))
    assert rank(past, now, p) == rank(now, now, p)
    assert rank(past, now, p, deadline) >= rank(now, now, EMERGENCY)


@given(instants)
def test_micros_are_exact(instant):
    assert datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros(instant)) == instant
