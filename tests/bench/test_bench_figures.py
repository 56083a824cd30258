"""The arithmetic of the figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.bench.figures import Figure, Notes, percentile, rounded
from horae.bench.scenarios.failover import Life, count_overlaps
from horae.bench.scenarios.fairness import SHARERS, curve, deviation, jain
from horae.bench.scenarios.limits import draw_keys, most_at_once

records = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 30), st.integers(0, 5)), max_size=20)
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


@given(records)
def test_the_most_at_once_is_what_a_count_at_every_instant_sees(spans: list[tuple[str, int, int]]) -> None:
    seen = [
        sum(name == key and first <= instant <= first + length for name, first, length in spans)
        for key in "ab"
        for instant in range(40)
    ]
    assert most_at_once((key, first, first + length) for key, first, length in spans) == max(seen)


def test_keys_are_drawn_by_zipfs_law_and_alike_each_time() -> None:
    drawn = draw_keys(1000, 50_000)
    assert drawn == draw_keys(1000, 50_000)
    assert drawn.count("key-0") == pytest.approx(2 * drawn.count("key-1"), rel=0.1)
    assert len(set(drawn)) > 900


def test_shares_by_weight_deviate_by_nothing_and_one_for_all_by_much() -> None:
    fair = {sharer.tenant: sharer.weight for sharer in SHARERS}
    assert deviation(fair) == pytest.approx(0)
    assert deviation({**fair, SHARERS[-1].tenant: 0.0}) == pytest.approx(133.3, abs=0.1)
    assert jain([1, 1, 1]) == pytest.approx(1)
    assert jain([1, 0, 0]) == pytest.approx(1 / 3)


def test_a_curve_adds_up_what_was_used() -> None:
    second = 10**9
    assert curve([(0, second), (second, 2 * second), (0, 3 * second)])[-1] == (3.0, 5.0)
