"""The commands about limits, against a scripted server."""

import msgspec

from .conftest import Horae, Script
from .records import ID, OTHER

AT = "2026-01-01T00:00:00Z"


def limit(**fields: object) -> dict[str, object]:
    return {"name": "slow", "max_running": 5, "made_by": "admin", "made_at": "2026-01-01T00:00:00Z"} | fields


def test_a_limit_is_set_with_what_was_said(client: Horae, script: Script) -> None:
    script.on("PUT", "/v1/limits/slow", limit(task="charge", each=["key"], rate=10.0, burst=50.0, running=3, groups=2))
    ran = client("limit", "set", "slow", "--task", "charge", "--each", "key", "--max-running", "5", "--rate", "10/s")
    assert msgspec.json.decode(script.seen[0].body) == {
        "task": "charge", "each": ["key"], "max_running": 5, "rate": "10/s",
    }  # fmt: skip
    for expected in ("task charge; each key", "10/s, burst 50", "3 in 2 groups"):
        assert expected in ran.out


def test_limits_are_listed_shown_and_removed(client: Horae, script: Script) -> None:
    script.on("GET", "/v1/limits", {"items": [limit(running=4)]})
    holder = {"job_id": ID, "tenant": "red", "queue": "q", "task": "charge", "worker_id": 7, "since": AT}
    lane = {"tenant": "red", "queue": "q", "task": "charge", "jobs": 12, "job_id": OTHER, "due_at": AT, "limit": "slow"}
    script.on("GET", "/v1/limits/slow/use", {"limit": limit(), "holders": [holder], "waiting": [lane]})
    script.on("DELETE", "/v1/limits/slow", None, 204)
    assert "everything" in client("limit", "list").out
    shown = client("limit", "show", "slow").out
    for expected in ("max running 5", ID, OTHER, "12", "limit slow"):
        assert expected in " ".join(shown.split())
    assert client("limit", "remove", "slow").out == "slow removed\n"


def test_a_field_that_is_none_is_named(client: Horae) -> None:
    ran = client("limit", "set", "slow", "--each", "worker", "--max-running", "5")
    assert ran.code != 0
    assert "tenant, queue, task, key" in ran.err


def test_a_tenant_is_weighed(client: Horae, script: Script) -> None:
    script.on("PATCH", "/v1/tenants/red", {"id": 2, "name": "red", "weight": 3.0, "created_at": "2026-01-01T00:00:00Z"})
    assert client("tenant", "change", "red", "--weight", "3").out == "red 3\n"
