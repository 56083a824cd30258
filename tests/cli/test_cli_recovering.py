"""`horae dead`, `horae action` and `--where`, against a scripted server: what they ask, print, and how they end."""

from typing import Any

import msgspec
import pytest

from .conftest import Horae, Script
from .records import ID, OTHER, job

ACTIONS = "/v1/jobs/actions"
CAUSE = {
    "cause": "3f2a9bc1d0e4", "tenant": "default", "count": 2991, "tasks": ["mail"], "job_ids": [ID],
    "error": {"kind": "Refused", "message": "no route to 10.0.0.1\nmore"}, "first_at": "2026-11-15T10:00:00Z",
    "last_at": "2026-11-15T11:00:00Z",
}  # fmt: skip


def action(state: str, **more: Any) -> dict[str, Any]:
    base = {"action": "cancel", "state": state, "tenant": "default", "filter": {"task": "mail"}, "total": 2}
    return base | ({} if state == "preview" else {"id": OTHER}) | more


def body(script: Script, number: int) -> dict[str, Any]:
    return msgspec.json.decode(script.seen[number].body)


def test_all_that_match_are_cancelled_and_followed(client: Horae, script: Script) -> None:
    script.on("POST", ACTIONS, action("running"), 202)
    script.on("GET", f"/v1/actions/{OTHER}", action("running", seen=1, done=1))
    script.on("GET", f"/v1/actions/{OTHER}", action("done", seen=2, done=2))
    ran = client("cancel", "--where", "task=mail", "--where", "label=team:a", "--reason", "why", "--yes")
    assert (ran.code, ran.out) == (0, "cancel done: 2 jobs\n")
    assert body(script, 0) == {
        "action": "cancel", "filter": {"task": "mail", "label": {"team": "a"}}, "reason": "why",
    }  # fmt: skip
    assert [seen.method for seen in script.seen] == ["POST", "GET", "GET"]


def test_a_dry_run_only_looks(client: Horae, script: Script) -> None:
    script.on("POST", ACTIONS, action("preview", sample=[job()], more=True, total=100_000))
    ran = client("cancel", "--where", "status=pending", "--dry-run")
    assert ran.code == 0
    assert ID in ran.out
    assert "more than 100,000 jobs" in ran.err
    assert body(script, 0)["preview"] is True
    assert len(script.seen) == 1


def test_without_yes_and_a_terminal_nothing_is_done(client: Horae, script: Script) -> None:
    script.on("POST", ACTIONS, action("preview"))
    ran = client("retry", "--where", "status=failed")
    assert ran.code == 2
    assert "--yes" in ran.err
    assert body(script, 0)["preview"] is True
    assert len(script.seen) == 1


def test_what_went_wrong_with_some_is_told(client: Horae, script: Script) -> None:
    script.on("POST", ACTIONS, action("done", done=3, skipped=1, failed=2, note="job 7: no"), 202)
    ran = client("action", "run", "change", "--where", "task=mail", "--queue", "slow", "--rate", "5", "--yes")
    assert (ran.code, ran.out) == (1, "cancel done: 3 jobs, 1 had moved on, 2 failed (job 7: no)\n")
    assert (body(script, 0)["changes"], body(script, 0)["rate"]) == ({"queue": "slow"}, 5.0)


@pytest.mark.parametrize(
    "arguments",
    [
        ("cancel", ID, "--where", "task=mail"),
        ("cancel", "--yes"),
        ("cancel", "--where", "task"),
        ("cancel", "--where", "colour=red"),
        ("cancel", "--where", "worker=x"),
        ("cancel", "--where", "label=x"),
        ("cancel", "--where", "since=tomorrow"),
        ("cancel", "--where", "task=a", "--where", "task=b"),
        ("action", "run", "cancel"),
        ("action", "run", "explode", "--where", "task=a"),
        ("dead", "redrive"),
        ("dead", "discard", "--job", "nonsense"),
    ],
)
def test_wrong_usage_ends_with_2_and_asks_nobody(client: Horae, script: Script, arguments: tuple[str, ...]) -> None:
    ran = client(*arguments)
    assert (ran.code, script.seen) == (2, [])
    assert ran.err


def test_causes_are_one_line_each(client: Horae, script: Script) -> None:
    script.on("GET", "/v1/dead-letters", {"causes": [CAUSE, CAUSE | {"cause": "other"}]})
    ran = client("dead", "list", "--task", "mail")
    lines = ran.out.splitlines()
    assert len(lines) == 3
    assert lines[1].split()[:4] == ["3f2a9bc1d0e4", "2991", "Refused", "no"]
    assert script.seen[0].target == "/v1/dead-letters?task=mail"
    assert len(client("dead", "list", "--json").out.splitlines()) == 2


def test_one_cause_is_shown_with_its_jobs(client: Horae, script: Script) -> None:
    script.on("GET", "/v1/dead-letters", {"causes": [CAUSE], "jobs": [job(state="failed")]})
    ran = client("dead", "show", "3f2a9bc1d0e4")
    assert ran.code == 0
    assert "2,991" in ran.out
    assert ID in ran.out


def test_a_cause_that_is_not_there_is_not_found(client: Horae, script: Script) -> None:
    script.on("GET", "/v1/dead-letters", {"causes": []})
    assert client("dead", "show", "nothing").code == 3


def test_causes_are_redriven_one_action_each(client: Horae, script: Script) -> None:
    script.on("POST", "/v1/dead-letters/redrive", action("done", action="redrive", done=1), 202)
    ran = client("dead", "redrive", "one", "two", "--rate", "10", "--param", "a=1", "--yes")
    assert (ran.code, ran.out) == (0, "redrive done: 1 job\n" * 2)
    assert [body(script, n)["filter"]["cause"] for n in (0, 1)] == ["one", "two"]
    assert body(script, 0)["changes"] == {"params": {"a": 1}}


def test_jobs_are_discarded_by_id(client: Horae, script: Script) -> None:
    script.on("POST", "/v1/dead-letters/discard", action("done", action="discard", done=2), 202)
    assert client("dead", "discard", "--job", ID, "--job", OTHER, "--yes").code == 0
    assert body(script, 0) == {"filter": {"ids": [ID, OTHER]}}


def test_actions_are_listed_shown_stopped_and_undone(client: Horae, script: Script) -> None:
    there = action("done", done=2, seen=2, by="ann", created_at="2026-11-15T10:00:00Z", note="job 7: no")
    script.on("GET", "/v1/actions", {"items": [there]})
    script.on("GET", f"/v1/actions/{OTHER}", there)
    script.on("POST", f"/v1/actions/{OTHER}/cancel", action("cancelled", done=1))
    script.on("POST", f"/v1/actions/{OTHER}/undo", action("undone", done=2, undone=2), 202)
    assert OTHER in client("action", "list").out
    assert "job 7: no" in client("action", "show", OTHER).out
    assert client("action", "cancel", OTHER).out == "cancel cancelled: 1 job\n"
    assert client("action", "undo", OTHER).out == "cancel undone: 2 jobs, 2 undone\n"
