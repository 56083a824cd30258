"""What is known of workers: their history, and what each of them runs."""

import pytest

from horae.model.roles import Role

from .house import FakeWorker, House, end, running_job


async def events(house: House, worker: FakeWorker, **more: object) -> list[str]:
    answer = await house.get(f"/v1/workers/{worker.id}/history", **more)
    assert answer.status == 200, answer
    return [item["event"] for item in answer.json["items"]]


async def test_workers_are_listed_page_by_page_to_the_last(house: House):
    joined = [(await house.worker(name=f"w{number}")).id for number in range(5)]
    page = (await house.get("/v1/workers", limit=2)).json
    listed = [item["id"] for item in page["items"]]
    while cursor := page.get("next_cursor"):
        page = (await house.get("/v1/workers", limit=2, cursor=cursor)).json
        listed += [item["id"] for item in page["items"]]
    assert listed == joined[::-1]


async def test_a_place_in_the_list_of_workers_that_it_never_gave_is_refused(house: House):
    answer = await house.get("/v1/workers", cursor="w1")
    assert (answer.status, answer.json["field"]) == (400, "cursor")


async def test_a_workers_life_is_told_latest_first(house: House):
    worker = await house.worker()
    await house.post(f"/v1/workers/{worker.id}/drain", {"reason": "new disk", "lasts": "2h"})
    await house.post(f"/v1/workers/{worker.id}/resume")
    await worker.call("/leave")
    told = (await house.get(f"/v1/workers/{worker.id}/history")).json["items"]
    assert [item["event"] for item in told] == ["left", "resumed", "drained", "joined"]
    assert (told[2]["who"], told[2]["reason"], told[2]["seconds"]) == ("red-admin", "new disk", 7200.0)
    assert told[1]["who"] == "red-admin"


async def test_a_worker_that_is_well_writes_nothing(house: House):
    worker = await house.worker()
    for _ in range(3):
        await worker.heartbeat(running=1)
    assert await events(house, worker) == ["joined"]


async def test_late_heartbeats_are_summed_up(house: House, conn):
    worker = await house.worker()
    for silence in (9, 8):
        await conn.execute("update worker set seen_at = seen_at - $1 * interval '1 second'", float(silence))
        assert (await worker.heartbeat()).status == 200
    late = [i for i in (await house.get(f"/v1/workers/{worker.id}/history")).json["items"] if i["event"] == "late"]
    # Two spans when the ten minutes end in between.
    assert sum(item.get("times", 1) for item in late) == 2
    assert max(item["seconds"] for item in late) >= 9


async def test_the_end_of_a_maintenance_is_told(house: House, conn):
    worker = await house.worker()
    await house.post(f"/v1/workers/{worker.id}/drain", {"reason": "new disk", "lasts": "2h"})
    await conn.execute("update worker set steer_until = now() - interval '1 second'")
    await worker.heartbeat()
    assert await events(house, worker) == ["resumed", "drained", "joined"]


async def test_the_one_before_it_is_part_of_a_workers_history(house: House):
    first = await house.worker(name="mill", host="h1")
    await first.call("/leave")
    await house.worker(name="mill", host="h2")
    second = await house.worker(name="mill", host="h1")
    told = (await house.get(f"/v1/workers/{second.id}/history")).json["items"]
    assert [(item["worker_id"], item["event"]) for item in told] == [
        (second.id, "joined"), (first.id, "left"), (first.id, "joined"),
    ]  # fmt: skip


async def test_a_lost_worker_is_told_as_lost(house: House, conn):
    worker = await house.worker()
    await conn.execute("update worker set expires_at = now() - interval '1 minute'")
    reclaim = next(loop.duty for loop in house.engine.duties if loop.duty.name == "reclaim")
    await reclaim.run_once()
    assert (await events(house, worker))[0] == "lost"


async def test_probation_is_told_once_however_often_it_probes(house: House):
    worker = await house.worker()
    note = house.engine.stores.explain.worker_note_probing
    for probing, probation in ((True, True), (False, True), (True, True), (False, False), (False, False)):
        await note([(worker.id, probing, probation)])
    assert await events(house, worker) == ["trusted", "probation", "joined"]


async def test_a_worker_on_probation_says_so(house: House):
    worker = await house.worker()
    await house.engine.stores.explain.worker_note_probing([(worker.id, True, True)])
    assert (await house.get(f"/v1/workers/{worker.id}")).json["probation"] is True


async def test_another_tenants_worker_has_no_history_here(house: House):
    worker = await house.worker()
    assert (await house.get(f"/v1/workers/{worker.id}/history", who="blue")).code == "not_found"
    assert (await house.get(f"/v1/workers/{worker.id}/history", role=Role.WORKER)).code == "forbidden"
    assert await events(house, worker, who="root") == ["joined"]


async def test_old_events_are_forgotten(house: House, conn):
    worker = await house.worker()
    await conn.execute("update worker_event set at = at - interval '40 days'")
    await house.engine.stores.workers.worker_clean(7 * 86_400.0, 30 * 86_400.0)
    assert await events(house, worker) == []


async def test_a_list_tells_what_each_worker_runs(house: House):
    worker, grant = await running_job(house)
    idle = await house.worker()
    listed = {item["id"]: item for item in (await house.get("/v1/workers", runs="true")).json["items"]}
    assert listed[worker.id]["runs"] == [{"task": "work", "jobs": 1}]
    assert listed[idle.id]["runs"] == []
    assert "runs" not in (await house.get("/v1/workers")).json["items"][0]
    await worker.finish(end(grant))


@pytest.mark.parametrize(("who", "seen"), [("red", [{"task": "work", "jobs": 1}]), ("blue", []), ("root", None)])
async def test_of_a_shared_worker_each_tenant_sees_its_own_jobs(house: House, who: str, seen: list[dict[str, object]]):
    shared = await house.worker(who="root")
    await house.submit(who="red")
    assert len(await shared.take()) == 1
    (listed,) = (await house.get("/v1/workers", runs="true", who=who)).json["items"]
    assert listed["runs"] == (seen if seen is not None else [{"task": "work", "jobs": 1}])
