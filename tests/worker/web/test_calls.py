"""Calls to a real service: what it is told, what its answers mean, and where the bounds are."""

import asyncio
import gzip
import json
from datetime import UTC, datetime

import msgspec
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

import horae
from horae import webhooks
from horae.model.errors import InvalidSignature
from horae.model.job import MAX_RESULT_BYTES
from horae.model.states import End
from horae.worker.errands.errand import StopOrder
from horae.worker.web import calls
from horae.worker.web.outcomes import MAX_RETRY_AFTER, retry_after

from .service import JOB

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


# What the service is told.


async def test_a_call_carries_the_params_and_says_who_it_is(service, caller):
    outcome = await caller.call(f"{service.url}/hook", {"n": 1})
    request, body = service.asked[0]
    assert (request.method, request.path, body) == ("POST", "/hook", b'{"n":1}')
    assert outcome.end is End.SUCCEEDED
    told = {name: request.headers[name] for name in
            ("User-Agent", "Horae-Job", "Horae-Attempt", "Idempotency-Key", "Content-Type")}  # fmt: skip
    assert told == {"User-Agent": f"horae/{horae.__version__}", "Horae-Job": JOB, "Horae-Attempt": "3",
                    "Idempotency-Key": JOB, "Content-Type": "application/json"}  # fmt: skip
    assert "Horae-Callback" not in request.headers


async def test_placeholders_are_filled_in_as_data(service, caller):
    await caller.call(
        service.url + "/u/${{ params.name }}?q=${{ params.q }}",
        {"name": "a/../b?c", "q": "x&y=z"},
        method="PUT",
        headers={"X-Api-Key": "key ${{ secrets.KEY }}", "user-agent": "mine"},
        body={"who": "${{ params.name }}", "list": ["${{ params.q }}"]},
        secrets={"KEY": "s3cret"},
    )
    request, body = service.asked[0]
    assert request.raw_path == "/u/a%2F..%2Fb%3Fc?q=x%26y%3Dz"
    assert json.loads(body) == {"who": "a/../b?c", "list": ["x&y=z"]}
    assert (request.headers["X-Api-Key"], request.headers["User-Agent"]) == ("key s3cret", "mine")


async def test_text_goes_as_text_and_a_get_has_no_body(service, caller):
    await caller.call(service.url, {"x": "y"}, body="hello ${{ params.x }}")
    await caller.call(service.url, {"x": "y"}, method="GET")
    (first, text), (second, nothing) = service.asked
    assert (text, first.headers["Content-Type"]) == (b"hello y", "text/plain; charset=utf-8")
    assert (nothing, "Content-Type" in second.headers) == (b"", False)


async def test_a_header_cannot_be_broken_out_of(service, caller):
    outcome = await caller.call(service.url, {"v": "a\r\nEvil: 1"}, headers={"X-Value": "${{ params.v }}"})
    assert (outcome.end, outcome.error.kind, service.asked) == (End.FATAL, "http_invalid", [])


async def test_a_value_that_is_missing_ends_the_job(service, caller):
    outcome = await caller.call(service.url + "/${{ params.x }}")
    assert outcome.end is End.FATAL
    assert "params has no 'x'" in outcome.error.message
    assert "was not made" in caller.errand.written


async def test_a_signed_call_can_be_verified_by_the_receiver(service, caller):
    await caller.call(service.url, {"n": 1}, sign_with="HOOK", secrets={"HOOK": SECRET})
    request, body = service.asked[0]
    assert webhooks.verify(body, request.headers, SECRET) == JOB
    with pytest.raises(InvalidSignature):
        webhooks.verify(body + b" ", request.headers, SECRET)


async def test_a_secret_that_is_none_ends_the_job(service, caller):
    outcome = await caller.call(service.url, sign_with="HOOK", secrets={"HOOK": "plain"})
    assert (outcome.end, service.asked) == (End.FATAL, [])
    assert "whsec_" in outcome.error.message


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("/v1/callbacks/abc", "http://horae.test:8420/below/v1/callbacks/abc"),
        ("https://public.test/x/v1/callbacks/abc", "https://public.test/x/v1/callbacks/abc"),
    ],
)
async def test_an_expected_answer_parks_a_call_with_a_callback(service, caller, given, told):
    service.says(status=202, text="working on it")
    outcome = await caller.call(service.url, callback_url=given, callback=True)
    assert service.headers["Horae-Callback"] == told
    assert (outcome.end, outcome.result, outcome.error) == (End.PARKED, None, None)


async def test_an_unexpected_answer_parks_nothing(service, caller):
    service.says(status=503)
    assert (await caller.call(service.url, callback_url="/v1/callbacks/abc", callback=True)).end is End.ERROR


# What its answer means.


@pytest.mark.parametrize(
    ("status", "end"),
    [(200, End.SUCCEEDED), (204, End.SUCCEEDED), (299, End.SUCCEEDED), (302, End.FATAL), (400, End.FATAL),
     (404, End.FATAL), (408, End.ERROR), (425, End.ERROR), (429, End.ERROR), (500, End.ERROR), (503, End.ERROR)],
)  # fmt: skip
async def test_statuses_mean_what_the_definition_says(service, caller, status, end):
    service.says(status=status)
    outcome = await caller.call(service.url)
    assert outcome.end is end
    if end is not End.SUCCEEDED:
        assert outcome.error.kind == f"http_{status}"


async def test_statuses_can_be_chosen(service, caller):
    service.says(status=404)
    assert (await caller.call(service.url, expect=["200", "404"])).end is End.SUCCEEDED
    assert (await caller.call(service.url, retry_on=["400-404"])).end is End.ERROR


async def test_an_error_tells_what_the_service_said(service, caller):
    service.says(status=422, text="no such\n  customer" + "x" * 100_000)
    outcome = await caller.call(service.url + "/charge")
    assert "answered 422 Unprocessable" in outcome.error.message
    assert "no such customer" in outcome.error.message
    assert len(outcome.error.message) < 700


@pytest.mark.parametrize(
    ("body", "kind", "told"),
    [
        (b'{"a": [1, "\\u00fc"]}', "application/json", {"body": {"a": [1, "ü"]}}),
        (b"12", "text/plain", {"body": 12}),
        (b"hello", "application/json", {"body": "hello"}),
        ("grün".encode("latin-1"), "text/plain; charset=latin-1", {"body": "grün"}),
        (b"\xff\xfe\x00", "application/octet-stream", {"body": None, "body_base64": "//4A"}),
        (b"a\x00b", "text/plain; charset=nosuch", {"body": None, "body_base64": "YQBi"}),
        (b"[" * 100_000, "application/json", {"body": "[" * 100_000}),
        (b"", "text/plain", {"body": None}),
    ],
)
async def test_the_result_is_json_where_the_answer_is(service, caller, body, kind, told):
    service.says(body=body, headers={"Content-Type": kind, "ETag": '"7"', "Set-Cookie": "a=b"})
    outcome = await caller.call(service.url)
    assert json.loads(outcome.result) == {"status": 200, "headers": {"content-type": kind, "etag": '"7"'}, **told}


async def test_retry_after_is_honoured(service, caller):
    service.says(status=503, headers={"Retry-After": "120"})
    assert (await caller.call(service.url)).retry_after == 120
    service.says(status=404, headers={"Retry-After": "120"})
    assert (await caller.call(service.url)).retry_after is None


NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "0"}, 0),
        ({"Retry-After": " 30 "}, 30),
        ({"Retry-After": "9" * 400}, MAX_RETRY_AFTER),
        ({"Retry-After": "Mon, 16 Nov 2026 12:01:00 GMT"}, 60),
        ({"Retry-After": "Mon, 16 Nov 2026 11:00:00 GMT"}, 0),
        ({"Retry-After": "Sun, 16 Nov 2036 11:00:00 GMT"}, MAX_RETRY_AFTER),
        # The service's own clock is a day ahead.
        ({"Retry-After": "Tue, 17 Nov 2026 12:01:00 GMT", "Date": "Tue, 17 Nov 2026 12:00:00 GMT"}, 60),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-5"}, None),
        ({"Retry-After": "1.5"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_both_forms_and_bounded(headers, seconds):
    assert retry_after(headers, NOW) == seconds


@given(st.text() | st.datetimes().map(lambda at: at.strftime("%a, %d %b %Y %H:%M:%S GMT")), st.text())
def test_no_header_breaks_the_reading_of_retry_after(text, date):
    found = retry_after({"Retry-After": text, "Date": date}, NOW)
    assert found is None or 0 <= found <= MAX_RETRY_AFTER


async def test_each_call_leaves_a_line_without_secrets(service, caller):
    service.says(status=204)
    url = service.url + "/x?key=${{ secrets.KEY }}&a=${{ params.a }}"
    await caller.call(url, {"a": "b c"}, secrets={"KEY": "s3cret"})
    line = caller.errand.written
    assert line.startswith(f"POST {service.url}/x?key=***&a=b%20c → 204, ")
    assert line.endswith(" ms\n")


# Its bounds.


async def test_a_body_that_is_too_large_is_refused(service, caller, monkeypatch):
    monkeypatch.setattr(calls, "MAX_BODY_BYTES", 1024 * 1024)
    service.says(body=b"x" * (1024 * 1024))
    assert (await caller.call(service.url)).end is End.SUCCEEDED
    service.says(body=b"x" * (1024 * 1024 + 1))
    outcome = await caller.call(service.url)
    assert (outcome.end, outcome.error.kind) == (End.FATAL, "http_too_large")
    assert "1 MiB" in outcome.error.message


async def test_an_endless_body_is_cut_off(service, caller, monkeypatch):
    monkeypatch.setattr(calls, "MAX_BODY_BYTES", 1024 * 1024)

    async def forever(request):
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x" * 65536)

    service.answer = forever
    assert (await caller.call(service.url)).error.kind == "http_too_large"


async def test_a_packed_answer_is_unpacked_and_a_bomb_is_not(service, caller):
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    service.says(body=gzip.compress(b'{"a": 1}'), headers=headers)
    assert json.loads((await caller.call(service.url)).result)["body"] == {"a": 1}
    service.says(body=gzip.compress(b"0" * (200 * 1024 * 1024)), headers=headers)
    assert (await caller.call(service.url)).error.kind == "http_too_large"


@pytest.mark.parametrize("status", [200, 500])
async def test_a_packed_answer_that_is_broken_is_tried_again(service, caller, status):
    packed = gzip.compress(b"x" * 1000)
    for body in (packed[:-12], b"not packed at all"):
        service.says(status=status, body=body, headers={"Content-Encoding": "gzip"})
        assert (await caller.call(service.url)).end is End.ERROR


async def test_a_packing_that_was_not_asked_for_is_refused(service, caller):
    service.says(body=b"xx", headers={"Content-Encoding": "br"})
    outcome = await caller.call(service.url)
    assert (outcome.end, outcome.error.kind) == (End.FATAL, "http_invalid")


async def test_huge_headers_are_no_answer(service, caller):
    service.says(headers={"X-Large": "x" * 100_000})
    outcome = await caller.call(service.url)
    assert (outcome.end, outcome.error.kind) == (End.ERROR, "http_unanswered")


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 \xff\xfe\r\nETag: \xff\xfe\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 404 \xff\xfe\r\nLocation: http://\xff\xfe/\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 302 x\r\nLocation: http://\xff\xfe/\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX\xff\xfe: 1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello",
        b"HTTP/1.1 999999 OK\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n",
        b"",
    ],
)
async def test_whatever_a_service_sends_the_call_ends(caller, answer):
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"{}")
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(speak, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        outcome = await caller.call(f"http://127.0.0.1:{port}/", redirects=1, timeout=10)
    assert outcome.end in {End.SUCCEEDED, End.ERROR, End.FATAL}
    assert json.loads(msgspec.json.encode(outcome.error)) is not None or outcome.result is not None


async def test_a_value_cannot_be_filled_in_so_often_that_it_fills_the_memory(service, caller):
    body = ["${{ params.x }}"] * 1000
    outcome = await caller.call(service.url, {"x": "y" * 100_000}, body=body)
    assert (outcome.end, outcome.error.kind, service.asked) == (End.FATAL, "http_invalid", [])


async def test_a_service_that_dribbles_is_given_up_at_the_jobs_timeout(service, caller):
    async def dribble(request):
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x")
            await asyncio.sleep(0.05)

    service.answer = dribble
    outcome = await caller.call(service.url, timeout=0.5)
    assert (outcome.end, outcome.error.kind) == (End.TIMEOUT, "timeout")


async def test_nobody_at_the_address_is_tried_again(service, caller):
    unused = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = unused.sockets[0].getsockname()[1]
    unused.close()
    await unused.wait_closed()
    outcome = await caller.call(f"http://127.0.0.1:{port}/")
    assert (outcome.end, outcome.error.kind) == (End.ERROR, "http_unanswered")


async def test_a_name_that_is_unknown_is_tried_again(caller):
    outcome = await caller.call("http://nosuch.invalid/")
    assert (outcome.end, outcome.error.kind) == (End.ERROR, "http_unanswered")


async def test_a_call_stops_when_it_is_told_to(service, caller):
    asked = asyncio.Event()

    async def hang(_):
        asked.set()
        await asyncio.Event().wait()

    service.answer = hang
    errand = caller.errand_of(service.url)
    running = asyncio.ensure_future(caller.runner.run(errand))
    await asked.wait()
    errand.stop.set_result(StopOrder(End.CANCELLED, "not needed any more", 5.0))
    outcome = await running
    assert (outcome.end, outcome.error.message) == (End.CANCELLED, "not needed any more")


async def test_a_runner_that_is_cancelled_leaves_nothing_behind(service, caller):
    asked = asyncio.Event()

    async def hang(_):
        asked.set()
        await asyncio.Event().wait()

    service.answer = hang
    running = asyncio.ensure_future(caller.runner.run(caller.errand_of(service.url)))
    await asked.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [task for task in asyncio.all_tasks() if "HttpRunner" in repr(task.get_coro())] == []


async def test_no_cookie_of_one_job_reaches_another(service, caller):
    service.says(headers={"Set-Cookie": "session=1; Path=/"})
    await caller.call(service.url)
    await caller.call(service.url)
    assert "Cookie" not in service.headers


async def test_proxies_of_the_environment_are_not_used(service, caller, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/")
    assert (await caller.call(service.url)).end is End.SUCCEEDED


def test_the_result_never_outgrows_what_the_server_takes():
    # As escaped text it grows six times at the worst.
    assert calls.MAX_BODY_BYTES * 6 + 65_536 <= MAX_RESULT_BYTES
