"""The arithmetic of the figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.bench.figures import Figure, Notes, percentile, rounded
from horae.bench.scenarios.failover import Life, count_overlaps

samples = st.lists(st.floats(-1e9, 1e9), min_size=1)


@given(samples, st.floats(0, 1))
def test_a_percentile_is_a_sample_that_no_less_than_its_share_are_not_above(values: list[float], share: float) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values)


def _figure(scenario: str, metric: str, value: float) -> Figure:
    notes = Notes(scenario, {}, {})
    notes.figure(metric, [value], "unit")
    return notes.figures[0]


@pytest.mark.parametrize(
    ("scenario", "metric", "value", "verdict"),
    [
        ("drain", "rate", 70_000, "aim"),
        ("drain", "rate", 69_999, "must"),
        ("drain", "rate", 29_999, "missed"),
        ("latency", "start_p99", 4, "aim"),
        ("latency", "start_p99", 15, "must"),
        ("latency", "start_p99", 15.1, "missed"),
        ("failover", "overlaps", 1, "missed"),
        ("drain", "cpu_server", 1, None),
    ],
)
def test_a_figure_is_judged_by_its_own_target(scenario: str, metric: str, value: float, verdict: str | None) -> None:
    assert _figure(scenario, metric, value).verdict() == verdict


def test_a_figure_is_the_median_of_its_rounds_with_their_spread() -> None:
    notes = Notes("drain", {}, {})
    notes.figure("rate", [30.0, 10.0, 20.0], "jobs/s")
    figure = notes.figures[0]
    assert (figure.low, figure.value, figure.high, figure.rounds) == (10, 20, 30, 3)


@pytest.mark.parametrize(("value", "shown"), [(12.34567, 12.35), (0.000123456, 0.0001235), (43210.7, 43211.0)])
def test_values_have_no_more_digits_than_they_know(value: float, shown: float) -> None:
    assert rounded(value) == shown


def test_attempts_that_follow_each_other_do_not_overlap() -> None:
    assert count_overlaps([Life(0, 10), Life(11, 20), Life(21, 22)]) == 0
    assert count_overlaps([Life(0, 12), Life(11, 20)]) == 1
