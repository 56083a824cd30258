"""Bulk actions, dead letters and uniqueness over HTTP."""

from typing import Any

from horae.testing.waiting import wait_for

from .house import House, end


async def finished(house: House, action_id: str) -> dict[str, Any]:
    async def ended() -> dict[str, Any] | None:
        found = (await house.get(f"/v1/actions/{action_id}")).json
        return found if found["state"] not in ("running", "undoing") else None

    return await wait_for(ended, 30, what="the action")


async def failures(house: House, *messages: str) -> list[str]:
    worker = await house.worker()
    ids = [await house.submit() for _ in messages]
    grants = await worker.take(len(messages))
    while len(grants) < len(messages):
        grants += await worker.take(len(messages) - len(grants))
    ends = [end(g, "fatal", error={"kind": "Boom", "message": m}) for g, m in zip(grants, messages, strict=True)]
    assert await worker.finish(*ends) == []
    return ids


async def test_an_action_is_previewed_carried_out_and_undone(house: House):
    await house.worker("mail", "work")
    for _ in range(3):
        await house.submit("mail", delay="1h")
    other = await house.submit(delay="1h")
    request = {"action": "cancel", "filter": {"task": "mail", "status": "pending"}, "reason": "wrong list"}
    preview = await house.post("/v1/jobs/actions", request | {"preview": True})
    assert (preview.status, preview.json["state"], preview.json["total"]) == (200, "preview", 3)
    assert {job["task"] for job in preview.json["sample"]} == {"mail"}
    made = await house.post("/v1/jobs/actions", request)
    assert (made.status, made.json["by"], made.json["reason"]) == (202, "red-admin", "wrong list")
    done = await finished(house, made.json["id"])
    assert (done["state"], done["done"], done["filter"]["task"]) == ("done", 3, "mail")
    assert (await house.get(f"/v1/jobs/{other}")).json["state"] == "scheduled"
    assert (await house.post(f"/v1/actions/{done['id']}/cancel")).code == "wrong_state"
    assert (await house.post(f"/v1/actions/{done['id']}/undo")).status == 202
    assert (await finished(house, done["id"]))["undone"] == 3
    assert len((await house.get("/v1/jobs", status="scheduled")).json["items"]) == 4
    assert [a["id"] for a in (await house.get("/v1/actions")).json["items"]] == [done["id"]]


async def test_what_makes_no_sense_is_refused(house: House):
    good = {"status": "pending"}
    for body in (
        {"action": "cancel"},
        {"action": "cancel", "filter": {}},
        {"action": "cancel", "filter": {"tenant": "red"}},
        {"action": "explode", "filter": good},
        {"action": "cancel", "filter": {"status": "asleep"}},
        {"action": "cancel", "filter": {"status": "succeeded"}},
        {"action": "cancel", "filter": {"colour": "red"}},
        {"action": "cancel", "filter": {"task": "a\0b"}},
        {"action": "cancel", "filter": {"ids": []}},
        {"action": "cancel", "filter": {"since": "2026-01-01T00:00:00"}},
        {"action": "cancel", "filter": {"worker": -1}},
        {"action": "reprioritise", "filter": good},
        {"action": "reprioritise", "filter": good, "changes": {"priority": 0}},
        {"action": "reprioritise", "filter": good, "changes": {"timeout": "1s"}},
        {"action": "redrive", "filter": {"task": "x"}, "rate": -1},
        {"action": "redrive", "filter": {"task": "x"}, "rate": 1e300},
        {"action": "redrive", "filter": {"task": "x"}, "rate": 1e-300},
    ):
        answer = await house.post("/v1/jobs/actions", body)
        assert answer.status == 400, (body, answer)
        assert answer.code
    assert (await house.get("/v1/actions/nonsense")).code == "not_found"
    assert (await house.get("/v1/actions")).json["items"] == []


async def test_a_tenant_acts_on_its_own_jobs_alone(house: House):
    await house.worker()
    await house.worker(who="blue")
    await house.submit(delay="1h")
    await house.submit(delay="1h", who="blue")
    request = {"action": "cancel", "filter": {"status": "pending"}}
    assert (await house.post("/v1/jobs/actions", request | {"filter": {"tenant": "blue"}})).status in (400, 403)
    made = (await house.post("/v1/jobs/actions", request)).json
    assert (await finished(house, made["id"]))["done"] == 1
    assert (await house.get(f"/v1/actions/{made['id']}", who="blue")).code == "not_found"
    assert (await house.post(f"/v1/actions/{made['id']}/undo", who="blue")).code == "not_found"
    for_blue = {"action": "cancel", "filter": {"status": "pending", "tenant": "blue"}}
    assert (await house.post("/v1/jobs/actions", for_blue, who="root")).json["tenant"] == "blue"


async def test_dead_letters_read_by_cause_and_are_redriven_by_it(house: House):
    ids = await failures(house, "no route to 10.0.0.1", "no route to 10.0.0.2", "user 7 not found")
    causes = (await house.get("/v1/dead-letters")).json["causes"]
    assert [cause["count"] for cause in causes] == [2, 1]
    assert causes[0]["error"]["message"].startswith("no route")
    assert (causes[0]["tasks"], causes[0]["tenant"], len(causes[0]["job_ids"])) == (["work"], "red", 2)
    one = (await house.get("/v1/dead-letters", cause=causes[0]["cause"], limit=1)).json
    rest = (await house.get("/v1/dead-letters", cause=causes[0]["cause"], cursor=one["next_cursor"])).json
    assert {job["id"] for job in one["jobs"] + rest["jobs"]} == set(causes[0]["job_ids"]) <= set(ids)
    listed = (await house.get("/v1/jobs", cause=causes[1]["cause"])).json["items"]
    assert [job["id"] for job in listed] == causes[1]["job_ids"]
    body = {"filter": {"cause": causes[0]["cause"]}, "rate": 1000, "changes": {"params": {"fixed": True}}}
    assert (await house.post("/v1/dead-letters/redrive", body | {"preview": True})).json["total"] == 2
    made = (await house.post("/v1/dead-letters/redrive", body)).json
    assert (await finished(house, made["id"]))["done"] == 2
    again = (await house.get(f"/v1/jobs/{causes[0]['job_ids'][0]}")).json
    assert (again["params"], again["state"] != "failed") == ({"fixed": True}, True)
    assert [c["count"] for c in (await house.get("/v1/dead-letters")).json["causes"]] == [1]


async def test_discarded_ones_stay_failed_and_leave_the_dead_letters(house: House):
    (job_id,) = await failures(house, "it broke")
    assert (await house.get("/v1/dead-letters", who="blue")).json == {"causes": []}
    made = (await house.post("/v1/dead-letters/discard")).json
    assert (await finished(house, made["id"]))["done"] == 1
    assert (await house.get("/v1/dead-letters")).json == {"causes": []}
    assert (await house.get(f"/v1/jobs/{job_id}")).json["state"] == "failed"


async def test_a_unique_submit_gives_back_or_refuses(house: House):
    await house.worker()
    job = {"task": "work", "params": {"customer": 42, "n": 1}, "unique": {"by": ["customer"]}, "delay": "1h"}
    first = await house.post("/v1/jobs", job)
    second = await house.post("/v1/jobs", job | {"params": {"customer": 42, "n": 2}})
    assert (first.status, second.status, second.json["existing"]) == (201, 200, True)
    refused = await house.post("/v1/jobs", job | {"unique": {"by": ["customer"], "on_conflict": "reject"}})
    assert (refused.status, refused.code, refused.json["job_id"]) == (409, "duplicate_job", first.json["id"])
    bulk = (await house.post("/v1/jobs/bulk", [job, job])).json
    assert [(item["id"], item["existing"]) for item in bulk["items"]] == [(first.json["id"], True)] * 2
    shown = (await house.get(f"/v1/jobs/{first.json['id']}")).json
    assert shown["unique"] == {"by": ["customer"]}
    other = await house.post("/v1/jobs", job, who="blue")
    assert other.code == "unknown_task"


async def test_what_is_wrong_with_uniqueness_or_expiry_is_said(house: House):
    await house.worker()
    for more in (
        {"unique": {"by": ["nobody"]}},
        {"unique": {"by": ["a", "a"]}},
        {"unique": {"period": "0s"}},
        {"unique": {"period": "1h", "during": "running"}},
        {"unique": {"max_wait": "1h"}},
        {"unique": {"on_conflict": "explode"}},
        {"expires_in": 0},
        {"expires": "2026-01-01T00:00:00"},
        {"expires": "2100-01-01T00:00:00Z", "expires_in": "1h"},
    ):
        answer = await house.post("/v1/jobs", {"task": "work", "params": {"a": 1}, **more})
        assert (answer.status, answer.code) == (400, "invalid_input"), more


async def test_a_job_expires_and_its_expiry_can_be_moved(house: House):
    await house.worker()
    late = await house.submit(expires_in=0.05)
    moved = await house.submit(delay="1h", expires_in="30s")
    changed = (await house.call("PATCH", f"/v1/jobs/{moved}", {"expires_in": "2h"})).json
    result = await house.get(f"/v1/jobs/{late}/result", wait=20)
    assert (result.json["state"], result.json["error"]["kind"]) == ("expired", "expired")
    assert changed["expires"] > changed["created_at"]
    assert (await house.get(f"/v1/jobs/{moved}")).json["state"] == "scheduled"


async def test_actions_and_dead_letters_are_told_for_one_tenant_or_all(house: House):
    await failures(house, "card 1 refused", "card 2 refused")
    await house.worker(who="blue")
    await house.submit(who="blue", delay="1h")
    made = await house.post("/v1/jobs/actions", {"action": "cancel", "filter": {"status": "pending"}}, who="blue")
    await house.post("/v1/dead-letters/discard", {"filter": {"task": "nothing"}})
    listed = (await house.get("/v1/actions", who="root", tenant="blue")).json["items"]
    assert [action["id"] for action in listed] == [made.json["id"]]
    assert len((await house.get("/v1/actions", who="root")).json["items"]) == 2
    (cause,) = (await house.get("/v1/dead-letters", who="root")).json["causes"]
    assert (cause["tenant"], cause["count"], len(cause["job_ids"])) == ("red", 2, 2)
    assert cause["error"]["message"] == "card 2 refused"
    assert (await house.get("/v1/dead-letters", who="root", tenant="blue")).json["causes"] == []
