"""Placement, moving and maintenance over HTTP."""

import pytest

from horae.model.roles import Role

from .house import House, end, running_job


async def test_a_job_tells_where_it_wants_to_run(house: House):
    await house.put_task("work", requires={"labels": {"os": "linux"}, "gpu": 1}, spread=3)
    job_id = await house.submit(requires={"memory": "1GiB"}, prefers={"region": "eu"}, sticky="me")
    job = (await house.get(f"/v1/jobs/{job_id}")).json
    assert job["requires"] == {"labels": {"os": "linux"}, "gpu": 1.0, "memory": 2**30}
    assert (job["prefers"], job["spread"], job["sticky"]) == ({"region": "eu"}, 3, "me")
    assert "avoids" not in job


@pytest.mark.parametrize(
    "wish",
    [{"requires": {"memory": "lots"}}, {"requires": {"slots": 0}}, {"requires": {"cpu": -1}}, {"spread": 0},
     {"sticky": ""}, {"prefers": {"labels": {"a b": "c"}}}, {"requires": {"cores": 3}}],
)  # fmt: skip
async def test_a_wish_that_makes_no_sense_is_refused(house: House, wish):
    await house.put_task("work")
    answer = await house.post("/v1/jobs", {"task": "work", **wish})
    assert (answer.status, answer.code) in {(400, "invalid_input"), (400, "malformed_body")}


async def test_a_job_goes_only_to_a_worker_that_has_what_it_requires(house: House):
    plain = await house.worker()
    able = await house.worker(labels={"os": "linux"}, memory=2**31, gpus=1)
    job_id = await house.submit(requires={"labels": {"os": "linux"}, "memory": "2GiB", "gpu": 0.5, "slots": 2})
    assert await plain.take(wait=0) == []
    (grant,) = await able.take()
    assert grant["id"] == job_id
    assert (grant["slots"], grant["memory"], grant["gpu"]) == (2, 2**31, 0.5)


async def test_a_heavy_job_is_not_granted_beside_what_the_worker_holds(house: House):
    worker = await house.worker(memory=1000)
    job_id = await house.submit(requires={"memory": 600})
    assert (await worker.exchange(5, free={"slots": 9, "memory": 500}))["jobs"] == []
    (grant,) = (await worker.exchange(5, free={"slots": 9, "memory": 700}))["jobs"]
    assert grant["id"] == job_id


async def test_a_running_job_is_moved(house: House):
    worker, grant = await running_job(house)
    refused = await house.post(f"/v1/jobs/{grant['id']}/move", {"reason": "hot"})
    assert (refused.status, refused.code) == (409, "nowhere_to_run")
    assert "no other worker serves task work" in refused.json["detail"]
    other = await house.worker()
    answer = await house.post(f"/v1/jobs/{grant['id']}/move", {"reason": "hot"})
    assert (answer.status, answer.json["state"]) == (202, "running")
    (order,) = (await worker.exchange())["cancel"]
    assert order == {"id": grant["id"], "attempt": 1, "reason": "hot", "move": True}
    assert await worker.finish(end(grant, "moved")) == []
    (again,) = await other.take()
    assert (again["id"], again["attempt"]) == (grant["id"], 2)


async def test_another_tenants_job_is_not_there_to_be_moved(house: House):
    _, grant = await running_job(house)
    assert (await house.post(f"/v1/jobs/{grant['id']}/move", who="blue")).status == 404
    assert (await house.post(f"/v1/jobs/{grant['id']}/move", role=Role.VIEWER)).status == 403


async def test_maintenance_is_seen_in_the_fleet(house: House):
    worker, grant = await running_job(house)
    await house.worker()
    answer = await house.post(f"/v1/workers/{worker.id}/drain", {"reason": "new disk", "lasts": "2h", "move": True})
    assert (answer.status, answer.json["moving"], answer.json["staying"]) == (200, 1, 0)
    seen = (await house.get(f"/v1/workers/{worker.id}")).json
    assert (seen["state"], seen["steered_by"], seen["steer_reason"]) == ("draining", "red-admin", "new disk")
    assert "steer_until" in seen
    assert (await worker.exchange())["cancel"][0]["move"]
    await house.post(f"/v1/workers/{worker.id}/resume")
    seen = (await house.get(f"/v1/workers/{worker.id}")).json
    assert (seen["state"], "steered_by" in seen) == ("active", False)
    assert grant["id"]


@pytest.mark.parametrize("body", [{"lasts": "soon"}, {"lasts": -1}, {"reason": "x" * 501}, {"why": "?"}])
async def test_a_drain_that_makes_no_sense_is_refused(house: House, body):
    worker = await house.worker()
    assert (await house.post(f"/v1/workers/{worker.id}/drain", body)).status == 400
    assert (await house.get(f"/v1/workers/{worker.id}")).json["state"] == "active"
