"""Limits and weights over HTTP."""

import pytest

from horae.model.roles import Role

from .house import House, end


async def test_a_limit_is_made_used_changed_and_removed(house: House):
    worker = await house.worker()
    made = await house.call("PUT", "/v1/limits/slow", {"task": "work", "max_running": 1, "reason": "r"})
    assert (made.status, made.json["max_running"], made.json["made_by"]) == (200, 1, "red-admin")
    for _ in range(3):
        await house.submit()
    (first,) = await worker.take(5)
    assert (await house.get("/v1/limits/slow")).json["running"] == 1
    changed = await house.call("PUT", "/v1/limits/slow", {"task": "work", "max_running": 2})
    assert changed.json["max_running"] == 2
    (second,) = await worker.take(5)
    await worker.exchange(finished=[end(first), end(second)])
    assert (await house.call("DELETE", "/v1/limits/slow")).status == 204
    assert (await house.get("/v1/limits/slow")).code == "not_found"
    assert (await house.get("/v1/limits")).json["items"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "max_running"),
        ({"max_running": -1}, "max_running"),
        ({"rate": "fast"}, "rate"),
        ({"rate": 0}, "rate"),
        ({"max_running": 1, "burst": 5}, "burst"),
        ({"max_running": 1, "each": ["key", "key"]}, "each"),
        ({"max_running": 1, "each": ["worker"]}, None),
        ({"max_running": 1, "task": "no name"}, "task"),
        ({"max_running": 1, "colour": "red"}, None),
    ],
)
async def test_a_limit_that_makes_no_sense_is_refused(house: House, body: dict[str, object], field: str | None):
    answer = await house.call("PUT", "/v1/limits/bad", body)
    assert answer.code == "invalid_input"
    assert field is None or answer.json["field"] == field
    assert (await house.get("/v1/limits")).json["items"] == []


async def test_a_tenants_limits_are_its_own_and_those_for_all_are_nobodys_to_remove(house: House):
    await house.call("PUT", "/v1/limits/mine", {"max_running": 5})
    await house.call("PUT", "/v1/limits/everybody", {"max_running": 50, "each": ["tenant"]}, who="root")
    assert [item["name"] for item in (await house.get("/v1/limits", who="blue")).json["items"]] == ["everybody"]
    assert (await house.get("/v1/limits/mine", who="blue")).code == "not_found"
    assert (await house.call("DELETE", "/v1/limits/everybody")).code == "forbidden"
    assert (await house.call("PUT", "/v1/limits/x", {"max_running": 1, "tenant": "blue"})).code == "forbidden"
    assert (await house.call("PUT", "/v1/limits/x", {"max_running": 1}, role=Role.SUBMITTER)).code == "forbidden"


async def test_a_tenants_weight_is_changed_only_from_outside(house: House):
    changed = await house.call("PATCH", "/v1/tenants/red", {"weight": 2.5}, who="root")
    assert changed.json["weight"] == 2.5
    assert (await house.call("PATCH", "/v1/tenants/red", {"weight": 9})).code == "forbidden"
    assert (await house.call("PATCH", "/v1/tenants/red", {"weight": 0}, who="root")).code == "invalid_input"
    assert (await house.call("PATCH", "/v1/tenants/none", {"weight": 1}, who="root")).code == "not_found"
