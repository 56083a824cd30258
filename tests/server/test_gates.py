"""Gates over HTTP: every call, whose gates are whose, and what a refused job is told."""

import asyncio
from typing import Any

import pytest

from horae.model.roles import Role

from .house import House, end, running_job


async def close(house: House, *, who: str = "red", **order: Any) -> dict[str, Any]:
    answer = await house.post("/v1/gates", {"reason": "broken"} | order, who=who)
    assert answer.status == 201, answer
    return answer.json


async def state_of(house: House, job: str) -> str:
    return (await house.get(f"/v1/jobs/{job}")).json["state"]


async def until_state(house: House, job: str, state: str) -> None:
    async with asyncio.timeout(100):
        while await state_of(house, job) != state:  # noqa: ASYNC110 - a duty does it, in its own time
            await asyncio.sleep(0.05)


async def test_a_gate_is_closed_seen_extended_and_released(house: House) -> None:
    await house.put_task("work")
    job = await house.submit()
    gate = await close(house, task="work", expires_in="1h")
    assert (gate["state"], gate["tenant"], gate["owner"], gate["held"]) == ("closed", "red", "red-admin", 1)
    assert [g["id"] for g in (await house.get("/v1/gates")).json["items"]] == [gate["id"]]
    path = f"/v1/gates/{gate['id']}"
    changed = (await house.call("PATCH", path, {"reason": "still broken", "expires_in": "2h"})).json
    assert changed["reason"] == "still broken"
    assert changed["expires_at"] > gate["expires_at"]
    assert (await house.post(path + "/release")).json["state"] == "over"
    assert (await house.get("/v1/gates")).json["items"] == []
    (over,) = (await house.get("/v1/gates", all="true")).json["items"]
    assert over["released_by"] == "red-admin"
    assert (await house.post(path + "/release")).code == "wrong_state"
    worker = await house.worker()
    assert [grant["id"] for grant in await worker.take()] == [job]


async def test_a_gate_in_force_is_listed_however_many_newer_ones_are_over(house: House, conn: Any) -> None:
    gate = await close(house, task="work")
    await conn.execute(
        """insert into gate (tenant_id, action, owner, released_at, drained_at)
           select tenant_id, action, owner, now(), now() from gate, generate_series(1, 500)"""
    )
    in_force = (await house.get("/v1/gates")).json
    assert ([one["id"] for one in in_force["items"]], in_force["more"]) == ([gate["id"]], False)
    latest = (await house.get("/v1/gates", all="true")).json
    assert (len(latest["items"]), latest["more"]) == (500, True)


async def test_a_held_job_says_so_and_goes_on_after_the_release(house: House) -> None:
    await house.put_task("work")
    job = await house.submit(params={"customer": "acme"})
    other = await house.submit(params={"customer": "other"})
    gate = await close(house, condition="params.customer == 'acme'")
    await until_state(house, job, "blocked")
    assert await state_of(house, other) == "ready"
    await house.post(f"/v1/gates/{gate['id']}/release", {"rate": "100/s"})
    await until_state(house, job, "ready")


async def test_dropped_jobs_are_brought_back(house: House) -> None:
    await house.put_task("work")
    job = await house.submit()
    gate = await close(house, action="drop")
    await until_state(house, job, "dropped")
    result = (await house.get(f"/v1/jobs/{job}")).json
    assert result["error"]["message"] == f"gate {gate['id']} of red-admin: broken"
    path = f"/v1/gates/{gate['id']}"
    assert (await house.post(path + "/restore")).code == "wrong_state"
    assert (await house.post(path + "/release", {"rate": "1/s"})).code == "invalid_input"
    await house.post(path + "/release")
    assert (await house.post(path + "/restore", {"task": "nothing"})).json == {"restored": 0, "more": False}
    assert (await house.post(path + "/restore")).json == {"restored": 1, "more": False}
    assert await state_of(house, job) == "ready"


async def test_new_jobs_are_refused_with_the_gates_own_words(house: House) -> None:
    await house.put_task("work")
    gate = await close(house, action="reject", condition="params.n == 1", expires_in="1h")
    refused = await house.post("/v1/jobs", {"task": "work", "params": {"n": 1}})
    assert (refused.status, refused.code) == (409, "gate_closed")
    told = refused.json
    assert (told["gate"], told["reason"], told["owner"]) == (gate["id"], "broken", "red-admin")
    assert told["expires"] == gate["expires_at"]
    assert (await house.post("/v1/jobs", {"task": "work", "params": {"n": 2}})).status == 201
    many = await house.post("/v1/jobs/bulk", [{"task": "work", "params": {"n": n}} for n in (1, 2)])
    assert [item.get("code") for item in many.json["items"]] == ["gate_closed", None]


async def test_a_preview_counts_and_closes_nothing(house: House) -> None:
    await house.put_task("work")
    ids = [await house.submit(params={"n": n}) for n in range(4)]
    later = await house.submit(params={"n": 9}, delay="1h")
    found = (await house.post("/v1/gates/preview", {"reason": "?", "condition": "params.n >= 2"})).json
    assert (found["matching"], found["looked_at"], found["complete"]) == (3, 5, True)
    assert {(job["id"], job["state"]) for job in found["sample"]} == {
        (ids[2], "ready"), (ids[3], "ready"), (later, "scheduled"),
    }  # fmt: skip
    assert (await house.get("/v1/gates")).json["items"] == []


async def test_the_emergency_stop_stops_what_runs_too_if_asked(house: House) -> None:
    worker, grant = await running_job(house)
    stop = (await house.post("/v1/stop", {"running": "cancel", "reason": "fire"})).json
    assert (stop["kind"], stop["tenant"]) == ("stop", "red")
    assert (await house.post("/v1/stop")).json["id"] == stop["id"]
    await close(house, task="never")
    assert [gate["id"] for gate in (await house.get("/v1/gates", kind="stop")).json["items"]] == [stop["id"]]
    assert (await house.get("/v1/gates", kind="flood")).code == "invalid_input"
    async with asyncio.timeout(100):
        while not (asked := (await worker.exchange())["cancel"]):  # noqa: ASYNC110 - a duty does it, in its own time
            await asyncio.sleep(0.05)
    assert grant["id"] in str(asked)
    await worker.finish(end(grant, "cancelled"))
    job = await house.submit()
    assert await worker.take(wait=0.2) == []
    assert [gate["id"] for gate in (await house.call("DELETE", "/v1/stop")).json["items"]] == [stop["id"]]
    assert [grant["id"] for grant in await worker.take()] == [job]
    assert (await house.call("DELETE", "/v1/stop")).code == "not_found"


async def test_gates_of_one_tenant_are_nothing_to_another(house: House) -> None:
    blue = await close(house, who="blue")
    everybody = await close(house, who="root", task="never")
    assert [gate["id"] for gate in (await house.get("/v1/gates")).json["items"]] == [everybody["id"]]
    assert (await house.get(f"/v1/gates/{blue['id']}")).code == "not_found"
    assert (await house.post(f"/v1/gates/{blue['id']}/release")).code == "not_found"
    assert (await house.post(f"/v1/gates/{everybody['id']}/release")).code == "forbidden"
    assert (await house.call("PATCH", f"/v1/gates/{everybody['id']}", {"reason": "x"})).code == "forbidden"
    assert (await house.post("/v1/gates", {"reason": "x", "tenant": "blue"})).code == "forbidden"
    await house.put_task("work")
    worker = await house.worker()
    job = await house.submit()
    assert [grant["id"] for grant in await worker.take()] == [job]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "invalid_input"), ({"reason": "x", "action": "burn"}, "invalid_input"),
        ({"reason": "x", "condition": "params.a ==="}, "invalid_input"),
        ({"reason": "x", "percent": 100}, "invalid_input"), ({"reason": "x", "colour": "red"}, "invalid_input"),
        (b"{", "malformed_body"),
    ],
)  # fmt: skip
async def test_a_gate_that_makes_no_sense_is_refused(house: House, body: Any, code: str) -> None:
    assert (await house.post("/v1/gates", body)).code == code
    assert (await house.get("/v1/gates", all="true")).json["items"] == []


async def test_only_operators_close_gates_and_everybody_sees_them(house: House) -> None:
    assert (await house.post("/v1/gates", {"reason": "x"}, role=Role.SUBMITTER)).code == "forbidden"
    assert (await house.post("/v1/stop", role=Role.SUBMITTER)).code == "forbidden"
    assert (await house.post("/v1/gates", {"reason": "x"}, role=Role.OPERATOR)).status == 201
    assert len((await house.get("/v1/gates", role=Role.VIEWER)).json["items"]) == 1
