"""The commands about service levels, against a scripted server."""

import msgspec

from .conftest import Horae, Script

NONE = {"kept": 0, "broken": 0, "share": None, "met": None}


def level(**fields: object) -> dict[str, object]:
    return {
        "name": "gold", "start_within": 300.0, "target": 0.99, "hour": NONE, "day": NONE,
        "month": {"kept": 995, "broken": 5, "share": 0.995, "met": True}, "at_risk": 3, "late": 2,
        "made_by": "admin", "made_at": "2026-01-01T00:00:00Z",
    } | fields  # fmt: skip


def test_a_level_is_set_with_what_was_said(client: Horae, script: Script) -> None:
    off_peak = {"windows": [{"days": "SAT,SUN"}, {"start": "22:00", "end": "06:00"}], "tz": "Europe/Berlin"}
    script.on("PUT", "/v1/service-levels/gold", level(task="charge", tier="first", priority=8, off_peak=off_peak))
    ran = client(
        "sla", "set", "gold", "--task", "charge", "--tier", "first", "--start-within", "5m", "--target", "0.95",
        "--priority", "8", "--off-peak", "SAT,SUN", "--off-peak", "22:00-06:00", "--tz", "Europe/Berlin",
    )  # fmt: skip
    assert msgspec.json.decode(script.seen[0].body) == {
        "task": "charge", "tier": "first", "start_within": "5m", "target": 0.95, "priority": 8, "off_peak": off_peak,
    }  # fmt: skip
    for expected in ("99 % start within 5m00s", "SAT,SUN 00:00-24:00; every day 22:00-06:00 (Europe/Berlin)", "99.5 %"):
        assert expected in ran.out


def test_levels_are_listed_shown_and_deleted(client: Horae, script: Script) -> None:
    missed = {"kept": 1, "broken": 1, "share": 0.5, "met": False}
    job = {"id": "01900000-0000-7000-8000-000000000000", "tenant": "red", "task": "mail",
           "start_by": "2026-01-01T00:00:00Z"}  # fmt: skip
    task = {"tenant": "red", "task": "charge", "kept": 1, "broken": 1}
    shown = level(day=missed, worst_tasks=[task], latest_jobs=[job])
    script.on("GET", "/v1/service-levels", {"items": [shown]})
    script.on("GET", "/v1/service-levels/gold", shown)
    script.on("DELETE", "/v1/service-levels/gold", None, 204)
    assert "50 % (missed)" in client("sla", "list").out
    assert msgspec.json.decode(client("sla", "list", "--json").out)["late"] == 2
    out = client("sla", "show", "gold").out
    for expected in ("1 of 2: charge of red", job["id"], "mail of red", "50 % (missed), 1 of 2 late"):
        assert expected in out
    assert client("sla", "delete", "gold").out == "gold deleted\n"
