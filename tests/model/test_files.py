"""Names of files and parts of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.model.errors import InvalidInput, UnsatisfiableRange
from horae.model.files import check_file_name, disposition, printable_name, read_range


@given(st.binary(max_size=300))
def test_any_name_of_a_file_system_becomes_one_that_can_be_printed(raw: bytes):
    assert all(character.isprintable() for character in printable_name(raw))


@given(st.text(max_size=200))
def test_a_name_that_passes_stays_below_its_folder(name: str):
    try:
        check_file_name(name)
    except InvalidInput:
        return
    assert not name.startswith("/")
    assert not {"", ".", ".."} & set(name.split("/"))


@given(st.text(max_size=200))
def test_a_disposition_is_one_plain_header_whatever_the_name(name: str):
    header = disposition(name.encode("utf-8", "replace").decode())
    assert header.isascii()
    assert header.isprintable()
    assert header.count('"') == 2
    assert header.startswith("attachment; ")


@given(st.integers(0, 1000), st.text(max_size=20) | st.from_regex(r"bytes=\d{0,4}-\d{0,4}", fullmatch=True))
def test_a_range_is_a_part_of_the_file_or_refused(size: int, header: str):
    try:
        span = read_range(header, size)
    except UnsatisfiableRange:
        return
    if span is not None:
        assert span.length > 0
        assert span.start >= 0
        assert span.start + span.length <= size


@pytest.mark.parametrize(("header", "found"), [("bytes=0-0", (0, 1)), ("bytes=9-", (9, 1)), ("bytes=-3", (7, 3))])
def test_the_three_forms_of_a_range(header: str, found: tuple[int, int]):
    assert read_range(header, 10) == found
