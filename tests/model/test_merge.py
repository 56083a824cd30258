"""Merging sorted lines."""

from hypothesis import given
from hypothesis import strategies as st

from horae.model.merge import Merge

lines = st.lists(st.lists(st.integers(0, 50), max_size=40).map(sorted), max_size=12)


@given(lines, st.integers(1, 60))
def test_a_merge_begins_as_a_sort_of_everything_would(lines: list[list[int]], rows: int):
    stored = {number: [(value, number, place) for place, value in enumerate(line)] for number, line in enumerate(lines)}
    merge: Merge[tuple[int, int, int]] = Merge(list(stored), rows)
    while merge.ask:
        merge.tell((number, each) for number in merge.ask for each in stored[number][: merge.heads])
    assert merge.first == sorted(each for line in stored.values() for each in line)[:rows]


@given(st.integers(1, 400), st.integers(1, 3000), st.booleans())
def test_little_more_is_read_than_was_asked_for(number: int, rows: int, alike: bool):
    stored = {
        line: [(value if alike or line == 0 else 10**9 + value, line) for value in range(1000)]
        for line in range(number)
    }
    merge: Merge[tuple[int, int]] = Merge(list(stored), rows)
    read = 0
    while merge.ask:
        found = [(line, each) for line in merge.ask for each in stored[line][: merge.heads]]
        read += len(found)
        merge.tell(found)
    assert read <= 8 * rows + 2 * number
