"""Numbers of exchanges that have come before."""

from hypothesis import given
from hypothesis import strategies as st

from horae.engine.numbers import REMEMBERED, Numbers


@given(st.lists(st.integers(1, 2 * REMEMBERED)))
def test_each_number_is_the_first_of_its_kind_once(numbers: list[int]):
    met, seen, highest = Numbers(), set[int](), 0
    for number in numbers:
        highest = max(highest, number)
        assert met.is_first(number) == (number not in seen and highest - number < REMEMBERED)
        seen.add(number)


def test_what_lies_far_behind_has_been_there():
    met = Numbers()
    assert met.is_first(2**31 - 1)
    assert not met.is_first(2**31 - 1 - REMEMBERED)
    assert met.is_first(2**31 - REMEMBERED)
