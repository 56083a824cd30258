"""The commands about workers, tasks, keys and tenants, against a scripted server."""

import msgspec

from .conftest import Horae, Script
from .records import ID, job, key, worker


def test_workers_are_listed(client: Horae, script: Script) -> None:
    script.on("GET", "/v1/workers", {"items": [worker(cpu_load=0.5)]})
    ran = client("workers")
    assert ran.code == 0
    for expected in ("w1", "healthy", "1/4", "50%"):
        assert expected in ran.out


def test_workers_are_listed_page_after_page(client: Horae, script: Script) -> None:
    script.on("GET", "/v1/workers", {"items": [worker(name="w9")], "next_cursor": "9"})
    script.on("GET", "/v1/workers", {"items": [worker(name="w3")]})
    out = client("workers").out
    assert out.index("w9") < out.index("w3")
    assert [seen.target for seen in script.seen][-1] == "/v1/workers?cursor=9"


def test_no_worker_comes_with_the_command_to_start_one(client: Horae, script: Script) -> None:
    script.on("GET", "/v1/workers", {"items": []})
    assert "horae worker --app" in client("workers").err


def test_one_worker_is_shown_with_its_history(client: Horae, script: Script) -> None:
    at = "2026-01-01T00:00:00Z"
    script.on("GET", "/v1/workers/7", worker(probation=True))
    script.on("GET", "/v1/workers/7/history", {"items": [
        {"worker_id": 7, "at": at, "event": "late", "seconds": 9.4, "times": 3},
        {"worker_id": 7, "at": at, "event": "drained", "who": "ann", "reason": "new disk"},
        {"worker_id": 6, "at": at, "event": "lost"},
    ]})  # fmt: skip
    shown = " ".join(client("workers", "7").out.split())
    for expected in ("on probation", "3 times in ten minutes, the longest silence 9 s", "ann, new disk", "6 lost"):
        assert expected in shown


def test_a_worker_is_drained_and_resumed(client: Horae, script: Script) -> None:
    script.on("POST", "/v1/workers/7/drain", worker(state="draining"))
    script.on("POST", "/v1/workers/7/resume", worker())
    assert client("drain", "7").out == "7 draining\n"
    assert client("resume", "7").out == "7 active\n"


def test_tasks_are_listed_with_their_parameters(client: Horae, script: Script) -> None:
    schema = {"properties": {"a": {}, "b": {}}, "required": ["a"]}
    definition = {"name": "add", "params_schema": schema, "timeout": 90.0}
    script.on("GET", "/v1/tasks", {"items": [
        {"tenant": "default", "definition": definition, "updated_at": "2026-01-01T00:00:00Z"},
    ]})  # fmt: skip
    ran = client("tasks")
    assert "a [b]" in ran.out
    assert "1m30s" in ran.out


def test_a_new_keys_secret_stands_alone_on_stdout(client: Horae, script: Script) -> None:
    script.on("POST", "/v1/keys", {"key": key(), "secret": "hk_secret"}, 201)
    ran = client("key", "create", "ci", "--role", "submitter", "--expires-in", "never")
    assert ran.out == "hk_secret\n"
    assert msgspec.json.decode(script.seen[0].body) == {"name": "ci", "role": "submitter", "expires_in": None}


def test_keys_are_listed_and_revoked(client: Horae, script: Script) -> None:
    script.on("GET", "/v1/keys", {"items": [key(), key(id=4, revoked_at="2026-01-02T00:00:00Z")]})
    script.on("DELETE", "/v1/keys/3", key(revoked_at="2026-01-02T00:00:00Z"))
    assert "revoked" in client("key", "list").out
    assert client("key", "revoke", "3").out == "3 revoked\n"


def test_tenants_are_created_and_listed(client: Horae, script: Script) -> None:
    tenant = {"id": 2, "name": "team", "weight": 2.0, "created_at": "2026-01-01T00:00:00Z"}
    script.on("POST", "/v1/tenants", tenant, 201)
    script.on("GET", "/v1/tenants", {"items": [tenant]})
    assert client("tenant", "create", "team", "--weight", "2").out == "2 team\n"
    assert msgspec.json.decode(client("tenant", "list", "--json").out) == tenant


def test_whoami_names_key_and_server(client: Horae, script: Script) -> None:
    script.on("GET", "/v1/whoami", {"name": "ci", "role": "viewer"})
    ran = client("whoami")
    assert "viewer" in ran.out
    assert script.url in ran.out


def test_maintenance_says_why_and_how_long(client: Horae, script: Script) -> None:
    script.on("POST", "/v1/workers/7/drain", worker(state="draining", moving=2, staying=1))
    ran = client("maintenance", "7", "--reason", "new disk", "--for", "2h", "--move")
    assert ran.out == "7 draining\n"
    assert "2 running jobs go on elsewhere, 1 stay" in ran.err
    assert msgspec.json.decode(script.seen[0].body) == {"reason": "new disk", "lasts": "2h", "move": True}


def test_the_fleet_shows_who_drains_what_and_why(client: Horae, script: Script) -> None:
    steered = worker(state="draining", steered_by="ann", steer_reason="new disk", steer_until="2126-01-01T00:00:00Z")
    script.on("GET", "/v1/workers", {"items": [steered]})
    ran = client("workers", "--json")
    assert msgspec.json.decode(ran.out)["steer_reason"] == "new disk"
    assert "ann: new disk" in client("workers").out


def test_running_jobs_are_moved_one_by_one(client: Horae, script: Script) -> None:
    script.on("POST", f"/v1/jobs/{ID}/move", job(state="running"), 202)
    assert client("move", ID, "--reason", "hot", "--force").out == f"{ID} running\n"
    assert msgspec.json.decode(script.seen[0].body) == {"reason": "hot", "force": True}
