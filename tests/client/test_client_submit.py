import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from horae import (
    App,
    Client,
    Context,
    Forbidden,
    HoraeError,
    InvalidInput,
    InvalidParams,
    JobFailed,
    ResultTimeout,
    RetryPolicy,
    State,
    UnknownTask,
    Unreachable,
)
from horae.client import preset
from horae.client.preset import CHUNK, CHUNK_BYTES

JOB_ID = "01890a5d-ac96-774b-bcce-b302099a8057"


@pytest.fixture
def send(client: Client) -> Any:
    app = App(client=client)

    @app.task(queue="mail")
    def send(to: str, subject: str, ctx: Context) -> list[datetime]: ...

    return send


def result(state: str, **more: Any) -> dict[str, Any]:
    return {"id": JOB_ID, "state": state} | more


def test_arguments_become_the_params_object(stub, send):
    stub.submitted()
    assert send.submit("john", subject="hello").id == JOB_ID
    assert stub.requests[0].json() == {"task": "send", "params": {"to": "john", "subject": "hello"}}


def test_wrong_arguments_are_refused_before_anything_is_sent(stub, send):
    with pytest.raises(InvalidParams, match="subject"):
        send.submit("john")
    with pytest.raises(InvalidParams, match="JSON"):
        send.submit("john", object())
    assert stub.requests == []


def test_every_option_reaches_the_server(stub, send):
    stub.submitted()
    send.submit(
        "john",
        "hello",
        _at="2026-11-20T10:00+01:00",
        _priority=8,
        _queue="slow",
        _timeout="1m",
        _max_attempts=2,
        _retry=RetryPolicy(first=9.0),
        _labels={"team": "a"},
        _concurrency_key="john",
        _deadline=datetime(2026, 12, 1, tzinfo=UTC),
        _idempotency_key="k1",
        _tenant="ops",
    )
    assert stub.requests[0].headers["Idempotency-Key"] == "k1"
    assert stub.requests[0].json() == {
        "task": "send",
        "params": {"to": "john", "subject": "hello"},
        "run_at": "2026-11-20T10:00:00+01:00",
        "priority": 8,
        "queue": "slow",
        "timeout": 60.0,
        "max_attempts": 2,
        "retry": {"first": 9.0},
        "labels": {"team": "a"},
        "concurrency_key": "john",
        "deadline": "2026-12-01T00:00:00Z",
        "tenant": "ops",
    }


@pytest.mark.parametrize("delay", ["10s", 10, timedelta(seconds=10)])
def test_options_given_first_do_the_same_as_beside_the_arguments(stub, send, delay):
    stub.submitted()
    stub.submitted()
    send.options(delay=delay).submit("john", "hello")
    send.submit("john", "hello", _delay=delay)
    first, second = (request.json() for request in stub.requests)
    assert first == second
    assert first["delay"] == 10.0


@pytest.mark.parametrize(
    "options",
    [
        {"_at": "tomorrow"},
        {"_at": "2026-11-20T10:00"},
        {"_at": datetime(2026, 1, 1)},  # noqa: DTZ001
        {"_delay": "soon"},
        {"_priority": 0},
        {"_at": 3},
        {"_priority": "high"},
        {"_delay": []},
        {"_at": "2026-11-20T10:00Z", "_delay": 1},
    ],
)
def test_options_that_make_no_sense_are_refused_before_anything_is_sent(stub, send, options):
    with pytest.raises(InvalidInput):
        send.submit("john", "hello", **options)
    assert stub.requests == []


async def test_a_task_that_the_server_does_not_know_is_registered_and_submitted_once_more(stub, send):
    for submit in (send.submit, send.asubmit):
        stub.refuse(UnknownTask("no task send"))
        stub.answer({"tenant": "default", "definition": {"name": "send"}, "updated_at": "2026-01-01T00:00:00Z"})
        stub.submitted()
        job = submit("john", "hello")
        job = await job if hasattr(job, "__await__") else job
        assert job.id == JOB_ID
    assert [f"{r.method} {r.target}" for r in stub.requests] == [
        "POST /v1/jobs",
        "PUT /v1/tasks/send",
        "POST /v1/jobs",
    ] * 2
    assert stub.requests[1].json()["params_schema"]["required"] == ["to", "subject"]
    await send._clients.asynchronous.close()


def test_a_task_that_may_not_be_registered_says_why(stub, send):
    stub.refuse(UnknownTask("no task send"))
    stub.refuse(Forbidden("the key may not write tasks"))
    with pytest.raises(Forbidden):
        send.submit("john", "hello")


def bulk(*items: dict[str, Any]) -> dict[str, Any]:
    accepted = sum("id" in item for item in items)
    return {"accepted": accepted, "refused": len(items) - accepted, "items": list(items)}


async def test_many_are_submitted_in_lines_and_come_back_in_order(stub, send):
    for submit in (send.submit_many, send.asubmit_many):
        stub.answer(bulk({"id": "1", "state": "ready"}, {"id": "2", "state": "ready"}))
        jobs = submit([("a@x", "hi"), {"to": "b@x", "subject": "yo"}], _priority=3)
        jobs = await jobs if hasattr(jobs, "__await__") else jobs
        assert [job.id for job in jobs] == ["1", "2"]
    for request in stub.requests:
        assert request.headers["Content-Type"] == "application/x-ndjson"
        lines = [json.loads(line) for line in request.body.splitlines()]
        assert [line["params"]["to"] for line in lines] == ["a@x", "b@x"]
        assert [line["priority"] for line in lines] == [3, 3]
    await send._clients.asynchronous.close()


def test_more_than_one_call_takes_go_in_several(stub, send):
    for size in (CHUNK, 500):
        stub.answer(bulk(*[{"id": "x", "state": "ready"}] * size))
    assert len(send.submit_many([("a", "b")] * (CHUNK + 500))) == CHUNK + 500
    assert [len(request.body.splitlines()) for request in stub.requests] == [CHUNK, 500]


def test_large_jobs_go_in_calls_that_stay_small(stub, send):
    text = "x" * (CHUNK_BYTES // 4)
    for _ in range(4):
        stub.answer(bulk({"id": "x", "state": "ready"}))
    assert len(send.submit_many([(text, "b")] * 4)) == 4
    assert [len(request.body) <= CHUNK_BYTES for request in stub.requests] == [True] * 4


def test_refused_items_are_listed_in_one_error_that_keeps_the_accepted(stub, send):
    refused = {"code": "invalid_params", "detail": "to is too long"}
    stub.answer(bulk({"id": "1", "state": "ready"}, refused, {"id": "3", "state": "ready"}))
    with pytest.raises(InvalidParams, match=r"1 of 3 jobs were refused.*item 1: to is too long") as caught:
        send.submit_many([("a", "b")] * 3)
    assert caught.value.extra == {"accepted": ["1", "3"], "refused": [{"index": 1, **refused}]}


def test_a_break_between_two_calls_keeps_the_ids_of_the_first(stub, send):
    stub.answer(bulk(*[{"id": str(n), "state": "ready"} for n in range(CHUNK)]))
    stub.hang_up()
    with pytest.raises(Unreachable, match="some, all or none") as caught:
        send.submit_many([("a", "b")] * (CHUNK + 1))
    assert len(caught.value.extra["accepted"]) == CHUNK


async def test_calls_under_way_beside_one_that_broke_are_waited_for(stub, send, monkeypatch):
    monkeypatch.setattr(preset, "CHUNK", 2)
    stub.answer(bulk(*[{"id": "x", "state": "ready"}] * 2))
    stub.answer(bulk(*[{"id": "x", "state": "ready"}] * 2))
    stub.hang_up()
    with pytest.raises(Unreachable, match="some, all or none") as caught:
        await send.asubmit_many([("a", "b")] * 6)
    assert caught.value.extra["accepted"] == ["x"] * 4
    await send._clients.asynchronous.close()


def test_many_of_an_unregistered_task_are_submitted_after_registering_it(stub, send):
    stub.answer(bulk({"code": "unknown_task", "detail": "no"}, {"code": "unknown_task", "detail": "no"}))
    stub.answer({"tenant": "default", "definition": {"name": "send"}, "updated_at": "2026-01-01T00:00:00Z"})
    stub.answer(bulk({"id": "1", "state": "ready"}, {"id": "2", "state": "ready"}))
    assert len(send.submit_many([("a", "b")] * 2)) == 2


@pytest.mark.parametrize("wrong", [(), ("a", "b", "c", "d", "e"), {"to": "a", "what": 1}, ["a", "b", "c", "d", "e"]])
def test_one_that_does_not_fit_is_found_before_any_is_sent(stub, send, wrong):
    with pytest.raises(InvalidParams):
        send.submit_many([("a", "b")] * (CHUNK + 1) + [wrong])
    with pytest.raises(InvalidInput, match="wrong type"):
        send.submit_many([("a", "b")] * 3, _priority="high")
    assert stub.requests == []


def test_what_holds_arguments_may_be_read_only_once(stub, send):
    stub.answer(bulk({"id": "1", "state": "ready"}))
    assert [job.id for job in send.submit_many(iter([iter(("a@x", "hi"))]))] == ["1"]
    assert json.loads(stub.requests[0].body)["params"] == {"to": "a@x", "subject": "hi"}


def test_none_at_all_sends_nothing(stub, send):
    assert send.submit_many([]) == []
    assert stub.requests == []


def test_an_idempotency_key_for_many_is_refused(send):
    with pytest.raises(InvalidInput, match="stands for one job"):
        send.submit_many([("a", "b")], _idempotency_key="k")


def test_a_result_is_waited_for_and_read_as_the_return_annotation(stub, send):
    stub.answer(result("running"))
    stub.answer(result("succeeded", result=["2026-01-01T00:00:00Z"]))
    assert send.job(JOB_ID).result() == [datetime(2026, 1, 1, tzinfo=UTC)]
    assert [request.target for request in stub.requests] == [f"/v1/jobs/{JOB_ID}/result?wait=30"] * 2


def test_a_result_of_another_type_is_explained(stub, send):
    stub.answer(result("succeeded", result="text"))
    with pytest.raises(HoraeError, match="is not the declared"):
        send.job(JOB_ID).result()


def test_a_job_that_failed_raises_with_its_state_and_error(stub, send):
    stub.answer(result("failed", error={"kind": "ValueError", "message": "no such mailbox"}))
    with pytest.raises(JobFailed, match="failed: ValueError: no such mailbox") as caught:
        send.job(JOB_ID).result(timeout=5)
    assert caught.value.extra["state"] is State.FAILED
    assert caught.value.extra["error"].kind == "ValueError"


async def test_a_result_that_does_not_come_in_time_raises(stub, send):
    stub.answer(result("running"))
    stub.answer(result("running"))
    with pytest.raises(ResultTimeout, match="still running after 0 s"):
        send.job(JOB_ID).result(timeout=0)
    with pytest.raises(ResultTimeout):
        await send.ajob(JOB_ID).wait(timeout=0)
    await send._clients.asynchronous.close()


async def test_async_handles_do_what_sync_ones_do(stub, send, job):
    stub.answer(result("succeeded", result=[]))
    stub.answer(job)
    stub.answer(job | {"state": "cancelled"})
    stub.answer({"items": [{"attempt": 1, "seq": 0, "stream": "stdout", "at": job["run_at"], "text": "x"}]})
    handle = send.ajob(JOB_ID)
    assert await handle.result(timeout="5s") == []
    assert await handle.status() is State.READY
    assert (await handle.cancel("enough")).state is State.CANCELLED
    assert [line.text async for line in handle.logs()] == ["x"]
    assert stub.requests[2].target == f"/v1/jobs/{JOB_ID}?reason=enough"
    await send._clients.asynchronous.close()


def test_a_retry_can_change_the_job(stub, send, job):
    stub.answer(job)
    stub.answer(job)
    send.job(JOB_ID).retry(params={"to": "jane"}, delay="1m")
    send.job(JOB_ID).retry()
    assert stub.requests[0].json() == {"params": {"to": "jane"}, "delay": "1m"}
    assert stub.requests[1].body == b""


def test_stored_logs_are_read_page_by_page_up_to_now(stub, send, job):
    line = {"attempt": 1, "stream": "stdout", "at": job["run_at"], "text": "x"}
    stub.answer({"items": [line | {"seq": 0}], "next_cursor": "a"})
    stub.answer({"items": [], "next_cursor": "a"})
    assert [found.seq for found in send.job(JOB_ID).logs()] == [0]
