"""Explain over HTTP: who may ask, and what bad questions get."""

from .house import House, end, running_job


async def test_a_waiting_a_running_and_an_ended_job_are_explained(house: House):
    worker = await house.worker()
    job = await house.submit(concurrency_key="k")
    (grant,) = await worker.take()
    waiting = await house.submit(concurrency_key="k")
    answer = (await house.get(f"/v1/jobs/{waiting}/explain")).json
    assert [reason["code"] for reason in answer["reasons"]] == ["limit_running"]
    assert answer["reasons"][0]["held_by"]["jobs"][0]["id"] == job
    assert (await house.get(f"/v1/jobs/{job}/explain")).json["running"]["worker_id"] == worker.id
    assert await worker.finish(end(grant)) == []
    assert "running" in {part["what"] for part in (await house.get(f"/v1/jobs/{job}/explain")).json["spent"]}


async def test_a_job_of_another_tenant_an_unknown_one_and_no_id_are_not_found(house: House):
    await house.put_task("work")
    job = await house.submit()
    for path, who in ((job, "blue"), ("01a1e1fe-25d5-7000-850f-46ce55faf4d1", "red"), ("what", "red")):
        answer = await house.get(f"/v1/jobs/{path}/explain", who=who)
        assert (answer.status, answer.code) == (404, "not_found")


async def test_a_submit_that_nobody_could_run_is_accepted_with_a_warning(house: House):
    await house.put_task("lonely")
    await house.engine.prospects.refresh()
    answer = await house.post("/v1/jobs", {"task": "lonely"})
    assert answer.status == 201
    assert "has the task 'lonely'" in answer.json["warnings"][0]
    await house.worker("lonely")
    house.engine.prospects._read_at = 0.0
    assert "warnings" not in (await house.post("/v1/jobs", {"task": "lonely"})).json


async def test_a_timeline_tells_a_life_in_order_without_gaps(house: House):
    worker, grant = await running_job(house, delay=0.05)
    await worker.finish(end(grant, "error", retry_after=3600))
    told = (await house.get(f"/v1/jobs/{grant['id']}/timeline")).json
    items = told["items"]
    assert [item["until"] for item in items[:-1]] == [item["since"] for item in items[1:]]
    assert items[0]["what"] == "waiting_for_due"
    assert [item["attempt"] for item in items if item["what"] == "running"] == [1]
    assert (items[-1]["what"], "until" in items[-1]) == ("retry_waits", False)
    assert items[-1]["detail"]


async def test_the_timeline_of_an_ended_job_adds_up_to_its_life(house: House):
    worker, grant = await running_job(house)
    await worker.finish(end(grant))
    job = (await house.get(f"/v1/jobs/{grant['id']}")).json
    items = (await house.get(f"/v1/jobs/{grant['id']}/timeline")).json["items"]
    assert (items[0]["since"], items[-1]["until"]) == (job["created_at"], job["finished_at"])
    assert (await house.get(f"/v1/jobs/{grant['id']}/timeline", who="blue")).code == "not_found"
