"""Problem documents there and back."""

import msgspec
import pytest

from horae.model.errors import HoraeError, NotFound, Overloaded, by_code
from horae.wire.problems import decode_problem, encode_problem


@pytest.mark.parametrize("kind", by_code().values(), ids=lambda kind: kind.code)
def test_every_error_comes_back_as_itself(kind):
    back = decode_problem(encode_problem(kind("what happened", field="x"), "/v1/jobs"), kind.status)
    assert type(back) is kind
    assert (back.detail, back.extra) == ("what happened", {"field": "x"})


def test_a_document_says_all_that_rfc_9457_asks():
    document = msgspec.json.decode(encode_problem(NotFound("no such job"), "/v1/jobs/1"))
    assert document == {
        "type": "urn:horae:problem:not_found",
        "title": NotFound.title,
        "status": 404,
        "code": "not_found",
        "detail": "no such job",
        "instance": "/v1/jobs/1",
    }


def test_more_facts_come_along():
    assert decode_problem(encode_problem(Overloaded("busy", retry_after=3)), 503).extra == {"retry_after": 3}


@pytest.mark.parametrize(
    "body", [b"", b"<html>502</html>", b"null", b"[]", b"{}", b'{"code": "x"}', b'{"code": [], "detail": 1}', b"\xff"]
)
def test_an_answer_that_is_no_problem_is_an_error_all_the_same(body):
    error = decode_problem(body, 502)
    assert isinstance(error, HoraeError)
    assert "502" in error.detail


def test_a_code_from_a_newer_server_is_kept_as_a_plain_error():
    error = decode_problem(b'{"code": "invented_later", "detail": "d"}', 418)
    assert (type(error), error.detail) == (HoraeError, "d")
