import json

import pytest

from horae.client.following import EventReader, ServerSent
from horae.model.errors import NotFound, Overloaded, Unreachable
from horae.model.states import State

JOB_ID = "01890a5d-ac96-774b-bcce-b302099a8057"
AT = "2026-01-01T00:00:00Z"


def log(seq: int, cursor: str) -> bytes:
    line = {"attempt": 1, "seq": seq, "stream": "stdout", "at": AT, "text": f"line {seq}\n"}
    return f"event: log\nid: {cursor}\ndata: {json.dumps(line)}\n\n".encode()


def state(name: str, attempt: int = 1) -> bytes:
    event = {"id": JOB_ID, "state": name, "attempt": attempt, "at": AT}
    return f"event: state\ndata: {json.dumps(event)}\n\n".encode()


END = b"event: end\ndata: {}\n\n"


async def test_followed_logs_end_with_the_job(stub, ask):
    stub.stream(log(0, "a"), b": still here\n\n", log(1, "b"), END)
    lines = await ask("follow_logs", JOB_ID)
    assert [line.seq for line in lines] == [0, 1]
    assert stub.requests[0].target == f"/v1/jobs/{JOB_ID}/logs?follow=true"


async def test_a_broken_stream_goes_on_behind_the_last_line(stub, ask):
    stub.stream(log(0, "a"), log(1, "b/1"), log(2, "c")[:-20])
    stub.hang_up()
    stub.refuse(Overloaded("busy"))
    stub.stream(log(2, "c"), END)
    lines = await ask("follow_logs", JOB_ID)
    assert [line.seq for line in lines] == [0, 1, 2]
    assert [request.target.partition("cursor=")[2] for request in stub.requests] == ["", *["b%2F1"] * 3]


async def test_following_a_job_that_does_not_exist_fails_at_once(stub, ask):
    stub.refuse(NotFound("there is no such job"))
    with pytest.raises(NotFound):
        await ask("follow_logs", JOB_ID)


async def test_a_server_that_stays_away_ends_the_following(stub, client):
    client._patience = 0.2
    stub.stream(log(0, "a"))
    stub.script.extend([stub.script[0].__class__(hang_up=True)] * 50)
    with pytest.raises(Unreachable):
        list(client.follow_logs(JOB_ID))


async def test_events_end_with_the_outcome_and_repeat_nothing(stub, ask):
    stub.stream(state("ready"), state("running"))
    stub.stream(state("running"), state("succeeded"))
    events = await ask("events", JOB_ID)
    assert [event.state for event in events] == [State.READY, State.RUNNING, State.SUCCEEDED]


async def test_pages_of_jobs_are_followed_with_the_same_filters(stub, ask, job):
    stub.answer({"items": [job, job], "next_cursor": "n"})
    stub.answer({"items": [job]})
    found = await ask("iter_jobs", status="pending", label={"team": "a&b"})
    assert len(found) == 3
    assert [request.target for request in stub.requests] == [
        "/v1/jobs?status=pending&label=team%3Aa%26b",
        "/v1/jobs?status=pending&label=team%3Aa%26b&cursor=n",
    ]


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_events_are_read_however_they_are_cut(size):
    text = "id: 1\r\nevent: log\r\ndata: é\r\ndata: b\r\n\r\n: remark\n\nevent:x\ndata:y\n\nevent: half".encode()
    reader = EventReader()
    found = [event for at in range(0, len(text), size) for event in reader.feed(text[at : at + size])]
    assert found == [ServerSent("log", "é\nb", "1"), ServerSent("x", "y", None)]
