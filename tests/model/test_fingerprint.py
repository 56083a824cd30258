"""Fingerprints: the same cause gives the same, whatever differs from job to job."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.model.fingerprint import LENGTH, fingerprint, normal, own_frame
from horae.model.work import JobError

TRACE = """Traceback (most recent call last):
  File "/srv/app/jobs.py", line {line}, in send
    deliver(to)
  File "/srv/app/venv/lib/python3.12/site-packages/smtp/client.py", line 9, in deliver
    raise Refused(to)
Refused: no
"""
WORDS = st.text("abcdefghijklmnop ", min_size=1, max_size=20)
VARIABLE = st.one_of(
    st.integers().map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.uuids().map(str),
    st.binary(min_size=8, max_size=20).map(lambda data: "0x" + data.hex()),
    st.text("abcXYZ 09-/", max_size=20).map(lambda text: f"'{text}'"),
    st.lists(st.text("abcxyz", min_size=1, max_size=8), min_size=2, max_size=5).map(
        lambda parts: "/" + "/".join(parts)
    ),
    st.text("abcxyz", min_size=1, max_size=8).map(lambda name: f"https://{name}.example/x?y=1"),
    st.text("abcxyz", min_size=1, max_size=8).map(lambda name: f"{name}@example.org"),
)


@given(WORDS, VARIABLE, st.data())
def test_what_differs_from_job_to_job_does_not_count(words: str, one: str, data: st.DataObject):
    kinds = {normal(f"{words} {one} end")}
    other = data.draw(VARIABLE.filter(lambda text: normal(text) == normal(one)))
    kinds.add(normal(f"{words} {other} end"))
    assert len(kinds) == 1
    assert one not in kinds.pop()


@given(st.text(max_size=3000), st.text(max_size=300), st.none() | st.text(max_size=2000))
def test_anything_has_a_fingerprint(message: str, kind: str, trace: str | None):
    found = fingerprint(JobError(kind, message, trace))
    assert len(found) == LENGTH
    assert found == fingerprint(JobError(kind, message, trace))


@given(st.text(max_size=500))
def test_a_normal_message_stays_as_it_is(message: str):
    assert normal(normal(message)) == normal(message)


def test_the_kind_the_words_and_the_place_count():
    base = JobError("Refused", "no mail for 7", TRACE.format(line=3))
    assert fingerprint(base) == fingerprint(JobError("Refused", "no mail for 8", TRACE.format(line=99)))
    others = [
        JobError("Timeout", "no mail for 7", TRACE.format(line=3)),
        JobError("Refused", "no post for 7", TRACE.format(line=3)),
        JobError("Refused", "no mail for 7", TRACE.format(line=3).replace("in send", "in remind")),
        JobError("Refused", "no mail for 7"),
        None,
    ]
    assert len({fingerprint(base), *map(fingerprint, others)}) == 6


def test_the_frame_is_the_innermost_of_ones_own_code():
    assert own_frame(TRACE.format(line=3)) == "jobs.py:send"
    assert own_frame("") == ""


def test_a_frame_of_a_library_is_better_than_none():
    assert own_frame('  File "/usr/lib/python3.12/json/decoder.py", line 1, in decode\n') == "decoder.py:decode"


@pytest.mark.parametrize(
    ("message", "reads"),
    [
        ("user 42 not found", "user <n> not found"),
        (f"job {UUID(int=7)} is gone", "job <id> is gone"),
        ("can't read 'a b' now", "can't read <text> now"),
        ("no file /srv/data/x.csv", "no file <path>"),
        ("commit 3f2a9bc1d was refused", "commit <hex> was refused"),
    ],
)
def test_messages_stay_readable(message: str, reads: str):
    assert normal(message) == reads
