"""`horae gate`, `stop` and `go`, against a scripted server."""

from typing import Any
from uuid import UUID

import msgspec

from .conftest import Horae, Script

JOB = UUID(int=7)


def gate(**more: Any) -> dict[str, Any]:
    return {
        "id": 7, "state": "closed", "action": "hold", "kind": "gate", "owner": "ann", "reason": "broken",
        "made_at": "2026-01-01T00:00:00Z", **more,
    }  # fmt: skip


def sent(script: Script) -> Any:
    return msgspec.json.decode(script.seen[-1].body)


def test_a_gate_is_created_for_what_was_said(client: Horae, script: Script) -> None:
    script.on("POST", "/v1/gates", gate(), 201)
    order = ("--task", "mail", "--condition", "params.n > 1", "--percent", "5", "--action", "drop")
    assert client("gate", "create", "--reason", "broken", "--expires-in", "2h", *order).out == "7 closed\n"
    assert sent(script) == {
        "reason": "broken", "action": "drop", "task": "mail", "condition": "params.n > 1", "percent": 5,
        "expires_in": "2h",
    }  # fmt: skip


def test_a_gate_needs_a_reason(client: Horae, script: Script) -> None:
    assert client("gate", "create", "--task", "mail").code != 0
    assert script.seen == []


def test_gates_are_listed_in_words(client: Horae, script: Script) -> None:
    gates = [gate(task="mail", percent=5, condition="params.n > 1", held=1000, held_more=True), gate(id=8)]
    script.on("GET", "/v1/gates", {"items": gates})
    out = client("gate", "list", "--all").out
    assert script.seen[-1].target == "/v1/gates?all=true"
    for expected in ("task mail, 5 %, if params.n > 1", "1,000+", "everything", "ann", "broken"):
        assert expected in out


def test_it_is_said_when_there_may_be_more_gates(client: Horae, script: Script) -> None:
    script.on("GET", "/v1/gates", {"items": [gate()], "more": True})
    assert "the latest 1; there may be more" in client("gate", "list").err


def test_a_gate_is_shown_with_its_note(client: Horae, script: Script) -> None:
    script.on("GET", "/v1/gates/7", gate(state="releasing", release_rate=10.0, note="1 of 3", held=4))
    out = client("gate", "show", "7").out
    for expected in ("releasing", "10/s", "1 of 3", "leave"):
        assert expected in out


def test_a_gate_is_released_and_extended(client: Horae, script: Script) -> None:
    script.on("POST", "/v1/gates/7/release", gate(state="releasing"))
    script.on("PATCH", "/v1/gates/7", gate())
    assert client("gate", "release", "7", "--rate", "10/s").out == "7 releasing\n"
    assert sent(script) == {"rate": "10/s"}
    assert client("gate", "extend", "7", "--expires-in", "never").out == "7 closed\n"
    assert sent(script) == {"expires_in": "never"}
    assert "nothing to change" in client("gate", "extend", "7").err


def test_a_restore_goes_on_until_all_is_back(client: Horae, script: Script) -> None:
    script.on("POST", "/v1/gates/7/restore", {"restored": 500, "more": True})
    script.on("POST", "/v1/gates/7/restore", {"restored": 20, "more": False})
    assert client("gate", "restore", "7", str(JOB), "--task", "mail").out == "520 restored\n"
    assert sent(script) == {"task": "mail", "ids": [str(JOB)]}
    assert len(script.seen) == 2


def test_a_preview_shows_examples(client: Horae, script: Script) -> None:
    sample = [{"id": str(JOB), "task": "mail", "queue": "default", "state": "ready"}]
    found = {"matching": 12, "looked_at": 5000, "complete": False, "sample": sample, "note": "does not apply to …"}
    script.on("POST", "/v1/gates/preview", found)
    ran = client("gate", "preview", "--task", "mail")
    assert "12 of the first 5,000 waiting jobs" in ran.out
    assert str(JOB) in ran.out
    assert "does not apply" in ran.err


def test_a_stop_says_only_how_far_it_would_reach(client: Horae, script: Script) -> None:
    fullest = {"tenant": "red", "queue": "mail", "pending": 1200, "running": 3}
    script.on("GET", "/v1/stop", {
        "pending": 1234, "running": 5, "workers": 2, "tenants": 3, "queues": 4, "largest": [fullest],
    })  # fmt: skip
    shown = " ".join(client("stop", "--dry-run").out.split())
    assert "would hold 1,234 waiting jobs in 4 queues of 3 tenants; 5 jobs run on 2 workers" in shown
    assert "red mail 1,200 3" in shown


def test_stop_and_go(client: Horae, script: Script) -> None:
    script.on("POST", "/v1/stop", gate(kind="stop"))
    script.on("DELETE", "/v1/stop", {"items": [gate(state="over")]})
    assert client("stop", "--running", "cancel").out == "7 closed\n"
    assert sent(script) == {"reason": "emergency stop", "running": "cancel"}
    assert client("go", "--rate", "5/s").out == "7 over\n"
    assert script.seen[-1].target == "/v1/stop?rate=5%2Fs"
