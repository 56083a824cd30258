"""Every role against every route, from the table of routes itself; and the walls between tenants."""

import re
from typing import Any
from uuid import uuid4

import pytest

from horae.model.roles import Permission, Role, may
from horae.server.app import Router
from horae.server.routes import ROUTES, Route

from .house import Answer, House, end

OF_NO_TENANT = {"/v1/secrets/rotate-master"}
"""Whatever their role, keys of a tenant are refused."""


ENDLESS = "/v1/events"
"""A stream without an end: its head is all there is to wait for."""


async def knock(house: House, route: Route, key: str | None, **more: Any) -> Answer:
    """A call that is harmless: nothing it names exists, and its body is empty."""
    path = re.sub(r"{job_id}", str(uuid4()), route.path)
    path = re.sub(r"{\w+}", "999999999", path)
    more["head_only"] = path == ENDLESS
    return await house.call(route.method, path, b"" if route.method != "GET" else None, key=key, **more)


async def test_every_role_is_let_in_where_it_may_and_nowhere_else(house: House):
    wrong = []
    for route in ROUTES:
        for role in Role:
            answer = await knock(house, route, house.key("red", role))
            allowed = may(role, route.permission) and route.path not in OF_NO_TENANT
            if answer.status == 401 or (answer.status == 403) is allowed or answer.status >= 500:
                wrong.append(f"{role} {route.method} {route.path}: {answer}")
    assert wrong == []


async def test_without_a_good_key_only_the_public_routes_answer(house: House):
    wrong = []
    for route in ROUTES:
        for key in ("", "hk_wrong", "nonsense", house.key("red")[:-1]):
            answer = await knock(house, route, key)
            if (answer.status == 401) is (route.permission is Permission.PUBLIC):
                wrong.append(f"{key!r} {route.method} {route.path}: {answer}")
            if answer.status == 401:
                assert answer.code == "unauthenticated"
                assert answer.headers["www-authenticate"] == "Bearer"
    assert wrong == []


async def test_a_wrong_authorization_header_is_unauthenticated(house: House):
    for header in ("Basic eDp5", "Bearer", "Bearer  ", "hk_abc", "bearer\thk_x", "Bearer é"):
        answer = await house.get("/v1/whoami", key="", headers={"authorization": header})
        assert answer.code == "unauthenticated", header


def test_a_route_without_a_permission_does_not_start():
    with pytest.raises(TypeError, match="permission"):
        Router([Route("GET", "/open", None, ROUTES[0].handler, "forgot")])  # type: ignore[arg-type]


async def things_of(house: House, who: str) -> dict[str, str]:
    """A job, a worker and a key of a tenant."""
    worker = await house.worker(who=who)
    job_id = await house.submit(who=who)
    created = await house.post("/v1/keys", {"name": "spare", "role": "viewer"}, who=who)
    return {"job_id": job_id, "worker_id": str(worker.id), "key_id": str(created.json["key"]["id"])}


BODIES: dict[str, Any] = {
    "POST /v1/workers/{worker_id}/briefs": {"id": str(uuid4()), "lane": 1, "attempt": 1},
    "POST /v1/workers/{worker_id}/checkpoints": {"id": str(uuid4()), "lane": 1, "attempt": 1, "data": 1},
    "POST /v1/workers/{worker_id}/logs": {"chunks": []},
    "PUT /v1/workers/{worker_id}/results/{job_id}/{attempt}": 1,
}


async def test_what_belongs_to_another_tenant_is_not_there(house: House):
    """Every route that names a thing, with a thing of blue's, by the strongest keys of red."""
    theirs = await things_of(house, "blue")
    await things_of(house, "red")
    wrong = []
    for route in ROUTES:
        if not re.search(r"{(job_id|worker_id|key_id)}", route.path):
            continue
        path = route.path.format(**theirs, attempt=1)
        role = Role.WORKER if route.permission is Permission.WORK else Role.ADMIN
        body = BODIES.get(f"{route.method} {route.path}", {}) if route.method != "GET" else None
        answer = await house.call(route.method, path, body, who="red", role=role)
        if answer.status != 404 or answer.code != "not_found":
            wrong.append(f"{route.method} {route.path}: {answer}")
    assert wrong == []
    still = await house.get(f"/v1/jobs/{theirs['job_id']}", who="blue")
    assert still.json["state"] == "ready"


async def test_lists_show_only_what_belongs_to_the_callers_tenant(house: House):
    theirs, mine = await things_of(house, "blue"), await things_of(house, "red")
    for path, name in (("/v1/jobs", "job_id"), ("/v1/workers", "worker_id"), ("/v1/keys", "key_id")):
        seen = {str(item["id"]) for item in (await house.get(path, who="red")).json["items"]}
        assert mine[name] in seen
        assert theirs[name] not in seen
    assert [t["name"] for t in (await house.get("/v1/tenants", who="red")).json["items"]] == ["red"]
    assert {t["tenant"] for t in (await house.get("/v1/tasks", who="red")).json["items"]} == {"red"}
    assert {t["name"] for t in (await house.get("/v1/tenants", who="root")).json["items"]} >= {"red", "blue"}


async def test_naming_another_tenant_is_forbidden(house: House):
    await things_of(house, "blue")
    for path in ("/v1/jobs", "/v1/tasks", "/v1/workers", "/v1/tasks/work"):
        assert (await house.get(path, who="red", tenant="blue")).code == "forbidden", path


async def test_submitting_to_another_tenant_is_forbidden(house: House):
    await things_of(house, "blue")
    assert (await house.post("/v1/jobs", {"task": "work", "tenant": "blue"}, who="red")).code == "forbidden"
    assert (
        await house.post("/v1/keys", {"name": "k", "role": "admin", "tenant": "blue"}, who="red")
    ).code == "forbidden"
    bulk = await house.post("/v1/jobs/bulk", [{"task": "work", "tenant": "blue"}], who="red")
    assert [item["code"] for item in bulk.json["items"]] == ["forbidden"]
    assert (await house.put_task("work", who="red", tenant="blue")).code == "forbidden"


async def test_only_a_key_of_no_tenant_makes_tenants(house: House):
    assert (await house.post("/v1/tenants", {"name": "green"}, who="red")).code == "forbidden"
    assert (await house.post("/v1/tenants", {"name": "green"}, who="root")).status == 201
    assert (await house.post("/v1/tenants", {"name": "green"}, who="root")).code == "already_exists"


async def test_a_key_of_no_tenant_sees_all_and_names_the_tenant_it_means(house: House):
    theirs = await things_of(house, "blue")
    assert (await house.get(f"/v1/jobs/{theirs['job_id']}", who="root")).status == 200
    answer = await house.post("/v1/jobs", {"task": "work", "tenant": "blue"}, who="root")
    assert (await house.get(f"/v1/jobs/{answer.json['id']}", who="blue")).json["tenant"] == "blue"
    assert (await house.post("/v1/jobs", {"task": "work", "tenant": "nobody"}, who="root")).code == "not_found"


async def test_executions_of_a_shared_worker_show_each_tenant_its_own(house: House):
    shared = await house.worker("work", who="root")
    red, blue = await house.submit(who="red"), await house.submit(who="blue")
    grants = []
    while len(grants) < 2:
        grants += await shared.take(2)
    await shared.finish(*(end(grant) for grant in grants))
    for who, job_id in (("red", red), ("blue", blue)):
        items = (await house.get("/v1/executions", who=who, worker_id=shared.id)).json["items"]
        assert [item["job_id"] for item in items] == [job_id]
    assert len((await house.get("/v1/executions", who="root", worker_id=shared.id)).json["items"]) == 2


async def test_a_worker_cannot_touch_jobs_of_another_tenant_through_its_own_calls(house: House):
    """The worker's calls carry ids in their bodies; those of another tenant's running job must not work."""
    theirs, mine = await house.worker(who="blue"), await house.worker(who="red")
    await house.submit(who="blue")
    (grant,) = await theirs.take()
    assert await mine.finish(end(grant)) == [{"id": grant["id"], "attempt": 1}]
    fence = {"id": grant["id"], "lane": grant["lane"], "attempt": 1}
    assert (await mine.call("/checkpoints", {**fence, "data": "x"})).code == "wrong_state"
    assert (await mine.call("/logs", {"chunks": [{**fence, "seq": 0, "text": "forged"}]})).status == 204
    assert (await mine.call(f"/results/{grant['id']}/1", b"1", "PUT")).code == "wrong_state"
    beat = await mine.heartbeat(progress=[{"id": grant["id"], "attempt": 1, "done": 9}])
    assert beat.status == 200
    job = (await house.get(f"/v1/jobs/{grant['id']}", who="blue")).json
    assert (job["state"], job.get("progress")) == ("running", None)
    assert (await house.get(f"/v1/jobs/{grant['id']}/logs", who="blue")).json["items"] == []
