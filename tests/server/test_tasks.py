"""Tasks that are data, over HTTP."""

from typing import Any

import pytest
import yaml

from horae.model.roles import Role

from .house import House

SCRIPT = {"source": "echo 1\n", "interpreter": "sh"}


async def put(house: House, name: str = "greet", **definition: Any) -> None:
    answer = await house.put_task(name, **({"script": SCRIPT} | definition))
    assert answer.status == 200, answer


async def test_a_script_is_submitted_granted_and_briefed(house):
    await put(house, env={"GREETING": "hello ${{ params.name }}"}, timeout="30s")
    worker = await house.worker(tasks=[], kinds=["script"])
    await house.submit("greet", params={"name": "ann"})
    (grant,) = await worker.take()
    assert (grant["task"], grant["kind"], grant["timeout"]) == ("greet", "script", 30)
    answer = await worker.call("/briefs", {name: grant[name] for name in ("id", "lane", "attempt")})
    assert answer.status == 200, answer
    assert answer.json["tenant"] == "red"
    assert answer.json["version"] == 1
    assert answer.json["task"]["script"] == SCRIPT
    assert answer.json["task"]["env"] == {"GREETING": "hello ${{ params.name }}"}


async def test_a_brief_is_refused_to_whoever_does_not_hold_the_attempt(house):
    await put(house)
    worker, other = [await house.worker(tasks=[], kinds=["script"]) for _ in range(2)]
    await house.submit("greet")
    (grant,) = await worker.take()
    asked = {name: grant[name] for name in ("id", "lane", "attempt")}
    assert (await other.call("/briefs", asked)).code == "wrong_state"
    assert (await worker.call("/briefs", asked | {"attempt": 2})).code == "wrong_state"
    assert (await worker.call("/briefs", asked | {"id": "no id"})).code == "invalid_input"
    stranger = await house.post(f"/v1/workers/{worker.id}/briefs", asked, who="blue", role=Role.WORKER)
    assert stranger.code == "not_found"


async def test_a_task_tells_its_kind_and_version(house):
    await put(house)
    await put(house, script=SCRIPT | {"source": "echo 2"})
    await house.put_task("work")
    found = {item["definition"]["name"]: item for item in (await house.get("/v1/tasks")).json["items"]}
    assert (found["greet"]["kind"], found["greet"]["version"]) == ("script", 2)
    assert "kind" not in found["work"]


async def test_a_long_definition_is_left_out_of_lists(house):
    await put(house, script=SCRIPT | {"source": "#" * 20_000})
    (listed,) = (await house.get("/v1/tasks")).json["items"]
    assert (listed["kind"], listed["cut"], "script" in listed["definition"]) == ("script", True, False)
    assert len((await house.get("/v1/tasks/greet")).json["definition"]["script"]["source"]) == 20_000


async def test_a_definition_that_makes_no_sense_is_refused_by_its_field(house):
    for field, definition in (
        ("script.args[0]", {"script": SCRIPT | {"args": ["${{ secrets.KEY }}"]}}),
        ("params_schema", {"script": SCRIPT, "params_schema": {"type": 7}}),
        ("http", {"script": SCRIPT, "http": {"url": "https://example.com"}}),
    ):
        answer = await house.put_task("wrong", **definition)
        assert (answer.code, answer.json["field"]) == ("invalid_input", field)
    assert (await house.get("/v1/tasks/wrong")).status == 404


async def test_validating_tells_all_that_is_wrong_and_saves_nothing(house):
    definition = {"name": "a b", "script": {"source": ""}, "env": {"1": ""}, "params_schema": {"type": 7}}
    answer = await house.post("/v1/tasks/validate", {"definition": definition}, role=Role.VIEWER)
    assert answer.json["valid"] is False
    assert [e["field"] for e in answer.json["errors"]] == ["name", "params_schema", "script.source", "env.1"]


async def test_validating_with_sample_params_checks_and_fills_them_in(house):
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    definition = {
        "name": "call",
        "params_schema": schema,
        "http": {"url": "https://example.com/${{ params.id }}/${{ params.note }}",
                 "headers": {"x-key": "Bearer ${{ secrets.KEY }}"}},
    }  # fmt: skip

    async def validate(params: dict[str, Any]) -> dict[str, Any]:
        return (await house.post("/v1/tasks/validate", {"definition": definition, "params": params})).json

    assert [e["field"] for e in (await validate({"id": "x", "note": 1}))["errors"]] == ["/params/id"]
    assert [e["field"] for e in (await validate({"id": 1}))["errors"]] == ["/params/note"]
    good = await validate({"id": 1, "note": "a/b"})
    assert good["valid"] is True
    assert good["filled"] == {"http.url": "https://example.com/1/a%2Fb", "http.headers.x-key": "Bearer ***"}
    assert "params.note" in good["warnings"][0]


async def test_versions_are_listed_compared_and_gone_back_to(house):
    await put(house)
    await put(house, script=SCRIPT | {"source": "echo 2\n"}, queue="slow")
    listed = (await house.get("/v1/tasks/greet/versions")).json["items"]
    assert [(v["version"], v.get("current"), v["made_by"]) for v in listed] == [
        (2, True, "red-admin"),
        (1, None, "red-admin"),
    ]
    one = await house.get("/v1/tasks/greet/versions/1")
    assert one.json["definition"]["script"] == SCRIPT
    diff = (await house.get("/v1/tasks/greet/diff")).json
    assert (diff["before"], diff["after"], diff["fields"]) == (1, 2, ["queue", "script"])
    assert "-    echo 1\n+    echo 2\n" in diff["text"]
    back = await house.post("/v1/tasks/greet/rollback", {"version": 1, "reason": "it was better"})
    assert (back.json["version"], back.json["definition"]["script"]) == (3, SCRIPT)
    same = (await house.get("/v1/tasks/greet/diff", before=1, after=3)).json
    assert (same["fields"], same["text"]) == ([], "")
    assert (await house.get("/v1/tasks/greet/versions/9")).code == "not_found"
    assert (await house.get("/v1/tasks/greet/diff", before=9)).code == "not_found"
    assert (await house.post("/v1/tasks/greet/rollback", {"version": 9})).code == "not_found"


async def test_versions_of_very_many_lines_are_not_compared(house):
    for n in range(2):
        await put(house, script=SCRIPT | {"source": f"echo {n}\n" * 100_000})
    diff = (await house.get("/v1/tasks/greet/diff")).json
    assert (diff["fields"], "more than" in diff["text"]) == (["script"], True)


async def test_what_is_filled_in_for_a_look_is_bounded(house):
    http = {"url": "https://example.com", "body": ["${{ params.x }}"] * 1000}
    sample = {"definition": {"name": "call", "http": http}, "params": {"x": "y" * 100_000}}
    answer = await house.post("/v1/tasks/validate", sample)
    assert (answer.json["valid"], "more than" in answer.json["errors"][0]["detail"]) == (False, True)


async def test_a_change_says_which_version_it_is_of(house):
    await put(house)
    answer = await house.call(
        "PUT", "/v1/tasks/greet", {"name": "greet", "script": SCRIPT | {"source": "x"}}, if_version=0
    )
    assert answer.code == "task_changed"
    answer = await house.call(
        "PUT", "/v1/tasks/greet", {"name": "greet", "script": SCRIPT | {"source": "x"}}, if_version=1, reason="better"
    )
    assert answer.json["version"] == 2
    assert (await house.get("/v1/tasks/greet/versions/2")).json["reason"] == "better"


async def test_a_task_that_is_needed_is_deleted_only_if_that_is_said(house):
    await put(house)
    schedule = {"name": "nightly", "task": "greet", "rules": [{"cron": "0 3 * * *"}]}
    assert (await house.post("/v1/schedules", schedule)).status == 201
    answer = await house.call("DELETE", "/v1/tasks/greet")
    assert (answer.code, answer.json["schedules"]) == ("task_in_use", ["nightly"])
    assert (await house.call("DELETE", "/v1/tasks/greet", force="perhaps")).code == "invalid_input"
    assert (await house.call("DELETE", "/v1/tasks/greet", force="true")).status == 204
    assert (await house.post("/v1/jobs", {"task": "greet"})).code == "unknown_task"
    assert (await house.call("DELETE", "/v1/tasks/greet")).code == "not_found"
    assert (await house.post("/v1/tasks/greet/rollback", {"version": 1})).json["version"] == 2


async def test_a_worker_cannot_take_the_name_of_a_script(house):
    await put(house)
    join = {"name": "w", "host": "h", "slots": 1, "tasks": [{"name": "greet"}]}
    assert (await house.post("/v1/workers", join, role=Role.WORKER)).code == "already_exists"
    assert (await house.get("/v1/tasks/greet")).json["kind"] == "script"


async def test_another_tenant_sees_nothing_of_a_task_until_it_is_shared(house):
    await put(house)
    for path in ("", "/versions", "/versions/1", "/diff"):
        assert (await house.get(f"/v1/tasks/greet{path}", who="blue")).code == "not_found"
    assert (await house.call("DELETE", "/v1/tasks/greet", who="blue")).code == "not_found"
    shared = await house.post("/v1/tasks/greet/share", {"tenants": ["blue"]})
    assert [(s["tenant"], s["with_secrets"], s["made_by"]) for s in shared.json["items"]] == [
        ("blue", False, "red-admin")
    ]
    seen = (await house.get("/v1/tasks/greet", who="blue")).json
    assert (seen["tenant"], seen["version"]) == ("red", 1)
    assert [t["definition"]["name"] for t in (await house.get("/v1/tasks", who="blue")).json["items"]] == ["greet"]
    job_id = await house.submit("greet", who="blue")
    assert (await house.get(f"/v1/jobs/{job_id}", who="blue")).json["tenant"] == "blue"
    assert (await house.get(f"/v1/jobs/{job_id}")).code == "not_found"


async def test_a_guest_uses_a_task_but_does_not_change_it(house):
    await put(house)
    await house.post("/v1/tasks/greet/share", {"tenants": "*", "with_secrets": True})
    assert (await house.get("/v1/tasks/greet", who="blue")).json["with_secrets"] is True
    assert (await house.post("/v1/tasks/greet/rollback", {"version": 1}, who="blue")).code == "not_found"
    assert (await house.post("/v1/tasks/greet/share", {"tenants": "*"}, who="blue")).code == "not_found"
    assert (await house.call("DELETE", "/v1/tasks/greet", who="blue")).code == "not_found"
    assert (await house.get("/v1/tasks/greet/versions", who="blue")).code == "not_found"
    left = await house.post("/v1/tasks/greet/unshare", {"tenants": "*"})
    assert left.json["items"] == []
    assert (await house.post("/v1/jobs", {"task": "greet"}, who="blue")).code == "unknown_task"


async def test_sharing_says_with_whom(house):
    await put(house)
    for body in ({"tenants": "blue"}, {"tenants": []}, {"tenants": [7]}, {}):
        assert (await house.post("/v1/tasks/greet/share", body)).code == "invalid_input"
    assert (await house.post("/v1/tasks/greet/share", {"tenants": ["nobody"]})).code == "not_found"


async def test_tasks_are_exported_and_imported_as_yaml(house):
    await put(house, env={"A": "${{ params.a }}"})
    await put(house, "call", script=None, http={"url": "https://example.com", "body": {"x": "${{ params.x }}"}})
    await house.put_task("work")
    exported = await house.get("/v1/tasks/export")
    assert exported.headers["content-type"] == "application/yaml"
    assert [task["name"] for task in yaml.safe_load(exported.body)["tasks"]] == ["call", "greet"]
    answer = await house.post("/v1/tasks/import", exported.body, who="blue", dry_run="true")
    assert [(i["name"], i["outcome"]) for i in answer.json["items"]] == [("call", "created"), ("greet", "created")]
    assert (await house.get("/v1/tasks/greet", who="blue")).status == 404
    await house.post("/v1/tasks/import", exported.body, who="blue")
    assert (await house.get("/v1/tasks/export", who="blue")).body == exported.body
    again = await house.post("/v1/tasks/import", exported.body, who="blue")
    assert {i["outcome"] for i in again.json["items"]} == {"unchanged"}


async def test_one_task_is_exported_by_its_name(house):
    await put(house)
    await put(house, "other")
    assert [t["name"] for t in yaml.safe_load((await house.get("/v1/tasks/export", name="greet")).body)["tasks"]] == [
        "greet"
    ]
    assert (await house.get("/v1/tasks/export", name="nothing")).code == "not_found"


@pytest.mark.parametrize("dry_run", ["true", "false"])
async def test_a_task_that_cannot_be_imported_does_not_spoil_the_others(house, dry_run):
    await house.put_task("taken")
    tasks = [
        {"name": "good", "script": SCRIPT},
        {"name": "taken", "script": SCRIPT},
        {"name": "wrong", "script": {"source": "echo"}},
        {"name": "function"},
        {"name": "odd", "scripts": {}},
        7,
    ]
    answer = await house.post("/v1/tasks/import", {"tasks": tasks}, dry_run=dry_run)
    found = {item["name"]: (item["outcome"], item.get("error", "")) for item in answer.json["items"]}
    assert found.pop("good") == ("created", "")
    assert {outcome for outcome, _ in found.values()} == {"refused"}
    assert list(found) == ["taken", "wrong", "function", "odd", "tasks[5]"]
    assert "is a function" in found["taken"][1]
    assert "script.interpreter" in found["wrong"][1]
    assert (await house.get("/v1/tasks/good")).status == (404 if dry_run == "true" else 200)


async def test_a_file_that_is_none_is_refused(house):
    for body in (b"\xff", b"a: [", b"words"):
        assert (await house.call("POST", "/v1/tasks/import", body)).code == "invalid_input"


async def test_a_key_of_no_tenant_saves_tasks_for_all(house):
    answer = await house.put_task("greet", who="root", script=SCRIPT)
    assert "tenant" not in answer.json
    await house.submit("greet", who="blue")
    assert (await house.get("/v1/tasks/greet/versions", who="blue")).json["items"][0]["version"] == 1
    refused = await house.post("/v1/tasks/greet/rollback", {"version": 1}, who="blue")
    assert (refused.code, "for all tenants" in refused.json["detail"]) == ("not_found", True)
    assert (await house.post("/v1/tasks/greet/rollback", {"version": 1}, who="root")).json["version"] == 1
