"""Lists of executions and jobs: every page, every filter."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from horae.engine import lists, livelists

from .house import House, end, running_job


async def test_executions_of_a_worker_are_paged_each_exactly_once(house: House, conn):
    worker = await house.worker()
    for _ in range(3):
        for _ in range(4):
            await house.submit()
        grants = await worker.take(4)
        while len(grants) < 4:
            grants += await worker.take(4)
        await worker.finish(*(end(grant) for grant in grants))
    await conn.execute("update outcome set finished_at = date_trunc('minute', finished_at)")
    seen, cursor = [], None
    for _ in range(20):
        more = {"cursor": cursor} if cursor else {}
        page = (await house.get("/v1/executions", worker_id=worker.id, limit=5, **more)).json
        seen += [item["job_id"] for item in page["items"]]
        cursor = page.get("next_cursor")
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 12


async def test_executions_show_what_runs_and_what_failed(house: House):
    worker, grant = await running_job(house)
    (running,) = (await house.get("/v1/executions", worker_id=worker.id)).json["items"]
    assert (running["job_id"], "end" in running) == (grant["id"], False)
    await worker.finish(end(grant, "error", retry_after=60))
    (failed,) = (await house.get("/v1/executions", worker_id=worker.id)).json["items"]
    assert (failed["end"], failed["error"]["kind"]) == ("error", "Boom")
    (same,) = (await house.get(f"/v1/jobs/{grant['id']}/executions")).json["items"]
    assert failed == same | {"task": "work"}


async def walk(house: House, limit: int = 500, **query) -> list[dict]:
    items, cursor = [], None
    for _ in range(200):
        page = (await house.get("/v1/jobs", limit=limit, **query, **({"cursor": cursor} if cursor else {}))).json
        assert len(page["items"]) <= limit
        items += page["items"]
        cursor = page.get("next_cursor")
        if cursor is None:
            return items
    raise AssertionError("the pages do not end")


async def test_thousands_of_jobs_are_paged_each_exactly_once_newest_first(house: House):
    await house.worker()
    for _ in range(3):
        bulk = await house.post("/v1/jobs/bulk", [{"task": "work", "delay": n % 2 * 3600} for n in range(2000)])
        assert bulk.json["accepted"] == 2000
    ids = [job["id"] for job in await walk(house, 487)]
    assert len(ids) == len(set(ids)) == 6000
    assert ids == sorted(ids, reverse=True)
    assert len(await walk(house, status="ready")) == 3000
    assert len(await walk(house, status="pending")) == 6000
    assert await walk(house, status="blocked,failed") == []


@pytest.fixture
async def mixed(house: House) -> dict[str, str]:
    """Jobs in every state a job can be in, by its name."""
    worker = await house.worker("work", "other")
    jobs = {"succeeded": await house.submit(queue="q"), "failed": await house.submit(labels={"k": "v"})}
    jobs["retrying"] = await house.submit()
    jobs["running"] = await house.submit("other")
    grants: dict[str, dict] = {}
    while len(grants) < 4:
        grants |= {grant["id"]: grant for grant in await worker.take(10)}
    await worker.finish(end(grants[jobs["succeeded"]]), end(grants[jobs["failed"]], "fatal"),
                        end(grants[jobs["retrying"]], "error", retry_after=3600))  # fmt: skip
    jobs["cancelled"] = await house.submit(labels={"k": "v", "l": "w"})
    await house.call("DELETE", f"/v1/jobs/{jobs['cancelled']}")
    jobs["scheduled"] = await house.submit(delay=3600)
    jobs["ready"] = await house.submit("other", queue="q")
    jobs["worker"] = str(worker.id)
    return jobs


async def test_filters_find_what_they_say(house: House, mixed: dict[str, str]):
    async def names(**query) -> set[str]:
        found = {job["id"] for job in await walk(house, 2, **query)}
        return {name for name, job_id in mixed.items() if job_id in found}

    for state in ("succeeded", "failed", "cancelled", "running", "ready"):
        assert await names(status=state) == {state}
    assert await names(status="scheduled") == {"scheduled", "retrying"}
    assert await names(status="pending") == {"scheduled", "retrying", "ready"}
    assert await names(status="failed,running") == {"failed", "running"}
    assert await names(task="other") == {"running", "ready"}
    assert await names(queue="q") == {"succeeded", "ready"}
    assert await names(task="other", queue="q", status="ready") == {"ready"}
    assert await names(label="k:v") == {"failed", "cancelled"}
    assert await names(label="k:x") == set()
    assert await names(label="k:v", status="failed") == {"failed"}
    assert await names(worker=mixed["worker"], status="running") == {"running"}
    assert await names(worker=mixed["worker"], status="succeeded") == {"succeeded"}
    assert await names(worker=mixed["worker"]) == {"succeeded", "failed", "running"}
    assert await names(user="red-admin") == mixed.keys() - {"worker"}
    assert await names(user="nobody") == set()
    assert await names(task="nosuch") == set()


async def test_jobs_that_live_come_in_the_order_in_which_they_stand(house: House, mixed: dict[str, str]):
    soon = await house.submit(delay=60)
    urgent = await house.submit(priority=9)
    found = [job["id"] for job in await walk(house, 2, status="failed,scheduled,ready,running")]
    live = [mixed["running"], urgent, mixed["ready"], soon]
    assert found[:4] == live
    assert set(found[4:6]) == {mixed["retrying"], mixed["scheduled"]}
    assert found[6:] == [mixed["failed"]]
    found = [job["id"] for job in await walk(house, 1, status="failed,ready")]
    assert found == [urgent, mixed["ready"], mixed["failed"]]


async def test_a_job_that_ends_while_its_page_is_read_comes_once(house: House, monkeypatch: pytest.MonkeyPatch):
    """It was read as one that runs; then it ends, and those that have ended are read."""
    worker, grant = await running_job(house)
    real = livelists.LiveLists._ended

    async def ended(*asked: Any) -> Any:
        await worker.finish(end(grant))
        return await real(*asked)

    monkeypatch.setattr(livelists.LiveLists, "_ended", ended)
    (found,) = (await house.get("/v1/jobs", status="running,succeeded")).json["items"]
    assert (found["id"], found["state"]) == (grant["id"], "succeeded")


async def test_more_lanes_than_are_merged_at_once_are_listed_each_exactly_once(
    house: House, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(livelists, "LANES", 3)
    await house.worker()
    ids = [await house.submit(queue=f"q{n}", delay=late) for n in range(8) for late in (0, 0, 3600)]
    for status, number in (("ready", 16), ("scheduled", 8), ("pending", 24)):
        for limit in (1, 5, 500):
            found = [job["id"] for job in await walk(house, limit, status=status)]
            assert len(found) == len(set(found)) == number
            assert set(found) <= set(ids)
    assert len(await walk(house, 2, who="root", status="ready")) == 16


async def test_what_waits_is_found_though_many_came_and_went_since(house: House, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lists, "LOOK_AT", 10)
    monkeypatch.setattr(livelists, "MANY", 1)
    worker = await house.worker()
    waiting = await house.submit(delay=3600)
    for _ in range(20):
        await house.submit()
    done = 0
    while done < 20:
        grants = await worker.take(10)
        await worker.finish(*(end(grant) for grant in grants))
        done += len(grants)
    for more in ({}, {"text": waiting}, {"who": "root"}):
        page = (await house.get("/v1/jobs", status="scheduled", limit=1, **more)).json
        assert [job["id"] for job in page["items"]] == [waiting]


async def test_a_cursor_of_another_list_is_refused(house: House, mixed: dict[str, str]):
    job_id = mixed["ready"]
    wrong = ["", "ready_0_1_2", "ready_0_x_0_", f"ready_0_{2**31}_0_", f"scheduled_0_0_{10**18}_", "nowhere_0_0_0_"]
    for beginning in wrong:
        answer = await house.get("/v1/jobs", status="ready", cursor=beginning + job_id)
        assert answer.code == "invalid_input", beginning
    assert (await house.get("/v1/jobs", cursor=f"ready_0_0_0_{job_id}")).code == "invalid_input"


async def test_executions_of_an_idle_worker_are_looked_for_in_bounded_steps(
    house: House, monkeypatch: pytest.MonkeyPatch, conn: Any
):
    worker, grant = await running_job(house)
    await worker.finish(end(grant))
    await conn.execute("update outcome set finished_at = finished_at - interval '5 hours'")
    await conn.execute("""
        insert into flow
        select 0, 3600, date_trunc('hour', now()) - n * interval '1 hour', 0, 0, 1000, 0, 0, 0, 0, 0, 0, '{}'
        from generate_series(0, 9) n
        on conflict (tenant_id, span, bucket) do update set succeeded = 1000""")
    monkeypatch.setattr(lists, "ENDED", (100, 1000))
    seen, cursor, pages = [], None, 0
    while pages < 30:
        more = {"cursor": cursor} if cursor else {}
        page = (await house.get("/v1/executions", worker_id=worker.id, limit=5, **more)).json
        seen += [item["job_id"] for item in page["items"]]
        cursor, pages = page.get("next_cursor"), pages + 1
        if cursor is None:
            break
    assert seen == [grant["id"]]
    assert 4 <= pages < 30


async def test_times_bound_a_list(house: House, mixed: dict[str, str]):
    now = datetime.now(UTC)
    assert len(await walk(house, since=(now - timedelta(hours=1)).isoformat())) == 7
    assert len(await walk(house, until=(now + timedelta(hours=1)).isoformat())) == 7
    assert await walk(house, since=(now + timedelta(hours=1)).isoformat()) == []
    assert await walk(house, until=(now - timedelta(hours=1)).isoformat()) == []
    middle = (await house.get(f"/v1/jobs/{mixed['cancelled']}")).json["created_at"]
    later = {job["id"] for job in await walk(house, since=middle)}
    assert {mixed["cancelled"], mixed["scheduled"], mixed["ready"]} <= later
    assert mixed["succeeded"] not in later


async def test_a_key_of_no_tenant_lists_all_tenants_in_one_order(house: House):
    for who in ("red", "blue"):
        await house.worker(who=who)
    ids = [await house.submit(who=who) for _ in range(7) for who in ("red", "blue")]
    assert [job["id"] for job in await walk(house, 3, who="root")] == sorted(ids, reverse=True)
    assert len(await walk(house, 3, who="root", tenant="blue")) == 7


async def test_the_user_filter_finds_jobs_of_all_keys_of_that_name(house: House):
    await house.worker()
    keys = [(await house.post("/v1/keys", {"name": "ci", "role": "submitter"})).json["secret"] for _ in range(2)]
    ids = [(await house.post("/v1/jobs", {"task": "work"}, key=key)).json["id"] for key in keys]
    assert {job["id"] for job in await walk(house, user="ci")} == set(ids)
    assert {job["user"] for job in await walk(house, user="ci")} == {"ci"}


async def test_text_finds_jobs_by_what_stands_in_them(house: House, mixed: dict[str, str]):
    async def found(text: str, **more) -> set[str]:
        return {job["id"] for job in await walk(house, 2, text=text, **more)}

    needle = await house.submit(params={"note": "a Needle in the hay"}, labels={"team": "mowers"})
    assert await found("needle IN") == await found("Mowers") == await found(needle) == {needle}
    assert await found("other") == {mixed["running"], mixed["ready"]}
    assert await found("it broke") == {mixed["failed"]}
    assert await found("it broke", status="cancelled") == set()
    assert await found("100%") == await found("' or true --") == set()
    assert (await house.get("/v1/jobs", text="x" * 201)).code == "invalid_input"


async def test_all_tenants_are_listed_in_one_order_by_every_filter(house: House, neighbour: House):
    mixed: dict[str, list[str]] = {"ready": [], "succeeded": [], "failed": []}
    for who in ("red", "blue"):
        worker = await house.worker(who=who)
        mixed["succeeded"].append(await house.submit(who=who))
        mixed["failed"].append(await house.submit(who=who))
        grants: dict[str, dict] = {}
        while len(grants) < 2:
            grants |= {grant["id"]: grant for grant in await worker.take(2)}
        await worker.finish(end(grants[mixed["succeeded"][-1]]), end(grants[mixed["failed"][-1]], "fatal"))
        mixed["ready"] += [await house.submit(who=who) for _ in range(3)]
    for state, ids in mixed.items():
        listed = [job["id"] for job in await walk(neighbour, 2, who="root", status=state)]
        assert listed == sorted(ids, reverse=state != "ready")
    assert len(await walk(house, 3, who="root", task="work")) == len(await walk(house, 3, who="root", text="w")) == 10
