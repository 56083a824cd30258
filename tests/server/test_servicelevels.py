"""Service levels over HTTP."""

import pytest

from horae.model.roles import Role
from horae.testing.waiting import wait_for

from .house import House, end

GOLD = {"task": "work", "tier": "gold", "start_within": "5m", "target": 0.95, "reason": "r"}
NIGHTS = {"windows": [{"start": "22:00", "end": "06:00"}], "tz": "Europe/Berlin"}


async def judged(conn) -> None:
    """By the server's own duty, which runs every second."""
    await wait_for(lambda: conn.fetchval("select count(*) = 0 from promise where stage < 2"), what="the judgement")


async def test_a_level_is_made_kept_changed_and_deleted(house: House, conn):
    worker = await house.worker()
    made = await house.call("PUT", "/v1/service-levels/gold", GOLD)
    assert (made.status, made.json["start_within"], made.json["made_by"]) == (200, 300.0, "red-admin")
    assert made.json["day"] == {"kept": 0, "broken": 0, "share": None, "met": None}
    job_id = await house.submit()
    job = (await house.get(f"/v1/jobs/{job_id}")).json
    assert (job["service_level"], "start_by" in job) == ("gold", True)
    (grant,) = await worker.take(1)
    await worker.finish(end(grant))
    await conn.execute("update promise set look_at = clock_timestamp()")
    await judged(conn)
    shown = (await house.get("/v1/service-levels/gold")).json
    assert shown["day"] == shown["hour"] == shown["month"] == {"kept": 1, "broken": 0, "share": 1.0, "met": True}
    changed = await house.call("PUT", "/v1/service-levels/gold", {"start_within": 10, "off_peak": NIGHTS})
    assert (changed.json["off_peak"], "task" in changed.json, changed.json["day"]["kept"]) == (NIGHTS, False, 1)
    assert (await house.call("DELETE", "/v1/service-levels/gold")).status == 204
    assert (await house.get("/v1/service-levels/gold")).code == "not_found"
    assert (await house.get("/v1/service-levels")).json["items"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "start_within"),
        ({"start_within": 0}, "start_within"),
        ({"start_within": "soon"}, "start_within"),
        ({"start_within": "9999w"}, "start_within"),
        ({"start_within": 1, "target": 99}, "target"),
        ({"start_within": 1, "priority": 10}, "priority"),
        ({"start_within": 1, "tier": "a\u0007b"}, "tier"),
        ({"start_within": 1, "task": "no name"}, "task"),
        ({"start_within": 1, "colour": "red"}, None),
        ({"off_peak": {"windows": []}}, "off_peak.windows"),
        ({"off_peak": {"windows": [{"start": "25:00"}]}}, "windows[0].start"),
        ({"off_peak": {"windows": [{"days": "FOO"}]}}, "windows[0].days"),
        ({"off_peak": {**NIGHTS, "tz": "Europe/Berln"}}, "off_peak.tz"),
        ({"off_peak": {**NIGHTS, "tz": "localtime"}}, "off_peak.tz"),
    ],
)
async def test_a_level_that_makes_no_sense_is_refused(house: House, body: dict[str, object], field: str | None):
    answer = await house.call("PUT", "/v1/service-levels/bad", body)
    assert answer.code == "invalid_input"
    assert field is None or answer.json["field"] == field
    assert (await house.get("/v1/service-levels")).json["items"] == []


async def test_two_levels_for_the_same_jobs_are_refused(house: House):
    await house.call("PUT", "/v1/service-levels/gold", GOLD)
    assert (await house.call("PUT", "/v1/service-levels/silver", GOLD)).code == "already_exists"
    assert (await house.call("PUT", "/v1/service-levels/gold", GOLD, who="blue")).status == 200
    assert (await house.call("PUT", "/v1/service-levels/silver", {"start_within": 60}, who="root")).status == 200


async def test_a_tenants_levels_are_its_own_and_those_for_all_are_nobodys_to_delete(house: House):
    await house.call("PUT", "/v1/service-levels/mine", {"start_within": 5})
    await house.call("PUT", "/v1/service-levels/all", {"start_within": 50}, who="root")
    assert [item["name"] for item in (await house.get("/v1/service-levels", who="blue")).json["items"]] == ["all"]
    assert (await house.get("/v1/service-levels/mine", who="blue")).code == "not_found"
    assert (await house.call("DELETE", "/v1/service-levels/all")).code == "forbidden"
    body = {"start_within": 1, "tenant": "blue"}
    assert (await house.call("PUT", "/v1/service-levels/x", body)).code == "forbidden"
    assert (
        await house.call("PUT", "/v1/service-levels/x", {"start_within": 1}, role=Role.SUBMITTER)
    ).code == "forbidden"


async def test_figures_of_a_level_for_all_are_told_to_each_tenant_for_itself(house: House, conn):
    await house.call("PUT", "/v1/service-levels/all", {"start_within": 50}, who="root")
    for who in ("red", "blue"):
        await house.worker(who, who=who)
        await house.submit(who, who=who)
    await conn.execute(
        "update promise set due_at = clock_timestamp() - interval '1 minute', look_at = clock_timestamp()"
    )
    await judged(conn)
    red = (await house.get("/v1/service-levels/all")).json
    assert (red["day"]["broken"], red["late"], [task["task"] for task in red["worst_tasks"]]) == (1, 1, ["red"])
    assert [job["task"] for job in red["latest_jobs"]] == ["red"]
    both = (await house.get("/v1/service-levels/all", who="root")).json
    assert (both["day"]["broken"], both["late"]) == (2, 2)
    blue = (await house.get("/v1/service-levels/all", who="root", tenant="blue")).json
    assert [job["tenant"] for job in blue["latest_jobs"]] == ["blue"]
