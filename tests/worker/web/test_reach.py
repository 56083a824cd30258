"""How far a call reaches: no further than the guard lets it, whatever names, redirects and DNS say."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from horae.model.addresses import read_networks
from horae.model.errors import Forbidden, InvalidInput
from horae.model.states import End
from horae.worker.web.redirects import redirected
from horae.worker.web.request import Request

from .service import Caller, serving

LOOPBACK = read_networks(["127.0.0.0/8"])


class Names:
    """A resolver that answers each question with the next of its answers, and remembers the questions."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


async def called(service: Any, *answers: Sequence[str], allow: tuple[str, ...] = (), **call: Any) -> tuple[Any, Names]:
    names = Names(*answers)
    caller = Caller(allow, looked_up=names)
    try:
        return await caller.call(f"http://service.test:{service.port}/x", **call), names
    finally:
        await caller.runner.close()


# By address and by name.


async def test_an_inner_address_is_not_called(service):
    caller = Caller(())
    outcome = await caller.call(service.url)
    await caller.runner.close()
    assert (outcome.end, outcome.error.kind, service.asked) == (End.FATAL, "http_refused", [])
    assert "--allow-networks 127.0.0.1" in outcome.error.message


@pytest.mark.parametrize("address", ["127.0.0.1", "169.254.169.254", "fd00:ec2::254", "::ffff:127.0.0.1", "::1"])
async def test_a_name_of_an_inner_address_is_not_called(service, address):
    outcome, _ = await called(service, [address])
    assert (outcome.end, outcome.error.kind, service.asked) == (End.FATAL, "http_refused", [])
    assert "service.test is " in outcome.error.message


async def test_a_name_is_called_where_its_network_is_allowed(service):
    outcome, names = await called(service, ["127.0.0.1"], allow=("127.0.0.1",))
    assert (outcome.end, names.asked) == (End.SUCCEEDED, ["service.test"])
    assert service.headers["Host"] == f"service.test:{service.port}"


async def test_of_several_addresses_only_the_good_ones_are_connected_to(service):
    outcome, _ = await called(service, ["169.254.169.254", "10.0.0.1", "127.0.0.1"], allow=("127.0.0.1",))
    assert outcome.end is End.SUCCEEDED


async def test_a_name_is_looked_up_once_so_a_second_answer_changes_nothing(service):
    """DNS rebinding: judged as one address, connected to as another."""
    outcome, names = await called(service, ["127.0.0.1"], ["127.0.0.2"], allow=("127.0.0.1",))
    assert outcome.end is End.SUCCEEDED
    assert names.asked == ["service.test"]


async def test_the_next_job_has_the_name_judged_anew(service):
    names = Names(["127.0.0.1"], ["127.0.0.2"])
    caller = Caller(("127.0.0.1",), looked_up=names)
    url = f"http://service.test:{service.port}/"
    ends = [(await caller.call(url)).end for _ in range(2)]
    await caller.runner.close()
    assert ends == [End.SUCCEEDED, End.FATAL], "no connection and no address of the first job is used again"


# By redirect.


def leading(location: str, status: int = 302) -> Any:
    async def answer(request: web.Request) -> web.Response:
        if request.path == "/end":
            return web.Response(text="there")
        return web.Response(status=status, headers={"Location": location})

    return answer


async def test_no_redirect_is_followed_unless_it_is_asked_for(service, caller):
    service.answer = leading("/end")
    assert (await caller.call(service.url)).error.kind == "http_302"
    assert (await caller.call(service.url, redirects=1)).end is End.SUCCEEDED


async def test_redirects_are_followed_as_often_as_allowed(service, caller):
    service.answer = leading("/again")
    outcome = await caller.call(service.url, redirects=3)
    assert (outcome.end, len(service.asked)) == (End.FATAL, 4)


@pytest.mark.parametrize(("status", "method", "body"), [(303, "GET", b""), (302, "GET", b""), (307, "POST", b"{}")])
async def test_a_redirect_keeps_its_method_when_the_status_says_so(service, caller, status, method, body):
    service.answer = leading("/end", status)
    await caller.call(service.url, redirects=1)
    request, sent = service.asked[-1]
    assert (request.method, sent, "Content-Type" in request.headers) == (method, body, bool(body))


@pytest.mark.parametrize(
    "location",
    ["http://127.0.0.2/", "http://169.254.169.254/latest/meta-data", "http://2130706433/", "http://[::1]/",
     "//10.0.0.1/x", "http://x@127.0.0.1/", "file:///etc/passwd", "http://[", "gopher://127.0.0.1/"],
)  # fmt: skip
async def test_a_redirect_inside_is_not_followed(service, location):
    service.answer = leading(location)
    caller = Caller(("127.0.0.1",))
    outcome = await caller.call(service.url, redirects=5)
    await caller.runner.close()
    assert (outcome.end, len(service.asked)) == (End.FATAL, 1)
    assert outcome.error.kind in {"http_refused", "http_invalid"}


async def test_a_redirect_to_a_name_is_judged_by_its_address(service):
    service.answer = leading(f"http://inner.test:{service.port}/end")
    outcome, names = await called(service, ["127.0.0.1"], ["127.0.0.9"], allow=("127.0.0.1",), redirects=1)
    assert (outcome.end, len(service.asked), names.asked) == (End.FATAL, 1, ["service.test", "inner.test"])


async def test_what_is_meant_for_one_host_does_not_reach_another(service, caller):
    async with serving() as other:
        service.answer = leading(other.url + "/end", 307)
        await caller.call(
            service.url, {"a": 1}, redirects=1, sign_with="HOOK",
            secrets={"KEY": "s3cret", "HOOK": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
            headers={"Authorization": "Bearer x", "Cookie": "a=b", "X-Key": "${{ secrets.KEY }}", "X-Plain": "1"},
        )  # fmt: skip
        there = other.headers
        assert there["X-Plain"] == "1"
        assert {"Authorization", "Cookie", "X-Key", "Webhook-Signature"}.isdisjoint(there)
        assert {"Authorization", "Cookie", "X-Key", "Webhook-Signature"} <= service.headers.keys()


async def test_on_the_same_host_everything_goes_along(service, caller):
    service.answer = leading("/end", 308)
    await caller.call(service.url, redirects=1, headers={"Authorization": "Bearer x"})
    assert service.headers["Authorization"] == "Bearer x"


async def test_a_call_with_a_callback_or_a_secret_in_its_body_stays_with_its_host(service, caller):
    async with serving() as other:
        service.answer = leading(other.url + "/end", 307)
        for more in (
            {"callback_url": "/v1/callbacks/x", "callback": True},
            {"body": {"list": ["${{ secrets.KEY }}"]}, "secrets": {"KEY": "s3cret"}},
        ):
            outcome = await caller.call(service.url, redirects=1, **more)
            assert (outcome.end, outcome.error.kind, other.asked) == (End.FATAL, "http_refused", [])


PRIVATE = Request(
    method="POST", url=URL("https://a.example/x"), shown="https://a.example/x",
    headers={"Authorization": "x", "X-Key": "y", "X-Plain": "z", "Content-Type": "a/b"}, body=b"{}",
    confidential=frozenset({"authorization", "x-key"}),
)  # fmt: skip


def test_a_redirect_from_https_to_http_is_refused():
    with pytest.raises(Forbidden, match="https to http"):
        redirected(PRIVATE, 307, "http://a.example/x", LOOPBACK)
    plain = msgspec.structs.replace(PRIVATE, url=URL("http://a.example/x"))
    assert redirected(plain, 307, "https://a.example/x", LOOPBACK).url.scheme == "https"


places = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["https://", "http://", "//", "/", "", "HTTPS://"]),
    st.sampled_from(
        ["a.example", "b.example", "a.example:8443", "A.EXAMPLE", "127.0.0.1", "a.example.", "x@a.example"]
    ),
    st.sampled_from(["", "/", "/y?z=1#f"]),
    st.sampled_from(["", "\\@b.example", "/../..", "%0d%0a"]),
)


@given(places, st.sampled_from([301, 302, 303, 307, 308]))
def test_wherever_a_redirect_leads_secrets_stay_with_their_origin(location, status):
    try:
        made = redirected(PRIVATE, status, location, ())
    except (Forbidden, InvalidInput):
        return
    assert made.url.scheme == "https"
    assert made.url.host != "127.0.0.1"
    if made.url.origin() != PRIVATE.url.origin():
        assert {"Authorization", "X-Key"}.isdisjoint(made.headers)
    assert made.headers["X-Plain"] == "z"
    assert (made.body is None) is (made.method == "GET")
