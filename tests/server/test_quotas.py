"""Quotas over HTTP: the calls, the headers on every submit under one, and how the SDK bears with a refusal."""

import asyncio

import pytest

from horae.client.client import Client
from horae.model.errors import QuotaExceeded
from horae.model.job import JobRequest
from horae.model.roles import Role
from horae.testing.waiting import wait_for

from .house import House


async def set_quota(house: House, scope: str, name: str, who: str = "root", **limits) -> None:
    of = {} if scope == "tenant" else {"tenant": "red"}
    answer = await house.call("PUT", f"/v1/quotas/{scope}/{name}", limits, who=who, **of)
    assert answer.status == 200, answer
    await wait_for(lambda: any(q.name == name for q in house.engine.admission._gauges), what="the quota to be loaded")


@pytest.fixture
async def red(house: House) -> House:
    await house.put_task("work")
    return house


async def test_a_submit_under_no_quota_has_no_such_headers(red: House):
    await set_quota(red, "queue", "mail", submit_rate=5)
    answer = await red.post("/v1/jobs", {"task": "work"})
    assert answer.status == 201
    assert "ratelimit" not in answer.headers
    assert "ratelimit-policy" not in answer.headers


async def test_every_submit_under_a_quota_says_what_is_left(red: House):
    await set_quota(red, "tenant", "red", submit_rate="60/h", burst=3, max_pending=100)
    answer = await red.post("/v1/jobs", {"task": "work"})
    assert answer.headers["ratelimit-policy"] == '"tenant";q=1;w=60, "tenant-pending";q=100'
    assert answer.headers["ratelimit"].startswith('"tenant";r=2;t=60, "tenant-pending";r=99')
    bulk = await red.post("/v1/jobs/bulk", [{"task": "work"}] * 4)
    assert (bulk.status, bulk.json["accepted"], bulk.json["refused"]) == (200, 2, 2)
    assert [item.get("code") for item in bulk.json["items"]] == [None, None, "quota_exceeded", "quota_exceeded"]
    assert 50 < bulk.json["items"][3]["retry_after"] <= 60
    assert bulk.headers["ratelimit"].startswith('"tenant";r=0;t=')
    refused = await red.post("/v1/jobs", {"task": "work"})
    assert (refused.status, refused.code) == (429, "quota_exceeded")
    assert 50 < int(refused.headers["retry-after"]) <= 60
    assert refused.headers["ratelimit-policy"] == '"tenant";q=1;w=60'
    assert refused.headers["ratelimit"] == f'"tenant";r=0;t={refused.headers["retry-after"]}'
    assert (refused.json["scope"], refused.json["limit"], refused.json["remaining"]) == ("tenant", 1, 0)


async def test_a_quota_set_on_one_server_holds_on_the_other_and_so_does_its_end(red: House, neighbour: House):
    await set_quota(red, "user", "red-admin", submit_rate="1/h", burst=1)
    await wait_for(lambda: neighbour.engine.admission.active)
    assert (await neighbour.post("/v1/jobs", {"task": "work"})).status == 201
    assert (await neighbour.post("/v1/jobs", {"task": "work"})).code == "quota_exceeded"
    assert (await red.call("DELETE", "/v1/quotas/user/red-admin")).status == 204
    await wait_for(lambda: not neighbour.engine.admission.active)
    assert (await neighbour.post("/v1/jobs", {"task": "work"})).status == 201


async def test_a_tenants_admin_sees_and_sets_its_own_but_not_the_tenants(red: House):
    assert (await red.call("PUT", "/v1/quotas/tenant/red", {"submit_rate": 1e5})).code == "forbidden"
    assert (await red.call("DELETE", "/v1/quotas/tenant/red")).code == "forbidden"
    await set_quota(red, "tenant", "red", max_pending=1000)
    await set_quota(red, "queue", "mail", who="red", submit_rate="600/m", burst=20)
    seen = (await red.get("/v1/quotas")).json["items"]
    assert [(q["scope"], q["name"], q["tenant"]) for q in seen] == [("queue", "mail", "red"), ("tenant", "red", "red")]
    assert (seen[0]["submit_rate"], seen[0]["burst"], seen[0]["updated_by"]) == (10, 20, "red-admin")
    assert (await red.get("/v1/quotas", who="blue")).json["items"] == []
    assert len((await red.get("/v1/quotas", who="root", role=Role.VIEWER)).json["items"]) == 2


@pytest.mark.parametrize("body", [{}, {"submit_rate": 0}, {"burst": 3}, {"submit_rate": "soon"}, {"speed": 1}])
async def test_a_quota_that_makes_no_sense_is_refused(red: House, body):
    assert (await red.call("PUT", "/v1/quotas/queue/mail", body)).status == 400


async def test_what_is_not_there_is_said_so(red: House):
    assert (await red.call("PUT", "/v1/quotas/planet/earth", {"max_pending": 1})).code == "invalid_input"
    assert (await red.call("DELETE", "/v1/quotas/queue/mail")).code == "not_found"


async def test_queues_are_listed_to_their_tenant(red: House):
    await red.submit()
    await red.submit(queue="mail", delay=60)
    await wait_for(lambda: _queues(red, 2))
    items = (await red.get("/v1/queues")).json["items"]
    assert [(q["tenant"], q["queue"], q["pending"], q["running"]) for q in items] == [
        ("red", "default", 1, 0), ("red", "mail", 1, 0),
    ]  # fmt: skip
    assert (await red.get("/v1/queues", who="blue")).json["items"] == []
    assert (await red.get("/v1/queues", who="red", tenant="blue")).code == "forbidden"


async def test_more_queues_than_are_listed_are_told_of(red: House, conn):
    assert (await red.get("/v1/queues")).json["more"] is False
    await conn.execute(
        """insert into depth (tenant_id, queue)
           select id, 'queue-' || n from tenant, generate_series(1, 5000) n where name = 'blue'"""
    )
    page = (await red.get("/v1/queues", who="blue")).json
    assert (len(page["items"]), page["more"]) == (5000, True)


async def _queues(house: House, count: int) -> bool:
    return len((await house.get("/v1/queues")).json["items"]) == count


async def test_the_sdk_waits_as_it_is_told_within_its_patience(red: House):
    def work() -> list[str]:
        with Client(red.url, red.key("root"), patience=20) as client:
            quota = client.set_quota("tenant", "red", submit_rate=1, burst=1)
            assert quota.burst == 1
            assert [q.name for q in client.quotas("red").items] == ["red"]
        with Client(red.url, red.key(), patience=20) as client:
            made = [client.submit(JobRequest(task="work")).id for _ in range(3)]
            assert client.queues().items is not None
        return made

    assert len(set(await asyncio.to_thread(work))) == 3


async def test_the_sdk_gives_up_when_the_wait_is_longer_than_its_patience(red: House):
    await set_quota(red, "tenant", "red", submit_rate="1/h", burst=1)
    await red.submit()

    def work() -> None:
        with Client(red.url, red.key(), patience=5) as client, pytest.raises(QuotaExceeded) as refused:
            client.submit(JobRequest(task="work"))
        assert refused.value.extra["scope"] == "tenant"
        with Client(red.url, red.key("root")) as client:
            client.remove_quota("tenant", "red")

    await asyncio.to_thread(work)
    assert (await red.get("/v1/quotas", who="root")).json["items"] == []
