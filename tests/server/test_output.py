"""Results, logs and events, as those who wait for them see them."""

import asyncio
from collections.abc import AsyncIterator

import msgspec

from horae.testing.waiting import wait_for

from .house import FakeWorker, House, end, running_job


async def events(house: House, path: str, **headers: str) -> AsyncIterator[tuple[str, dict, str | None]]:
    """(event, data, id) of a stream of server-sent events, to its end."""
    sent = {"authorization": f"Bearer {house.key('red')}"} | headers
    async with house.http.get(house.url + path, headers=sent) as response:
        assert response.headers["content-type"] == "text/event-stream"
        fields: dict[str, str] = {}
        async for line in response.content:
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name:
                fields[name] = value
            elif "event" in fields:
                yield fields["event"], msgspec.json.decode(fields["data"]), fields.get("id")
                fields = {}


async def log(worker: FakeWorker, grant: dict, *lines: str, start: int = 0) -> None:
    chunks = [{"id": grant["id"], "lane": grant["lane"], "attempt": grant["attempt"], "seq": start + n, "text": line}
              for n, line in enumerate(lines)]  # fmt: skip
    assert (await worker.call("/logs", {"chunks": chunks})).status == 204


async def test_a_result_is_waited_for_on_the_server_where_it_ends_and_on_another(house: House, neighbour: House):
    worker, grant = await running_job(house)
    waiting = [asyncio.create_task(s.get(f"/v1/jobs/{grant['id']}/result", wait=30)) for s in (house, neighbour)]
    await wait_for(lambda: house.engine.watch.anybody and neighbour.engine.watch.anybody)
    await worker.finish(end(grant, result=[1, 2]))
    for answer in await asyncio.gather(*waiting):
        assert (answer.json["state"], answer.json["result"]) == ("succeeded", [1, 2])


async def test_a_result_that_does_not_come_in_time_tells_the_state(house: House):
    _, grant = await running_job(house)
    answer = await house.get(f"/v1/jobs/{grant['id']}/result", wait=0.2)
    assert (answer.status, answer.json) == (200, {"id": grant["id"], "state": "running"})


async def test_a_failed_job_s_result_is_its_error(house: House):
    worker, grant = await running_job(house)
    await worker.finish(end(grant, "fatal", error={"kind": "KeyError", "message": "'x'", "traceback": "File …\x00"}))
    answer = (await house.get(f"/v1/jobs/{grant['id']}/result", wait=5)).json
    assert (answer["state"], answer["error"]["kind"]) == ("failed", "KeyError")
    assert "result" not in answer


async def test_a_null_result_is_null_and_not_missing(house: House):
    worker, grant = await running_job(house)
    await worker.finish(end(grant, result=None))
    assert (await house.get(f"/v1/jobs/{grant['id']}/result")).json["result"] is None


async def test_logs_are_paged_and_stored_once(house: House):
    worker, grant = await running_job(house)
    await log(worker, grant, *(f"line {n}\n" for n in range(25)))
    await log(worker, grant, "again\n", start=3)
    await log(worker, grant, "nul \x00\n", start=25)
    path, texts, cursor = f"/v1/jobs/{grant['id']}/logs", [], None
    for _ in range(10):
        page = (await house.get(path, limit=10, **({"cursor": cursor} if cursor else {}))).json
        texts += [item["text"] for item in page["items"]]
        cursor = page["next_cursor"]
        if not page["items"]:
            break
    assert texts == [*(f"line {n}\n" for n in range(25)), "nul \ufffd\n"]
    await worker.finish(end(grant))
    assert "next_cursor" not in (await house.get(path, cursor=cursor)).json


async def test_logs_are_followed_to_the_end_and_from_where_one_was(house: House):
    worker, grant = await running_job(house)
    await log(worker, grant, "one\n")
    path, seen = f"/v1/jobs/{grant['id']}/logs?follow=true", []
    async for name, data, event_id in events(house, path):
        seen.append((name, data.get("text") or data.get("state")))
        if data.get("text") == "one\n":
            first = event_id
            await log(worker, grant, "two\n", start=1)
        elif data.get("text") == "two\n":
            await log(worker, grant, "last\n", start=2)
            await worker.finish(end(grant))
    assert seen == [("log", "one\n"), ("log", "two\n"), ("log", "last\n"), ("end", "succeeded")]
    rest = [data.get("text") async for _, data, _ in events(house, path, **{"last-event-id": first})]
    assert rest == ["two\n", "last\n", None]
    again = [data.get("text") async for _, data, _ in events(house, f"{path}&cursor=0--1", **{"last-event-id": first})]
    assert again == rest


async def test_events_tell_every_state_until_the_outcome(house: House):
    worker = await house.worker()
    job_id = await house.submit(retry={"first": 0})
    states = []
    async for name, data, _ in events(house, f"/v1/jobs/{job_id}/events"):
        assert name == "state"
        states.append((data["state"], data["attempt"]))
        if states == [("ready", 0)]:
            (grant,) = await worker.take()
        elif states[-1] == ("running", 1):
            await worker.finish(end(grant, "error", retry_after=1))
        elif states[-1][0] == "scheduled":
            (grant,) = await worker.take(wait=20)
        elif states[-1] == ("running", 2):
            await worker.finish(end(grant))
    assert [s for s in states if s != ("ready", 1)] == [
        ("ready", 0), ("running", 1), ("scheduled", 1), ("running", 2), ("succeeded", 2),
    ]  # fmt: skip


async def test_events_of_an_ended_job_end_at_once(house: House):
    job_id = (await running_job(house))[1]["id"]
    other = await house.submit(delay=3600)
    await house.call("DELETE", f"/v1/jobs/{other}")
    assert [data["state"] async for _, data, _ in events(house, f"/v1/jobs/{other}/events")] == ["cancelled"]
    assert (await house.get(f"/v1/jobs/{job_id}")).json["state"] == "running"


async def test_a_log_is_downloaded_as_text_that_no_browser_runs(house: House):
    worker, grant = await running_job(house)
    await log(worker, grant, *(f"line {n}\n" for n in range(450)))
    answer = await house.get(f"/v1/jobs/{grant['id']}/logs", download="true")
    assert answer.body.decode().splitlines() == [f"line {n}" for n in range(450)]
    assert answer.headers["content-type"].startswith("text/plain")
    assert "attachment" in answer.headers["content-disposition"]
    assert (await house.get(f"/v1/jobs/{grant['id']}/logs", download="true", attempt=2)).body == b""
