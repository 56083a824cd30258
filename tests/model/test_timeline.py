"""Timeline: whatever is cut out, nothing is lost and nothing is counted twice."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from horae.model.timeline import Span, cut, total

START = datetime(2026, 1, 1, tzinfo=UTC)


def span(since: int, until: int) -> Span:
    return Span(START + timedelta(seconds=since), START + timedelta(seconds=until))


@given(st.lists(st.tuples(st.integers(-10, 110), st.integers(-10, 110)), max_size=12))
def test_the_parts_add_up_to_the_whole(taken):
    left, sums = [span(0, 100)], 0.0
    for since, until in taken:
        left, seconds = cut(left, span(since, until))
        assert seconds >= 0
        sums += seconds
    assert sums + total(left) == 100
    covered = {second for since, until in taken for second in range(max(since, 0), min(until, 100))}
    assert sums == len(covered)
