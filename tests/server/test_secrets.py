"""Secrets by HTTP: values go in and never come out."""

import msgspec
import pytest
import structlog

from horae.engine.masterkeys import MasterKeys
from horae.model.roles import Role

from .house import House

VALUE = "s3cr3t-value"


async def _set(house: House, name: str = "TOKEN", value: str = VALUE, **more):
    return await house.call("PUT", f"/v1/secrets/{name}", {"value": value}, **more)


async def test_a_secret_is_set_listed_shown_and_deleted_and_its_value_is_in_no_answer(house: House):
    answers = [
        await _set(house),
        await _set(house, value="another value"),
        await house.get("/v1/secrets"),
        await house.get("/v1/secrets/TOKEN"),
        await house.call("DELETE", "/v1/secrets/TOKEN"),
        await house.get("/v1/secrets/TOKEN"),
    ]
    assert [answer.status for answer in answers] == [200, 200, 200, 200, 204, 404]
    shown = answers[3].json
    assert answers[2].json == {"items": [shown]}
    assert (shown["version"], shown["size"], shown["tenant"]) == (2, 13, "red")
    assert (shown["created_by"], shown["updated_by"]) == ("red-admin", "red-admin")
    assert all(b"value" not in answer.body for answer in answers)


async def test_developers_set_secrets_viewers_see_names_and_workers_nothing(house: House):
    assert (await _set(house, role=Role.SUBMITTER)).status == 200
    assert "version" in (await house.get("/v1/secrets", role=Role.SUBMITTER)).json["items"][0]
    assert (await _set(house, role=Role.VIEWER)).status == 403
    assert (await house.get("/v1/secrets", role=Role.VIEWER)).json == {"items": [{"tenant": "red", "name": "TOKEN"}]}
    assert (await house.get("/v1/secrets/TOKEN", role=Role.VIEWER)).json == {"tenant": "red", "name": "TOKEN"}
    assert (await house.get("/v1/secrets", role=Role.WORKER)).status == 403


async def test_a_tenants_secrets_are_its_own(house: House):
    await _set(house)
    assert (await house.get("/v1/secrets", who="blue")).json == {"items": []}
    assert (await house.get("/v1/secrets/TOKEN", who="blue")).status == 404
    assert (await house.get("/v1/secrets/TOKEN", who="blue", tenant="red")).status == 403
    assert (await _set(house, who="root", tenant="blue")).json["tenant"] == "blue"
    assert [item["tenant"] for item in (await house.get("/v1/secrets", who="root")).json["items"]] == ["blue", "red"]


async def test_a_secret_that_a_task_uses_is_deleted_only_by_force(house: House):
    await _set(house)
    await house.put_task("mail", secrets=[{"name": "TOKEN"}])
    refused = await house.call("DELETE", "/v1/secrets/TOKEN")
    assert (refused.code, refused.json["tasks"]) == ("secret_in_use", ["mail"])
    assert (await house.call("DELETE", "/v1/secrets/TOKEN", force="true")).status == 204


@pytest.mark.parametrize(
    ("name", "body", "code"),
    [
        ("TOKEN", {"value": "abc"}, "invalid_input"),
        ("TOKEN", {"value": "x" * 70_000}, "invalid_input"),
        ("TOKEN", {"value": 12345678}, "invalid_input"),
        ("TOKEN", {"wert": VALUE}, "invalid_input"),
        ("TOKEN", {"value": VALUE, "more": VALUE}, "invalid_input"),
        ("TOKEN", b'{"value": "s3cr3t-value', "malformed_body"),
        ("1TOKEN", {"value": VALUE}, "invalid_input"),
        ("a-b", {"value": VALUE}, "invalid_input"),
        ("n" * 129, {"value": VALUE}, "invalid_input"),
    ],
)
async def test_what_cannot_be_a_secret_is_refused_without_repeating_it(house: House, name, body, code):
    answer = await house.call("PUT", f"/v1/secrets/{name}", body)
    assert answer.code == code
    assert b"s3cr3t" not in answer.body
    assert b"12345678" not in answer.body


@pytest.mark.parametrize("name", ["%00", "%ff", "a%20b", "n" * 3000, "..", "%2e%2e%2fjobs"])
async def test_a_name_that_cannot_be_is_not_there(house: House, name):
    for method in ("GET", "DELETE"):
        assert (await house.call(method, f"/v1/secrets/{name}")).status in (400, 404, 405)


async def test_the_largest_secret_fits_whatever_it_is_made_of(house: House):
    assert (await _set(house, value="\n" * 65_000 + "x" * 536)).json["size"] == 65_536


async def test_keys_are_rotated_by_admins_and_the_master_key_by_those_of_no_tenant(house: House):
    await _set(house)
    assert (await house.post("/v1/secrets/rotate-tenant")).json == {"count": 1}
    assert (await house.post("/v1/secrets/rotate-tenant", role=Role.OPERATOR)).status == 403
    assert (await house.post("/v1/secrets/rotate-master")).code == "forbidden"
    assert (await house.post("/v1/secrets/rotate-master", who="root")).json == {"count": 0}


async def test_a_server_without_a_key_says_what_to_set(house: House, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(house.engine.secrets._vault, "keys", MasterKeys())
    answer = await _set(house)
    assert answer.code == "secrets_locked"
    assert "HORAE_SECRETS_KEY" in answer.json["detail"]
    assert (await house.get("/v1/secrets")).status == 200


async def test_a_job_gets_the_secrets_of_its_task_and_nobody_else_does(house: House):
    await _set(house)
    await _set(house, "OTHER", "not for this task")
    await house.put_task("mail", secrets=[{"name": "TOKEN"}])
    worker = await house.worker("mail", tasks=[{"name": "mail", "secrets": [{"name": "TOKEN"}]}])
    idle = await house.worker("mail", tasks=[{"name": "mail", "secrets": [{"name": "TOKEN"}]}])
    await house.submit("mail")
    (grant,) = await worker.take()
    asked = {"id": grant["id"], "lane": grant["lane"], "attempt": grant["attempt"]}
    assert (await worker.call("/briefs", asked)).json["secrets"] == {"TOKEN": VALUE}
    assert (await idle.call("/briefs", asked)).code == "wrong_state"
    assert (await worker.call("/briefs", asked | {"attempt": 2})).code == "wrong_state"


async def test_values_are_in_no_log(house: House):
    with structlog.testing.capture_logs() as logs:
        await _set(house)
        await _set(house, value="abc")
        await house.call("DELETE", "/v1/secrets/TOKEN")
    assert {entry["event"] for entry in logs} >= {"secret_set", "secret_deleted"}
    assert VALUE not in msgspec.json.encode(logs, enc_hook=str).decode()
