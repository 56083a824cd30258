"""Callbacks over HTTP: the token is all it takes, and any server will do."""

import asyncio
from typing import Any

import pytest

from horae.model.roles import Role
from horae.testing.waiting import wait_for

from .house import FakeWorker, House, end

CALL = {"url": "https://example.com/hook", "callback": True}


async def called(house: House, **request: Any) -> tuple[FakeWorker, dict[str, Any], str]:
    """A worker that has made its call, its grant, and the path that the service was given."""
    answer = await house.put_task("call", http=CALL)
    assert answer.status == 200, answer
    worker = await house.worker(kinds=["http"])
    await house.submit("call", **request)
    (grant,) = await worker.take()
    brief = await worker.call("/briefs", {name: grant[name] for name in ("id", "lane", "attempt")})
    assert brief.status == 200, brief
    return worker, grant, brief.json["callback"]["url"]


async def state(house: House, grant: dict[str, Any]) -> str:
    return (await house.get(f"/v1/jobs/{grant['id']}")).json["state"]


async def test_whoever_has_the_token_ends_the_job(house: House):
    worker, grant, path = await called(house)
    assert await worker.finish(end(grant, "parked", error=None)) == []
    answer = await house.post(path, {"state": "succeeded", "result": {"n": 1}}, key="")
    assert (answer.status, answer.json) == (200, {"job_id": grant["id"], "attempt": 1, "end": "succeeded"})
    result = await house.get(f"/v1/jobs/{grant['id']}/result")
    assert result.json["result"] == {"n": 1}


async def test_whoever_waits_for_the_result_is_woken(house: House, neighbour: House):
    worker, grant, path = await called(house)
    await worker.finish(end(grant, "parked", error=None))
    waiting = asyncio.ensure_future(house.get(f"/v1/jobs/{grant['id']}/result", wait=20))
    await neighbour.post(path, {"state": "succeeded", "result": 5}, key="")
    assert (await waiting).json["result"] == 5


async def test_the_same_again_is_the_same_and_anything_else_a_conflict(house: House):
    worker, grant, path = await called(house)
    await worker.finish(end(grant, "parked", error=None))
    failure = {"state": "failed", "error": "no room", "retry": False}
    first = await house.post(path, failure, key="")
    assert (await house.post(path, failure, key="")).json == first.json
    assert (await house.post(path, {"state": "succeeded"}, key="")).code == "wrong_state"
    job = (await house.get(f"/v1/jobs/{grant['id']}")).json
    assert (job["state"], job["error"]) == ("failed", {"kind": "callback", "message": "no room"})


async def test_progress_shows_in_the_job(house: House):
    worker, grant, path = await called(house)
    await worker.finish(end(grant, "parked", error=None))
    answer = await house.post(path, {"progress": {"done": 3, "total": 4, "note": "nearly"}}, key="")
    assert answer.json == {"job_id": grant["id"], "attempt": 1}
    job = (await house.get(f"/v1/jobs/{grant['id']}")).json
    assert job["state"] == "running"
    assert (job["progress"]["done"], job["progress"]["total"], job["progress"]["note"]) == (3, 4, "nearly")


@pytest.mark.parametrize("token", ["x", "x" * 43, "%00", "..%2f..", "ü", "x" * 5000])
async def test_an_unknown_token_is_not_found(house: House, token: str):
    assert (await house.post(f"/v1/callbacks/{token}", {"state": "succeeded"}, key="")).code == "not_found"


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", {}, {"state": "done"}, {"state": "failed", "result": 1}, {"state": "succeeded", "error": "x"},
     {"state": "failed", "retry_after": -1}, {"state": "succeeded", "extra": 1}, {"progress": {"done": "much"}},
     {"progress": {}}, {"state": "succeeded", "progress": {"done": 1}}, {"state": "failed", "retry_after": "1e9d"}],
)  # fmt: skip
async def test_a_report_that_makes_no_sense_is_refused_and_ends_nothing(house: House, body: Any):
    _, grant, path = await called(house)
    answer = await house.post(path, body, key="")
    assert answer.status in {400, 422}, answer
    assert answer.code
    assert await state(house, grant) == "running"


async def test_a_report_that_is_too_large_is_refused(house: House):
    _, grant, path = await called(house)
    answer = await house.post(path, b'{"state":"succeeded","result":"' + b"x" * 3_000_000 + b'"}', key="")
    assert answer.code == "too_large"
    assert await state(house, grant) == "running"


async def test_a_token_is_good_for_no_other_tenant_and_for_nothing_else(house: House):
    _, grant, path = await called(house)
    token = path.rpartition("/")[2]
    assert (await house.get(f"/v1/jobs/{grant['id']}", key=token)).code == "unauthenticated"
    assert (await house.get(path, key="")).code == "method_not_allowed"
    assert token not in (await house.get(f"/v1/jobs/{grant['id']}")).body.decode()


async def test_cancelling_a_parked_job_is_done_when_it_is_answered(house: House):
    worker, grant, path = await called(house)
    await worker.finish(end(grant, "parked", error=None))
    cancelled = await house.call("DELETE", f"/v1/jobs/{grant['id']}", reason="not needed")
    assert (cancelled.status, cancelled.json["state"]) == (200, "cancelled")
    assert (await house.post(path, {"state": "succeeded"}, key="")).code == "not_found"


async def test_a_bulk_cancel_reaches_parked_jobs_too(house: House):
    worker, grant, _ = await called(house)
    await worker.finish(end(grant, "parked", error=None))
    asked = await house.post("/v1/jobs/actions", {"action": "cancel", "filter": {"task": "call"}})
    assert asked.status == 202, asked

    async def cancelled() -> bool:
        return await state(house, grant) == "cancelled"

    await wait_for(cancelled)


async def test_it_is_explained_and_shown_as_running(house: House):
    worker, grant, _ = await called(house)
    await worker.finish(end(grant, "parked", error=None))
    told = (await house.get(f"/v1/jobs/{grant['id']}/explain")).json
    assert told["reasons"][0]["code"] == "awaiting_callback"
    runs = (await house.get(f"/v1/jobs/{grant['id']}/executions")).json["items"]
    assert [run.get("end") for run in runs] == [None]


# Between the steps, somebody goes away.


async def test_the_server_that_gave_the_brief_is_gone_when_the_callback_comes(house: House, neighbour: House):
    worker, grant, path = await called(house)
    await worker.finish(end(grant, "parked", error=None))
    await house.server.stop()
    assert (await neighbour.post(path, {"state": "succeeded", "result": 1}, key="")).status == 200
    assert await state(neighbour, grant) == "succeeded"


async def test_the_server_is_gone_before_the_worker_parks(house: House, neighbour: House):
    worker, grant, path = await called(house)
    await house.server.stop()
    moved = FakeWorker(neighbour, worker.who, worker.id)
    assert (await neighbour.post(path, {"state": "succeeded", "result": 1}, key="")).status == 200
    assert await moved.finish(end(grant, "parked", error=None)) == []
    assert await state(neighbour, grant) == "succeeded"


async def test_the_worker_is_gone_before_the_callback_comes(house: House, conn: Any):
    worker, grant, path = await called(house)
    await worker.finish(end(grant, "parked", error=None))
    await conn.execute("update worker set expires_at = clock_timestamp() - interval '1 hour'")
    await _reclaimed(house, conn, worker)
    assert await state(house, grant) == "running"
    assert (await house.post(path, {"state": "succeeded"}, key="")).status == 200
    assert await state(house, grant) == "succeeded"


async def test_the_worker_is_gone_before_it_parks_and_the_job_goes_to_another(house: House, conn: Any):
    worker, grant, path = await called(house)
    await conn.execute("update worker set expires_at = clock_timestamp() - interval '1 hour'")
    await _reclaimed(house, conn, worker)
    assert (await house.post(path, {"state": "succeeded"}, key="")).code == "not_found"
    heir = await house.worker(kinds=["http"])
    (again,) = await heir.take()
    assert (again["id"], again["attempt"]) == (grant["id"], 2)


async def _reclaimed(house: House, conn: Any, worker: FakeWorker) -> None:
    async def lost() -> bool:
        leases = await conn.fetchval("select count(*) from lease where worker_id = $1", worker.id)
        return not leases and await conn.fetchval("select state = 'lost' from worker where id = $1", worker.id)

    await wait_for(lost)


async def test_no_role_is_needed_and_a_wrong_key_does_no_harm(house: House):
    _, _, path = await called(house)
    assert (await house.post(path, {"state": "succeeded"}, role=Role.VIEWER)).status == 200
    assert (await house.post(path, {"state": "succeeded"}, key="hk_wrong")).status == 200


@pytest.mark.parametrize("result", [b"1e999", b'"\xff"', b'"\\ud800"', b"[" * 500 + b"]" * 500])
async def test_a_result_that_is_no_json_is_refused_and_a_right_one_is_taken_after_it(house: House, result: bytes):
    _, grant, path = await called(house)
    answer = await house.post(path, b'{"state": "succeeded", "result": ' + result + b"}", key="")
    assert answer.code in ("invalid_input", "malformed_body")
    assert (await house.post(path, {"state": "succeeded", "result": 1}, key="")).status == 200
    assert await state(house, grant) == "succeeded"
