"""Change, cancel, retry, clone, and submit under a key, over HTTP."""

import asyncio

from .house import House, end, running_job


async def test_a_patch_moves_a_job(house: House):
    worker = await house.worker(queues=["other"])
    job_id = await house.submit(params={"a": 1})
    changes = {
        "queue": "other",
        "delay": "1h",
        "priority": 9,
        "params": {"a": 2},
        "labels": {"x": "y"},
        "timeout": "5m",
    }
    changed = await house.call("PATCH", f"/v1/jobs/{job_id}", changes)
    job = changed.json
    assert (changed.status, job["state"], job["queue"], job["priority"]) == (200, "scheduled", "other", 9)
    assert (job["params"], job["labels"], job["timeout"]) == ({"a": 2}, {"x": "y"}, "5m")
    assert (await house.call("PATCH", f"/v1/jobs/{job_id}", {"delay": 0})).json["state"] == "ready"
    assert [grant["id"] for grant in await worker.take()] == [job_id]
    assert (await house.call("PATCH", f"/v1/jobs/{job_id}", {"priority": 1})).code == "wrong_state"


async def test_a_bad_patch_changes_nothing(house: House):
    await house.worker()
    job_id = await house.submit(params={"a": 1})
    before = (await house.get(f"/v1/jobs/{job_id}")).json
    for body in (b"{", b"[]", b'{"task": "x"}', b'{"priority": 0}', b'{"run_at": "x"}', b'{"params": 1}'):
        for method, path in (("PATCH", ""), ("POST", "/clone")):
            assert (await house.call(method, f"/v1/jobs/{job_id}{path}", body)).status == 400, (method, body)
    assert (await house.get(f"/v1/jobs/{job_id}")).json == before


async def test_cancel_pending_running_and_ended(house: House):
    worker, grant = await running_job(house)
    asked = await house.call("DELETE", f"/v1/jobs/{grant['id']}", reason="r")
    assert (asked.status, asked.json["state"], asked.json["cancel_requested"]) == (202, "running", True)
    await worker.finish(end(grant, "cancelled"))
    assert (await house.call("DELETE", f"/v1/jobs/{grant['id']}")).code == "wrong_state"
    pending = await house.submit(delay=60)
    done = await house.call("DELETE", f"/v1/jobs/{pending}", reason="no need")
    assert (done.status, done.json["state"], done.json["error"]["message"]) == (200, "cancelled", "no need")


async def test_retry_with_changes_and_clone(house: House):
    worker, grant = await running_job(house, params={"a": 1})
    await worker.finish(end(grant, "fatal"))
    retried = await house.post(f"/v1/jobs/{grant['id']}/retry", {"params": {"a": 2}, "priority": 8})
    assert (retried.status, retried.json["state"], retried.json["params"]) == (200, "ready", {"a": 2})
    (again,) = await worker.take()
    assert (again["id"], again["attempt"], again["params"]) == (grant["id"], 2, {"a": 2})
    await worker.finish(end(again))
    assert (await house.post(f"/v1/jobs/{grant['id']}/retry")).code == "wrong_state"
    cloned = await house.post(f"/v1/jobs/{grant['id']}/clone")
    assert cloned.status == 201
    clone = (await house.get(f"/v1/jobs/{cloned.json['id']}")).json
    assert (clone["params"], clone["priority"], clone["cloned_from"]) == ({"a": 2}, 8, grant["id"])


async def test_an_idempotency_key_over_http(house: House):
    await house.worker()
    asked = [house.post("/v1/jobs", b'{"task":"work"}', headers={"idempotency-key": "k"}) for _ in range(16)]
    answers = await asyncio.gather(*asked)
    assert sorted(answer.status for answer in answers) == [*[200] * 15, 201]
    assert len({answer.json["id"] for answer in answers}) == 1
    other = await house.post("/v1/jobs", b'{"task": "work"}', headers={"idempotency-key": "k"})
    assert (other.status, other.code) == (422, "idempotency_conflict")
    await house.worker(who="blue")
    blue = await house.post("/v1/jobs", b'{"task":"work"}', who="blue", headers={"idempotency-key": "k"})
    assert blue.status == 201
