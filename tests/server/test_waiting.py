"""Who waits for what: in a queue, behind a limit, and what an emergency stop would reach."""

from horae.model.roles import Role
from horae.testing.waiting import wait_for

from .house import House, end


async def waiting(house: House, path: str = "/v1/queues/default/waiting", **more: object) -> list[dict[str, object]]:
    answer = await house.get(path, **more)
    assert answer.status == 200, answer
    return answer.json["items"]


async def test_those_in_line_are_told_longest_waiting_first(house: House):
    await house.worker("work", "other", slots=1)
    first = await house.submit("work")
    await house.submit("other", concurrency_key="k")
    await house.submit("other", concurrency_key="k")
    await house.engine.prospects.refresh()
    one, two = await waiting(house)
    assert (one["task"], one["jobs"], one["job_id"]) == ("work", 1, first)
    assert (two["task"], two["jobs"], two["key"]) == ("other", 2, "k")
    assert not {"gate", "limit", "no_worker", "more"} & {*one, *two}
    assert await waiting(house, "/v1/queues/reports/waiting") == []


async def test_it_is_told_what_holds_them(house: House):
    worker = await house.worker("work", "held", "slow")
    await house.put_task("rare")
    gate = (await house.post("/v1/gates", {"task": "held", "reason": "r"})).json["id"]
    await house.call("PUT", "/v1/limits/slow", {"task": "slow", "max_running": 1})
    for task in ("slow", "slow", "held", "rare"):
        await house.submit(task)
    (granted,) = await worker.take(5)
    await house.engine.prospects.refresh()
    told = {lane["task"]: lane for lane in await waiting(house)}
    assert told["held"]["gate"] == gate
    assert told["slow"]["limit"] == "slow"
    assert told["rare"]["no_worker"] is True
    await worker.finish(end(granted))


async def test_a_tenant_sees_only_its_own_line(house: House):
    await house.worker(who="root")
    await house.submit(who="red")
    await house.submit(who="blue")
    assert [lane["tenant"] for lane in await waiting(house, who="blue")] == ["blue"]
    assert {lane["tenant"] for lane in await waiting(house, who="root")} == {"red", "blue"}
    assert [lane["tenant"] for lane in await waiting(house, who="root", tenant="red")] == ["red"]
    assert (await house.get("/v1/queues/default/waiting", tenant="red", who="blue")).code == "forbidden"


async def test_a_queue_names_its_oldest_job(house: House):
    await house.worker()
    job_id = await house.submit()

    async def listed() -> bool:
        found = (await house.get("/v1/queues")).json["items"]
        return bool(found) and found[0].get("oldest_job") == job_id and "oldest_at" in found[0]

    await wait_for(listed)


async def test_a_queues_jobs_are_told_step_by_step(house: House):
    worker = await house.worker()
    await house.submit(queue="reports")
    await worker.finish(*[end(grant) for grant in await worker.take()])

    async def told() -> bool:
        found = (await house.get("/v1/queues/reports/statistics")).json
        return sum(step.get("succeeded", 0) for step in found["items"]) == 1

    await wait_for(told)
    assert sum(s.get("submitted", 0) for s in (await house.get("/v1/queues/x/statistics")).json["items"]) == 0
    assert (await house.get("/v1/queues/reports/statistics", since="tomorrow")).code == "invalid_input"


async def test_a_limit_tells_who_runs_under_it_and_who_waits_behind_it(house: House):
    worker = await house.worker("slow", "free")
    await house.call("PUT", "/v1/limits/slow", {"task": "slow", "max_running": 1})
    for task in ("slow", "slow", "slow", "free"):
        await house.submit(task)
    granted = await worker.take(5)
    use = (await house.get("/v1/limits/slow/use")).json
    (holder,) = use["holders"]
    assert (holder["task"], holder["worker_id"], use["limit"]["running"]) == ("slow", worker.id, 1)
    assert holder["job_id"] in {grant["id"] for grant in granted}
    (lane,) = use["waiting"]
    assert (lane["task"], lane["jobs"], lane["limit"]) == ("slow", 2, "slow")
    assert (await house.get("/v1/limits/nosuch/use")).code == "not_found"


async def test_a_limit_for_all_tells_a_tenant_of_its_own_jobs_only(house: House):
    worker = await house.worker(who="root")
    await house.call("PUT", "/v1/limits/all", {"max_running": 1}, who="root")
    await house.submit(who="red")
    assert len(await worker.take()) == 1
    await house.submit(who="red")
    seen = (await house.get("/v1/limits/all/use", who="blue")).json
    assert (seen["holders"], seen["waiting"]) == ([], [])
    assert len((await house.get("/v1/limits/all/use", who="red")).json["waiting"]) == 1


async def test_a_stop_says_beforehand_how_far_it_reaches(house: House):
    worker = await house.worker("work")
    for queue in ("default", "default", "reports"):
        await house.submit(queue=queue)
    assert len(await worker.take(1)) == 1

    async def reaches() -> bool:
        found = (await house.get("/v1/stop")).json
        counts = (found["pending"], found["running"], found["workers"], found["tenants"], found["queues"])
        return counts == (2, 1, 1, 1, 2) and found["tenant"] == "red"

    await wait_for(reaches)
    assert (await house.get("/v1/stop", who="blue")).json["pending"] == 0
    assert (await house.get("/v1/stop", role=Role.WORKER)).code == "forbidden"


async def test_a_stop_in_force_is_named_until_it_ends(house: House):
    assert "stops" not in (await house.get("/v1/stop")).json
    gate = (await house.post("/v1/stop", {"reason": "smoke"})).json["id"]
    assert [stop["id"] for stop in (await house.get("/v1/stop")).json["stops"]] == [gate]
    assert "stops" not in (await house.get("/v1/stop", who="root")).json
    assert [stop["id"] for stop in (await house.get("/v1/stop", who="root", tenant="red")).json["stops"]] == [gate]
    await house.call("DELETE", "/v1/stop")
    assert "stops" not in (await house.get("/v1/stop")).json


async def test_gates_are_listed_by_tenant(house: House):
    for who in ("red", "blue", "root"):
        await house.post("/v1/gates", {"task": "work", "reason": who}, who=who)
    reasons = [gate["reason"] for gate in (await house.get("/v1/gates", who="root", tenant="red")).json["items"]]
    assert reasons == ["root", "red"]
