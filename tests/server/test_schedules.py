"""Schedules over HTTP."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from horae.model.roles import Role

from .house import House, end

HOURLY = {"name": "s", "task": "work", "every": "1h"}


@pytest.fixture
async def house(house: House) -> House:
    await house.put_task("work")
    return house


async def make(house: House, **given: Any) -> dict[str, Any]:
    answer = await house.post("/v1/schedules", HOURLY | given)
    assert answer.status == 201, answer
    return answer.json


async def test_a_schedule_is_made_shown_and_deleted(house: House):
    made = await make(house, every=None, cron="0 10 * * FRI", tz="Europe/Berlin", why="weekly mail")
    assert made["definition"]["rules"] == [{"cron": "0 10 * * FRI"}]
    assert made["state"] == "active"
    assert made["words"] == ["at 10:00 on Fridays, Europe/Berlin"] or "10:00" in made["words"][0]
    shown = (await house.get("/v1/schedules/s")).json
    assert shown == made
    assert (await house.get("/v1/schedules")).json["items"] == [made]
    assert (await house.call("DELETE", "/v1/schedules/s", why="no more")).status == 204
    assert (await house.get("/v1/schedules/s")).code == "not_found"
    (deleted, created) = (await house.get("/v1/schedules/s/history")).json["items"]
    assert (created["action"], created["why"], deleted["action"], deleted["why"]) == (
        "created", "weekly mail", "deleted", "no more",
    )  # fmt: skip


async def test_its_ticks_run(house: House):
    worker = await house.worker()
    await make(house, every="1s", params={"n": 1}, job={"priority": 7, "labels": {"a": "b"}})
    (grant,) = await worker.take()
    await worker.finish(end(grant))
    job = (await house.get(f"/v1/jobs/{grant['id']}")).json
    assert (job["priority"], job["params"], job["labels"]) == (7, {"n": 1}, {"a": "b", "schedule": "s"})
    page = (await house.get("/v1/schedules/s/ticks", state="fired")).json["items"]
    (tick,) = [tick for tick in page if tick["job_id"] == grant["id"]]
    assert tick["job_state"] == "succeeded"


@pytest.mark.parametrize(
    ("wrong", "code", "word"),
    [
        ({"task": "nobody"}, "unknown_task", "nobody"),
        ({"every": None, "cron": "0 0 30 2 *"}, "invalid_input", "never fires"),
        ({"every": None, "cron": "61 * * * *"}, "invalid_input", "61"),
        ({"every": None, "cron": "@daily", "tz": "Europe/Berln"}, "invalid_input", "Europe/Berlin"),
        ({"overlap": "sometimes"}, "invalid_input", "overlap"),
        ({"job": {"priority": 77}}, "invalid_input", "priority"),
        ({"nosuch": 1}, "invalid_input", "nosuch"),
        ({"name": "forecast"}, "invalid_input", "forecast"),
        ({"calendars": ["x"]}, "invalid_input", "calendar"),
    ],
)
async def test_what_cannot_work_is_refused_with_the_reason(house: House, wrong: dict[str, Any], code: str, word: str):
    body = {name: value for name, value in (HOURLY | wrong).items() if value is not None}
    answer = await house.post("/v1/schedules", body)
    assert answer.code == code
    assert word in answer.json["detail"]


async def test_a_schedule_that_would_fire_too_often_is_refused(house: House):
    put = await house.call("PUT", "/v1/schedules/limits", {"shortest_interval": "1m"}, who="root", tenant="red")
    assert put.json == {"shortest_interval": "1m"}
    answer = await house.post("/v1/schedules", HOURLY | {"every": "30s"})
    assert "every 60 s at most" in answer.json["detail"]
    assert (await house.call("PUT", "/v1/schedules/limits", {"shortest_interval": "1s"})).code == "forbidden"


async def test_put_makes_it_so_and_says_what_it_did(house: House):
    outcomes = []
    for every in ("1h", "1h", "2h"):
        answer = await house.call("PUT", "/v1/schedules/s", HOURLY | {"every": every})
        outcomes.append((answer.status, answer.json["outcome"], answer.json["version"]))
    assert outcomes == [(201, "created", 1), (200, "unchanged", 1), (200, "changed", 2)]
    assert (await house.call("PUT", "/v1/schedules/other", HOURLY)).code == "invalid_input"


async def test_a_patch_changes_only_what_it_names(house: House):
    await make(house, description="mine", params={"n": 1})
    answer = await house.call("PATCH", "/v1/schedules/s", {"set": {"cron": "@daily", "description": None}, "why": "x"})
    definition = answer.json["definition"]
    assert definition["rules"] == [{"cron": "@daily"}]
    assert "description" not in definition
    assert definition["params"] == {"n": 1}
    wrong = await house.call("PATCH", "/v1/schedules/s", {"set": {"name": "t"}})
    assert wrong.code == "invalid_input"
    assert (await house.call("PATCH", "/v1/schedules/s", {"set": {"nosuch": 1}})).code == "invalid_input"


async def test_pause_and_resume(house: House):
    await make(house)
    paused = (await house.post("/v1/schedules/s/pause", {"why": "holiday"})).json
    assert paused["state"] == "paused"
    assert "next_run_at" not in paused
    assert (await house.post("/v1/schedules/s/pause")).code == "wrong_state"
    assert (await house.post("/v1/schedules/s/resume")).json["state"] == "active"


async def test_a_trigger_runs_it_now(house: House):
    worker = await house.worker()
    await make(house)
    answer = await house.post("/v1/schedules/s/trigger", {"params": {"n": 2}})
    (grant,) = await worker.take()
    assert answer.json == {"job_id": grant["id"]}
    assert grant["params"] == {"n": 2}


async def test_a_preview_shows_what_dst_and_calendars_do(house: House):
    asked = {
        "name": "s", "task": "work", "cron": "30 2 * * *", "tz": "Europe/Berlin",
        "since": "2027-03-27T00:00:00Z", "count": 3,
    }  # fmt: skip
    shown = (await house.post("/v1/schedules/preview", asked)).json
    assert [tick["at"] for tick in shown["items"]] == [
        "2027-03-27T01:30:00Z", "2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z",
    ]  # fmt: skip
    assert shown["items"][1]["marks"] == ["gap_moved"]
    assert shown["items"][1]["detail"]
    assert (await house.get("/v1/schedules")).json["items"] == []
    await house.call("PUT", "/v1/calendars/de", {"name": "de", "country": "DE"})
    await make(house, every=None, cron="0 9 * * *", calendars=["de"])
    shown = (
        await house.get("/v1/schedules/s/preview", since="2026-12-24T00:00:00Z", until="2026-12-28T00:00:00Z")
    ).json
    assert [tick.get("skipped") for tick in shown["items"]] == [None, "calendar", "calendar", None]


async def test_calendars_are_made_and_deleted(house: House):
    body = {"name": "own", "days": {"2026-12-31": "stocktaking"}}
    assert (await house.call("PUT", "/v1/calendars/own", body)).json["definition"] == body
    assert [c["definition"]["name"] for c in (await house.get("/v1/calendars")).json["items"]] == ["own"]
    await make(house, calendars=["own"])
    assert (await house.call("DELETE", "/v1/calendars/own")).code == "wrong_state"
    await house.call("DELETE", "/v1/schedules/s")
    assert (await house.call("DELETE", "/v1/calendars/own")).status == 204
    assert (await house.get("/v1/calendars/own")).code == "not_found"
    assert (await house.call("PUT", "/v1/calendars/x", {"name": "x", "country": "XX"})).code == "invalid_input"


async def test_a_backfill_is_shown_started_and_cancelled(house: House):
    await make(house)
    now = datetime.now(UTC) - timedelta(seconds=5)
    body = {"since": (now - timedelta(hours=5)).isoformat(), "until": now.isoformat(), "concurrency": 2}
    shown = (await house.post("/v1/schedules/s/backfill", body | {"dry_run": True})).json
    assert (shown["state"], shown["total"], len(shown["ticks"])) == ("planned", 5, 5)
    made = (await house.post("/v1/schedules/s/backfill", body)).json
    assert (made["state"], made["total"]) == ("running", 5)
    assert [b["id"] for b in (await house.get("/v1/schedules/s/backfills")).json["items"]] == [made["id"]]
    ended = (await house.call("DELETE", f"/v1/schedules/s/backfills/{made['id']}")).json
    assert ended["state"] == "cancelled"
    assert (await house.get("/v1/schedules/s/backfills/999")).code == "not_found"


async def test_the_forecast_counts_the_ticks_of_each_minute(house: House):
    for name in ("a", "b"):
        await make(house, name=name, every=None, cron="0 3 * * *")
    found = (await house.get("/v1/schedules/forecast", since="2027-01-01T00:00:00Z")).json
    assert found["minutes"] == [{"at": "2027-01-01T03:00:00Z", "ticks": 2}]
    assert found["collisions"] == [{"at": "2027-01-01T03:00:00Z", "ticks": 2, "schedules": ["a", "b"]}]
    assert {proposal["cron"] for proposal in found["proposals"]} == {"H 3 * * *"}


async def test_schedules_of_another_tenant_are_not_there(house: House):
    await make(house)
    await house.put_task("work", who="blue")
    for method, path, body in (
        ("GET", "/v1/schedules/s", None), ("PATCH", "/v1/schedules/s", {"set": {}}),
        ("DELETE", "/v1/schedules/s", None), ("POST", "/v1/schedules/s/pause", None),
        ("POST", "/v1/schedules/s/trigger", None), ("GET", "/v1/schedules/s/ticks", None),
        ("GET", "/v1/schedules/s/history", None), ("GET", "/v1/schedules/s/preview", None),
        ("GET", "/v1/schedules/s/backfills", None),
    ):  # fmt: skip
        assert (await house.call(method, path, body, who="blue")).code == "not_found", path
    assert (await house.get("/v1/schedules", who="blue")).json["items"] == []
    assert (await house.get("/v1/schedules/s", tenant="red", who="blue")).code == "forbidden"
    everybody = (await house.get("/v1/schedules", who="root")).json["items"]
    assert [item["tenant"] for item in everybody] == ["red"]
    assert (await house.get("/v1/schedules/s", who="root", tenant="red")).status == 200


async def test_lists_go_on_page_by_page(house: House):
    for number in range(5):
        await make(house, name=f"s{number}")
    names, cursor = [], ""
    while cursor is not None:
        page = (await house.get("/v1/schedules", limit=2, cursor=cursor)).json
        names += [item["definition"]["name"] for item in page["items"]]
        cursor = page.get("next_cursor")
    assert names == [f"s{number}" for number in range(5)]


async def test_a_viewer_looks_and_changes_nothing(house: House):
    await make(house)
    assert (await house.get("/v1/schedules/s", role=Role.VIEWER)).status == 200
    assert (await house.post("/v1/schedules/s/trigger", role=Role.VIEWER)).code == "forbidden"
    assert (await house.post("/v1/schedules", HOURLY, role=Role.VIEWER)).code == "forbidden"


async def test_a_list_tells_the_ticks_to_come_and_how_punctual_the_last_ones_were(house: House):
    worker = await house.worker()
    await make(house, every="1s")
    await make(house, name="yearly", every=None, cron="@yearly")
    (grant,) = await worker.take()
    await worker.finish(end(grant))
    often, yearly = (await house.get("/v1/schedules", next=3, latest=20)).json["items"]
    assert len(often["next"]) == len(yearly["next"]) == 3
    assert yearly["latest"] == []
    (done,) = [tick for tick in often["latest"] if tick["state"] == "succeeded"]
    assert 0 <= done["late"] < 60
    due = (await house.get("/v1/schedules/s/ticks", due="true")).json["items"]
    assert all(datetime.fromisoformat(tick["at"]) <= datetime.now(UTC) for tick in due)
    plain = (await house.get("/v1/schedules")).json["items"][0]
    assert "next" not in plain
    assert "latest" not in plain


async def test_a_tick_tells_when_its_job_first_started_however_often_it_was_tried(house: House):
    worker = await house.worker()
    await make(house, every="1s", max_runs=1, job={"max_attempts": 2, "retry": {"first": 0}})
    (grant,) = await worker.take()
    await worker.finish(end(grant, "error"))
    (again,) = await worker.take()
    assert (await latest(house))["state"] == "running"
    await worker.finish(end(again))
    (tick,) = (await house.get("/v1/schedules/s/ticks", state="fired")).json["items"]
    first, second = (await house.get(f"/v1/jobs/{grant['id']}/executions")).json["items"]
    assert tick["started_at"] == min(first["started_at"], second["started_at"])
    assert tick["finished_at"] > tick["started_at"]
    assert (await latest(house))["state"] == "succeeded"


async def latest(house: House) -> dict[str, Any]:
    return (await house.get("/v1/schedules", latest=1)).json["items"][0]["latest"][0]


async def test_a_paused_schedule_has_no_ticks_to_come(house: House):
    await make(house, paused=True)
    assert (await house.get("/v1/schedules", next=3)).json["items"][0]["next"] == []


async def test_schedules_are_found_by_text_and_state(house: House):
    await make(house, name="Nightly-report")
    await make(house, name="other", paused=True)

    async def names(**given: str) -> list[str]:
        return [item["definition"]["name"] for item in (await house.get("/v1/schedules", **given)).json["items"]]

    assert await names(text="REPORT") == ["Nightly-report"]
    assert await names(text="work") == ["Nightly-report", "other"]
    assert await names(state="paused") == ["other"]
    assert await names(state="active") == ["Nightly-report"]
    assert await names(state="ended") == []
    assert (await house.get("/v1/schedules", state="asleep")).code == "invalid_input"
    assert (await house.get("/v1/schedules", text="\x00")).code == "invalid_input"


async def test_a_draft_shows_its_ticks_beside_what_is_wrong_with_its_job(house: House):
    asked = {"name": "s", "task": "nobody", "cron": "0 9 * * *", "count": 2}
    assert (await house.post("/v1/schedules/preview", asked)).code == "unknown_task"
    shown = (await house.post("/v1/schedules/preview", asked | {"draft": True})).json
    assert len(shown["items"]) == 2
    assert (shown["problem"]["code"], shown["problem"]["field"]) == ("unknown_task", "task")
    fine = (await house.post("/v1/schedules/preview", asked | {"task": "work", "draft": True})).json
    assert "problem" not in fine
    await house.put_task("strict", params_schema={"type": "object", "required": ["n"]})
    lacking = (await house.post("/v1/schedules/preview", asked | {"task": "strict", "draft": True})).json["problem"]
    assert [fault["pointer"] for fault in lacking["errors"]] == ["/params"]
    wrong = await house.post("/v1/schedules/preview", asked | {"cron": "61 * * * *", "draft": True})
    assert wrong.json["field"] == "rules[0].cron"


async def test_the_agenda_counts_ticks_by_the_days_of_a_zone(house: House):
    await house.call("PUT", "/v1/calendars/de", {"name": "de", "country": "DE"})
    await make(house, name="nightly", every=None, cron="30 23 * * *", calendars=["de"])
    await make(house, name="often", every="1m")
    await make(house, name="resting", every="1h", paused=True)
    span = {"since": "2026-12-24T00:00:00Z", "until": "2026-12-26T00:00:00Z"}
    found = (await house.get("/v1/schedules/agenda", tz="Europe/Berlin", **span)).json
    # 23:30 in UTC is the next day in Berlin; the calendar goes by the schedule's own zone.
    assert [(day["day"], day["ticks"], day["skipped"]) for day in found["days"]] == [
        ("2026-12-25", 1, 0), ("2026-12-26", 0, 1),
    ]  # fmt: skip
    (christmas,) = found["days"][1]["items"]
    assert (christmas["schedule"], christmas["marks"]) == ("nightly", ["calendar"])
    assert "Christmas" in christmas["detail"]
    assert found["frequent"] == [{"schedule": "often", "tenant": "red"}]
    assert found["truncated"] is False
    alone = (await house.get("/v1/schedules/agenda", schedule="nightly", **span)).json
    assert [day["day"] for day in alone["days"]] == ["2026-12-24", "2026-12-25"]


async def test_an_agenda_of_too_long_a_time_or_an_unknown_zone_is_refused(house: House):
    await make(house)
    long = await house.get("/v1/schedules/agenda", since="2026-01-01T00:00:00Z", until="2027-01-01T00:00:00Z")
    assert long.json["field"] == "until"
    assert (await house.get("/v1/schedules/agenda", tz="Nowhere")).json["field"] == "tz"
    assert (await house.get("/v1/schedules/agenda", schedule="t")).code == "not_found"
    assert (await house.get("/v1/schedules/agenda", who="blue")).json["schedules"] == 0
