"""What becomes of a job whose attempt did not succeed, by properties."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.model.retry import MAX_CRASHES, RetryPolicy
from horae.model.states import COUNTS_AS_CRASH, USES_AN_ATTEMPT, End, State
from horae.model.verdict import DISPERSAL, History, judge

chances = st.floats(0, 1, exclude_max=True)
policies = st.builds(
    RetryPolicy,
    first=st.floats(0, 86_400),
    factor=st.floats(1, 100),
    cap=st.floats(0, 30 * 86_400),
    jitter=st.booleans(),
)
unsuccessful = st.sampled_from([end for end in End if end is not End.SUCCEEDED])
histories = st.builds(
    History,
    failures=st.integers(0, 20),
    crashes=st.integers(0, 5),
    max_attempts=st.integers(1, 20),
    retry=policies,
    cancel_requested=st.booleans(),
)


@given(unsuccessful, histories, chances, st.none() | st.floats(-10, 1e6))
def test_a_verdict_is_one_of_four_and_pauses_only_when_scheduled(end, history, chance, after):
    verdict = judge(end, history, chance, after)
    assert verdict.state in {State.FAILED, State.CANCELLED, State.SCHEDULED, State.READY}
    assert (verdict.pause > timedelta(0)) is (verdict.state is State.SCHEDULED)


@given(st.lists(st.tuples(unsuccessful, chances), max_size=100), st.integers(1, 10), policies)
def test_no_job_fails_more_often_than_it_may_nor_crashes_more_than_thrice(story, max_attempts, retry):
    """Plays a job through a random story to its end, counting as the store does."""
    failures = crashes = 0
    for end, chance in story:
        verdict = judge(end, History(failures, crashes, max_attempts, retry), chance)
        failures += end in USES_AN_ATTEMPT
        crashes += end in COUNTS_AS_CRASH
        if verdict.state.ended:
            break
        assert failures < max_attempts
        assert crashes < MAX_CRASHES
    assert failures <= max_attempts
    assert crashes <= MAX_CRASHES


@given(histories, chances)
def test_a_fatal_end_is_the_end(history, chance):
    assert judge(End.FATAL, history, chance).state is State.FAILED


@given(unsuccessful, histories, chances)
def test_a_job_asked_to_stop_is_never_tried_again(end, history, chance):
    asked = History(history.failures, history.crashes, history.max_attempts, history.retry, cancel_requested=True)
    assert judge(end, asked, chance).state.ended
    assert judge(End.CANCELLED, history, chance).state is State.CANCELLED


@given(histories, chances)
def test_what_was_never_delivered_costs_nothing(history, chance):
    free = History(history.failures, history.crashes, history.max_attempts, history.retry)
    assert judge(End.UNDELIVERED, free, chance).state is State.READY
    assert judge(End.MOVED, free, chance).state is State.READY


@given(st.sampled_from(sorted(COUNTS_AS_CRASH)), st.integers(0, 50), st.integers(1, 3), chances)
def test_crashes_use_no_attempts(end, failures, max_attempts, chance):
    verdict = judge(end, History(failures=failures, max_attempts=max_attempts), chance)
    assert verdict.state is State.READY


@given(chances)
def test_the_second_crash_disperses_and_the_third_ends(chance):
    second = judge(End.LOST, History(crashes=1), chance)
    assert second.pause <= DISPERSAL
    assert second.state in {State.READY, State.SCHEDULED}
    assert judge(End.LOST, History(crashes=2), chance).state is State.FAILED


@given(policies, st.integers(0, 10_000), chances)
def test_a_wait_is_within_its_ceiling_and_its_cap(policy, failures, chance):
    wait = policy.wait(failures, chance).total_seconds()
    ceiling = min(policy.cap, policy.first * policy.factor ** min(max(failures, 1) - 1, 64))
    assert 0 <= wait <= ceiling + 1e-6
    if not policy.jitter:
        assert wait == pytest.approx(ceiling, abs=1e-6)


def test_full_jitter_uses_the_whole_range():
    policy = RetryPolicy(first=10, factor=2, cap=100)
    assert [policy.wait(3, chance).total_seconds() for chance in (0.0, 0.5, 0.999)] == pytest.approx([0, 20, 39.96])


@pytest.mark.parametrize(
    "bad", [{"first": -1}, {"first": 90_000}, {"factor": 0.5}, {"factor": 101}, {"cap": -1}, {"cap": 1e9}]
)
def test_a_policy_out_of_range_is_refused(bad):
    with pytest.raises(ValueError, match="retry"):
        RetryPolicy(**bad)


def test_what_the_task_asks_for_goes_before_the_policy():
    assert judge(End.ERROR, History(), 0.5, 77.0).pause == timedelta(seconds=77)
    assert judge(End.ERROR, History(failures=4), 0.5, 77.0).state is State.FAILED
