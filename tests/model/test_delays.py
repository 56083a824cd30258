"""Start delays as a histogram."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.model.delays import STEPS, percentile, step_of


def counted(delays: list[float]) -> list[int]:
    counts = [0] * STEPS
    for delay in delays:
        counts[step_of(delay)] += 1
    return counts


def test_nothing_has_no_percentile():
    assert percentile([0] * STEPS, 0.5) is None


@pytest.mark.parametrize(
    ("seconds", "step"), [(0.0, 0), (0.0009, 0), (0.001, 1), (0.0019, 1), (0.002, 2), (1e9, STEPS - 1)]
)
def test_each_step_is_twice_as_long_as_the_one_before(seconds: float, step: int):
    assert step_of(seconds) == step


@given(st.lists(st.floats(0.001, 3600.0), min_size=1, max_size=200), st.sampled_from([0.01, 0.5, 0.9, 0.99, 1.0]))
def test_a_percentile_is_right_to_within_a_step(delays: list[float], share: float):
    found = percentile(counted(delays), share)
    # The smallest delay that at least this share of the jobs did not exceed.
    true = sorted(delays)[max(0, -(-len(delays) * share // 1).__int__() - 1)]
    assert found is not None
    assert true / 2.01 <= found <= true * 2.01


@given(st.lists(st.floats(0.0, 1e6), min_size=1))
def test_a_larger_share_waits_no_shorter(delays: list[float]):
    counts = counted(delays)
    found = [percentile(counts, share) for share in (0.1, 0.5, 0.9, 0.99)]
    assert found == sorted(found)
