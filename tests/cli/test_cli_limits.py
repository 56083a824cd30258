"""The commands about limits, against a scripted server."""

import msgspec

from .conftest import Horae, Script


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
    script.on("GET", "/v1/limits/slow", limit())
    script.on("DELETE", "/v1/limits/slow", None, 204)
    assert "everything" in client("limit", "list").out
    assert "5" in client("limit", "show", "slow").out
    assert client("limit", "remove", "slow").out == "slow removed\n"


def test_a_field_that_is_none_is_named(client: Horae) -> None:
    ran = client("limit", "set", "slow", "--each", "worker", "--max-running", "5")
    assert ran.code != 0
    assert "tenant, queue, task, key" in ran.err


def test_a_tenant_is_weighed(client: Horae, script: Script) -> None:
    script.on("PATCH", "/v1/tenants/red", {"id": 2, "name": "red", "weight": 3.0, "created_at": "2026-01-01T00:00:00Z"})
    assert client("tenant", "change", "red", "--weight", "3").out == "red 3\n"
