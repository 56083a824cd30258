"""The circuit breaker's decisions."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.model.breaker import SPAN, Breaker, Ends, check_breaker, probes_succeeded, trip
from horae.model.errors import InvalidInput

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
counts = st.integers(0, 50)
spans = st.lists(st.tuples(st.integers(0, 60), counts, counts), max_size=30, unique_by=lambda span: span[0]).map(
    lambda found: [Ends(NOW - SPAN * ago, good, bad) for ago, good, bad in found]
)
breakers = st.builds(
    Breaker, failure_rate=st.floats(0.01, 1), minimum=st.integers(1, 100), window=st.integers(10, 600).map(float)
)


def test_the_reason_tells_the_figures() -> None:
    ends = [Ends(NOW, 4, 10), Ends(NOW - SPAN, 2, 4), Ends(NOW - timedelta(minutes=5), 0, 1000)]
    assert trip(Breaker(), ends, NOW) == "14 of 20 failed in the last 1m"


@given(breakers, spans)
def test_it_trips_exactly_when_enough_ended_and_too_many_failed(breaker: Breaker, ends: list[Ends]) -> None:
    recent = [end for end in ends if end.at + SPAN > NOW - timedelta(seconds=float(breaker.window))]
    failed, total = sum(e.failed for e in recent), sum(e.failed + e.succeeded for e in recent)
    assert (trip(breaker, ends, NOW) is not None) == (
        total >= breaker.minimum and failed >= breaker.failure_rate * total
    )


@given(breakers, spans)
def test_what_came_before_counts_for_nothing(breaker: Breaker, ends: list[Ends]) -> None:
    assert trip(breaker, ends, NOW, since=NOW + SPAN) is None


@given(breakers, spans, counts)
def test_more_failures_never_keep_it_from_tripping(breaker: Breaker, ends: list[Ends], more: int) -> None:
    if trip(breaker, ends, NOW) is not None:
        assert trip(breaker, [*ends, Ends(NOW, 0, more)], NOW) is not None


@given(spans)
def test_probes_count_from_the_last_failure(ends: list[Ends]) -> None:
    found = probes_succeeded(ends, NOW - timedelta(days=1))
    last = max((end.at for end in ends if end.failed), default=NOW - timedelta(days=1))
    assert found == sum(end.succeeded for end in ends if end.at > last)


@given(spans)
def test_what_ended_before_the_task_was_held_is_no_probe(ends: list[Ends]) -> None:
    assert probes_succeeded(ends, NOW + SPAN) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"failure_rate": 0}, {"failure_rate": 1.1}, {"minimum": 0}, {"probes": 0}, {"window": "5s"}, {"window": "2h"},
        {"pause": "0s"}, {"pause": "soon"}, {"release_rate": "fast"}, {"failure_rate": float("nan")},
    ],
)  # fmt: skip
def test_a_breaker_that_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    assert check_breaker(Breaker()) == Breaker()
    with pytest.raises(InvalidInput):
        check_breaker(Breaker(**wrong))  # type: ignore[arg-type]
