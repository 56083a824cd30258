from hypothesis import given
from hypothesis import strategies as st

from horae.worker.errands.lastline import LONGEST, LastLine

LINES = st.lists(st.sampled_from([b"", b" ", b"a", b"bb", b"{}"]), max_size=8)


@given(LINES, st.data())
def test_the_last_line_with_something_in_it_is_kept_however_the_output_is_cut(lines, data):
    text = b"\n".join(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    last = LastLine()
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        last.feed(text[start:end])
    assert last.text == next((line.strip() for line in reversed(lines) if line.strip()), None)


def test_a_line_that_is_too_long_is_no_result():
    last = LastLine()
    last.feed(b"before\n" + b"x" * LONGEST)
    last.feed(b"y")
    assert last.text is None
    last.feed(b"\n\n")
    assert last.text is None
    last.feed(b"after\n")
    assert last.text == b"after"
