"""What clients know, and what they do not."""

import asyncio
import random
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from horae.model.job import JobRequest
from horae.model.states import State

from . import history
from .calls import Clients
from .history import Call, End, History, Line, joined

JOB = JobRequest(task="quick", params={"ref": "r1"})


def test_a_call_without_an_end_is_unknown():
    assert joined([Line(1, 5.0, "c", "submit", None, {"refs": ["r1"]})]) == [
        Call(1, "c", "submit", {"refs": ["r1"]}, 5.0, None, End.UNKNOWN, {})
    ]


def test_a_call_cannot_end_twice():
    lines = [Line(1, 5.0, "c", "submit"), Line(1, 6.0, end=End.OK), Line(1, 7.0, end=End.FAILED)]
    with pytest.raises(ValueError, match="ended twice"):
        joined(lines)


def test_what_was_written_is_read_back(tmp_path):
    record = History(tmp_path / "history")
    first, second = record.invoke("a", "submit", refs=["r1"]), record.invoke("b", "cancel", jobs=["j1"])
    record.end(second, End.FAILED, status=404)
    record.end(first, End.OK, jobs=["j1"])
    record.close()
    calls = history.read(tmp_path / "history")
    assert [(call.client, call.name, call.end, call.answer) for call in calls] == [
        ("a", "submit", End.OK, {"jobs": ["j1"]}),
        ("b", "cancel", End.FAILED, {"status": 404}),
    ]
    assert all(call.invoked_at <= (call.ended_at or 0) for call in calls)


@asynccontextmanager
async def answering(handler):
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def recorded(tmp_path, handler, submit: str, key: str | None = None) -> Call:
    record = History(tmp_path / "history")
    async with answering(handler) as url, Clients("c", [url], "key", record, random.Random(1)) as clients:
        await getattr(clients, submit)(JOB, key)
    record.close()
    (call,) = history.read(tmp_path / "history")
    return call


def saying(status: int, body: object = None):
    async def handler(request: web.Request) -> web.Response:
        return web.json_response(body or {}, status=status)

    return handler


async def hanging_up(request: web.Request) -> web.Response:
    request.transport.close()
    await asyncio.sleep(0)
    return web.Response()


@pytest.mark.parametrize("submit", ["submit", "submit_raw"])
async def test_an_answer_with_a_job_is_ok(tmp_path, submit):
    call = await recorded(tmp_path, saying(201, {"id": "j1", "state": State.READY}), submit)
    assert (call.end, call.answer, call.asked["refs"]) == (End.OK, {"jobs": ["j1"]}, ["r1"])


@pytest.mark.parametrize("submit", ["submit", "submit_raw"])
@pytest.mark.parametrize(("status", "code"), [(422, "unknown_task"), (429, "quota_exceeded"), (503, "overloaded")])
async def test_a_refusal_is_failed(tmp_path, submit, status, code):
    assert (await recorded(tmp_path, saying(status, {"code": code, "detail": "no"}), submit)).end is End.FAILED


@pytest.mark.parametrize("submit", ["submit", "submit_raw"])
@pytest.mark.parametrize("handler", [saying(500), saying(502), hanging_up])
async def test_a_broken_answer_or_none_is_unknown_and_never_failed(tmp_path, submit, handler):
    assert (await recorded(tmp_path, handler, submit)).end is End.UNKNOWN


async def test_a_refusal_after_tries_that_the_sdk_repeated_is_unknown(tmp_path):
    """The first try is carried out and its answer lost; the second is refused."""
    tries = []

    async def handler(request: web.Request) -> web.Response:
        tries.append(request)
        return await (hanging_up if len(tries) == 1 else saying(503, {"code": "overloaded", "detail": "no"}))(request)

    assert (await recorded(tmp_path, handler, "submit", key="k")).end is End.UNKNOWN
    assert len(tries) > 1
