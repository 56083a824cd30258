"""Quantiles from a mean and a spread."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.model.lognormal import P50, P95, Sums, quantile

seconds = st.floats(0.001, 1e6)


def sums_of(runs: list[float]) -> Sums:
    return Sums(len(runs), sum(runs), sum(run * run for run in runs))


def test_without_runs_there_is_nothing_to_tell():
    assert quantile(Sums(0, 0.0, 0.0), P50) is None
    assert Sums(0, 0.0, 0.0).mean is None
    assert quantile(Sums(3, 0.0, 0.0), P95) == 0


@given(seconds, st.integers(1, 1000))
def test_runs_that_are_all_alike_have_one_quantile(took: float, runs: int):
    sums = Sums(runs, took * runs, took * took * runs)
    assert quantile(sums, P50) == pytest.approx(took, rel=1e-3)
    assert quantile(sums, P95) == pytest.approx(took, rel=1e-3)


@given(st.lists(seconds, min_size=1, max_size=50))
def test_the_median_is_below_the_mean_and_below_the_tail(runs: list[float]):
    sums = sums_of(runs)
    middle, tail = quantile(sums, P50), quantile(sums, P95)
    assert middle is not None
    assert tail is not None
    assert sums.mean is not None
    assert middle <= sums.mean * (1 + 1e-9)
    assert middle <= tail * (1 + 1e-9)


def test_skewed_runs_are_told_within_a_tenth():
    drawn = random.Random(7)
    runs = sorted(math.exp(drawn.gauss(0.5, 0.6)) for _ in range(20_000))
    sums = sums_of(runs)
    assert quantile(sums, P50) == pytest.approx(runs[10_000], rel=0.1)
    assert quantile(sums, P95) == pytest.approx(runs[19_000], rel=0.1)
