"""The pure parts of output: taking markers out, and keeping the two ends of a flood."""

import itertools
import re

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from horae.model.job import MAX_PIECE_BYTES
from horae.model.work import Grant
from horae.worker.ends import undelivered
from horae.worker.logs import PARTIAL, PIECES_A_SECOND, JobLog, Splitter
from horae.worker.messages import Order

NONCE = "0123456789abcdef"
texts = st.binary(max_size=30) | st.sampled_from([b"\x1e", b"\x1e" + NONCE.encode(), b"\x1e" + NONCE.encode() + b":12"])


def _job() -> Grant:
    return Grant(id="j", lane=1, attempt=1, task="t", params=msgspec.Raw(b"{}"))


def _chunks(log: JobLog) -> list:
    return log.take()[0]


def _end(log: JobLog) -> None:
    log.finished = undelivered(Order(1, 0.0, _job()))


@given(parts=st.lists(st.tuples(st.integers(0, 9**9), texts), max_size=8), cuts=st.lists(st.integers(0, 200)))
def test_however_the_stream_is_cut_every_byte_goes_to_its_owner(parts, cuts):
    parts = [(seq, text) for seq, text in parts if not text.startswith(b"\x1e") or text == b"\x1e"]
    stream = b"".join(b"\x1e%s:%d\x1e%s" % (NONCE.encode(), seq, text) for seq, text in parts)
    stream += b"\x1e%s:0\x1e\n" % NONCE.encode()
    edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    splitter = Splitter(NONCE)
    found = [pair for a, b in itertools.pairwise(edges) for pair in splitter.feed(stream[a:b])]
    expected: dict[int, bytes] = {0: b"\n"}
    for seq, text in reversed(parts):
        expected[seq] = text + expected.get(seq, b"")
    joined: dict[int, bytes] = {}
    for seq, text in found:
        joined[seq] = joined.get(seq, b"") + text
    assert joined == {seq: text for seq, text in expected.items() if text}


def test_no_child_adds_to_the_patterns_that_python_keeps():
    re.purge()
    for child in range(3):
        nonce = f"{child:016x}"
        assert list(Splitter(nonce).feed(b"\x1e%s:7\x1ehello" % nonce.encode())) == [(7, b"hello")]
    assert not re._cache


@given(pieces=st.lists(st.text(alphabet="aé€😀\n", max_size=20), max_size=20))
def test_what_fits_arrives_as_it_was_written(pieces):
    log = JobLog(_job(), 10_000)
    chunks = []
    for piece in pieces:
        data = piece.encode()
        log.add("stdout", data[:1])
        chunks += _chunks(log)
        log.add("stdout", data[1:])
    _end(log)
    chunks += _chunks(log)
    assert "".join(chunk.text for chunk in chunks) == "".join(pieces)
    assert [chunk.seq for chunk in chunks] == list(range(len(chunks)))


@given(sizes=st.lists(st.integers(1, 900), min_size=1, max_size=40))
def test_of_more_than_the_limit_both_ends_are_kept_and_the_rest_is_counted(sizes):
    log = JobLog(_job(), 4096)
    written = b""
    for number, size in enumerate(sizes):
        data = bytes([97 + number % 26]) * size
        written += data
        log.add(("stdout", "stderr")[number % 2], data)
    _end(log)
    chunks = _chunks(log)
    text = "".join(chunk.text for chunk in chunks if chunk.stream != "system")
    if len(written) <= 4096:
        assert text.encode() == written
    else:
        (remark,) = [chunk.text for chunk in chunks if chunk.stream == "system"]
        assert text.encode() == written[:2048] + written[-2048:]
        assert f"{len(written) - 4096:,}" in remark


def test_a_line_waits_for_its_end_but_only_once():
    log = JobLog(Grant(id="j", lane=1, attempt=1, task="t", params=msgspec.Raw(b"{}")), 10_000)
    log.add("stdout", b"whole\nhalf")
    assert [chunk.text for chunk in _chunks(log)] == ["whole\n"]
    assert [chunk.text for chunk in _chunks(log)] == ["half"]


# Pieces of results.


def test_a_piece_is_a_chunk_of_its_own_among_the_output_around_it():
    log = JobLog(_job(), 1000)
    log.add("stdout", b"before\n")
    log.add(PARTIAL, b"[1]")
    log.add(PARTIAL, b"[2]")
    log.add("stdout", b"after\n")
    chunks, _ = log.take()
    assert [(chunk.stream, chunk.text) for chunk in chunks] == [
        ("stdout", "before\n"), ("partial", "[1]"), ("partial", "[2]"), ("stdout", "after\n"),
    ]  # fmt: skip
    assert [chunk.seq for chunk in chunks] == [0, 1, 2, 3]


def test_a_piece_without_a_line_break_does_not_wait():
    log = JobLog(_job(), 1000)
    log.add(PARTIAL, b"1")
    assert [chunk.text for chunk in log.take()[0]] == ["1"]
    assert not log.lingering


def test_pieces_over_the_bounds_are_left_out_whole_and_counted():
    log = JobLog(_job(), 1000)
    log.add(PARTIAL, b'"' + b"x" * MAX_PIECE_BYTES + b'"')
    for _ in range(PIECES_A_SECOND + 50):
        log.add(PARTIAL, b"1")
    _end(log)
    chunks, _ = log.take()
    pieces = [chunk for chunk in chunks if chunk.stream == PARTIAL]
    assert PIECES_A_SECOND <= len(pieces) < PIECES_A_SECOND + 50
    assert "partial results were left out" in chunks[-1].text
