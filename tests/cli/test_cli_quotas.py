"""`horae quota` and `horae queues`, against a scripted server."""

import msgspec

from .conftest import Horae, Script
from .records import ID

QUOTA = {"scope": "queue", "name": "mail", "tenant": "red", "submit_rate": 10.0, "burst": 20,
         "updated_at": "2026-01-01T00:00:00Z", "updated_by": "boss"}  # fmt: skip


def test_a_quota_is_set(client: Horae, script: Script) -> None:
    script.on("PUT", "/v1/quotas/queue/mail", QUOTA)
    ran = client("quota", "set", "queue", "mail", "--rate", "600/m", "--burst", "20", "--tenant", "red")
    assert ran.out == "queue red mail 10/s 20 -\n"
    assert msgspec.json.decode(script.seen[0].body) == {"submit_rate": "600/m", "burst": 20}
    client("quota", "set", "queue", "mail", "--rate", "2.5")
    assert msgspec.json.decode(script.seen[1].body) == {"submit_rate": 2.5}


def test_quotas_are_listed(client: Horae, script: Script) -> None:
    script.on("GET", "/v1/quotas", {"items": [QUOTA]})
    out = client("quota", "list").out
    for expected in ("queue", "mail", "red", "10/s", "20", "boss"):
        assert expected in out
    assert msgspec.json.decode(client("quota", "list", "--json").out) == QUOTA


def test_a_quota_is_removed(client: Horae, script: Script) -> None:
    script.on("DELETE", "/v1/quotas/queue/mail", None, 204)
    assert client("quota", "remove", "queue", "mail").out == "queue mail removed\n"


def test_a_scope_that_does_not_exist_is_a_usage_error(client: Horae) -> None:
    assert client("quota", "set", "planet", "earth", "--max-pending", "1").code == 2


def test_queues_are_listed_with_depths_and_rates(client: Horae, script: Script) -> None:
    queue = {"tenant": "red", "queue": "mail", "pending": 12, "running": 3, "submit_rate": 1.25, "start_rate": 1.0,
             "success_rate": 0.5, "failure_rate": 0.0, "retry_rate": 0.0}  # fmt: skip
    script.on("GET", "/v1/queues", {"items": [queue]})
    out = client("queues").out
    for expected in ("red", "mail", "12", "3", "1.25"):
        assert expected in out
    assert msgspec.json.decode(client("queues", "--json").out) == queue


def test_it_is_said_when_there_may_be_more_queues(client: Horae, script: Script) -> None:
    script.on("GET", "/v1/queues", {"items": [], "more": True})
    script.on("GET", "/v1/queues", {"items": [], "more": True})
    assert "--tenant" in client("queues").err
    narrowed = client("queues", "--tenant", "red").err
    assert "there may be more" in narrowed
    assert "--tenant" not in narrowed


def test_it_is_said_who_waits_in_a_queue_and_for_what(client: Horae, script: Script) -> None:
    lane = {"tenant": "red", "queue": "mail", "task": "send", "jobs": 3, "job_id": ID, "due_at": "2026-01-01T00:00:00Z"}
    held = [lane, lane | {"gate": 4}, lane | {"limit": "slow", "more": True}, lane | {"no_worker": True}]
    script.on("GET", "/v1/queues/mail/waiting", {"items": held, "more": True})
    ran = client("queues", "mail")
    for expected in ("its turn", "gate 4", "limit slow", "3+", "a worker that could run it"):
        assert expected in ran.out
    assert "there are more" in ran.err


def test_no_queue_at_all_is_said(client: Horae, script: Script) -> None:
    script.on("GET", "/v1/queues", {"items": []})
    assert "nothing has been submitted" in client("queues").err
