"""Reading JSON from strangers."""

import time
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.model.errors import HoraeError, InvalidInput, MalformedBody
from horae.model.job import JobRequest, PlainRequest
from horae.server.decoding import decode, decode_plain

ANYTHING = msgspec.json.Decoder()
JOB = msgspec.json.Decoder(JobRequest)

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
    ),
    max_leaves=20,
)


def seconds(body: bytes) -> float:
    started = time.process_time()
    with pytest.raises(HoraeError):
        decode(body, ANYTHING)
    return time.process_time() - started


@given(values)
def test_all_json_that_is_not_deep_is_read(value):
    assert decode(msgspec.json.encode(value), ANYTHING) == value


@given(st.binary(max_size=200))
def test_rubbish_is_refused_with_an_error_of_ours(body):
    with suppress(InvalidInput):
        decode(body, ANYTHING)


@pytest.mark.parametrize(
    "body", [b"", b"nul", b"{", b'{"a":NaN}', b"Infinity", b"\xff", b'{"a":"\xff"}', b"{'a':1}", b'{"a":1,}', b"[1]x"]
)
def test_what_is_not_json_is_malformed(body):
    with pytest.raises(MalformedBody):
        decode(body, ANYTHING)


@pytest.mark.parametrize("body", [b"[" * 100_000, b"[" * 65 + b"]" * 65, b'{"a":' * 100 + b"1" + b"}" * 100])
def test_deep_nesting_is_refused(body):
    with pytest.raises(MalformedBody):
        decode(body, ANYTHING)


def test_brackets_in_strings_are_not_nesting():
    assert decode(b'"' + b"[" * 1000 + b'"', ANYTHING) == "[" * 1000
    assert decode(b'["\\"' + b"{" * 1000 + b'"]', ANYTHING) == ['"' + "{" * 1000]


@pytest.mark.parametrize(
    "body",
    [
        b'{"a":1,"a":2}',
        b'[{"x":{"a":1,"b":2,"a":3}}]',
        rb'{"a":1,"\u0061":2}',
        b'{"a":1, "a" :2}',
        b'{"p":["a", ":b"],"p":1}',
    ],
)
def test_a_key_that_stands_twice_is_refused(body):
    with pytest.raises(InvalidInput, match="twice"):
        decode(body, ANYTHING)


@pytest.mark.parametrize("body", [b'[{"a":1},{"a":2}]', b'{"a":{"a":1}}', b'{"a":"b\\": 1, \\"a"}'])
def test_the_same_key_in_different_objects_is_fine(body):
    assert decode(body, ANYTHING) == msgspec.json.decode(body)


def test_an_unclosed_string_costs_linear_time():
    assert seconds(b"[{" * 60 + b'"' + b'\\"' * 200_000) < 5


def test_many_keys_cost_linear_time():
    keys = b",".join(b'"%d":0' % n for n in range(30_000))
    assert seconds(b"{" + keys + b',"29999":0}') < 3


def test_many_quotes_and_colons_cost_linear_time():
    assert seconds(b"[" + b'"",' * 200_000 + b'":"') < 5
    assert seconds(b'{"a":"' + b"\\\\" * 200_000 + b'","a":1}') < 5


def each(body: bytes) -> list[tuple[str, object]] | None:
    """The jobs of a bulk, read line by line; None when one is not plain, or wrong."""
    try:
        jobs = [decode(line, JOB) for line in body.splitlines() if line.strip()]
    except HoraeError:
        return None
    plain = all(job == JobRequest(task=job.task, params=job.params) for job in jobs)
    return [(job.task, job.params) for job in jobs] if plain else None


@given(st.lists(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), values, max_size=3), max_size=5))
def test_plain_jobs_are_read_together_as_they_are_one_by_one(params):
    body = msgspec.json.Encoder().encode_lines([PlainRequest("work", each) for each in params])
    for text in (body, body.removesuffix(b"\n")):
        found = decode_plain(text)
        assert found is not None
        assert [(job.task, job.params) for job in found] == each(text)


LINE = b'{"task":"work","params":{"a":1}}'


@pytest.mark.parametrize(
    "line",
    [
        b'{"task":"work","task":"other"}', b'{"task":"work","params":{"a":1,"a":2}}',
        b'{"task":"work","params":{"a":1,"\\u0061":2}}',
        b'{"task":"work","params":{"a":%b1%b}}' % (b"[" * 64, b"]" * 64),
        b'{"task":"work","priority":3}', b'{"task":"work","nonsense":1}', b'{"params":{}}', b"nul", b"1",
        b'{"task":"\xff"}', b'{"task": "work"}', b'{"params":{},"task":"work"}',
    ],
)  # fmt: skip
def test_a_line_that_must_be_looked_at_for_itself_sends_all_of_them_there(line):
    assert decode_plain(b"\n".join((LINE, LINE))) == [PlainRequest("work", {"a": 1})] * 2
    assert decode_plain(b"\n".join((LINE, line, LINE))) is None
