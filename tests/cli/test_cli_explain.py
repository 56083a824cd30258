"""`horae explain` and the warning of `horae submit`, against a scripted server."""

import msgspec

from .conftest import Horae, Script
from .records import ID, OTHER

WAITING = {
    "id": ID,
    "state": "ready",
    "answer": "gate 3 of ann holds all such jobs: broken (and 1 more reason)",
    "place": {"number": 10_001, "more": True},
    "no_estimate": "gate 3 is closed until somebody releases it",
    "reasons": [
        {
            "code": "gate",
            "summary": "gate 3 of ann holds all such jobs: broken",
            "resolve": "release it; ask ann",
            "command": "horae gate release 3",
            "held_by": {
                "gate": {"id": 3, "action": "hold", "kind": "gate", "owner": "ann", "reason": "broken",
                         "since": "2026-11-16T00:00:00Z"}
            },
        },
        {
            "code": "limit_running",
            "summary": "the limit 'l' lets 1 run at once; 1 of them run",
            "resolve": "wait",
            "held_by": {
                "jobs": [{"id": OTHER, "task": "t", "worker_id": 7, "since": "2026-11-16T00:00:00Z"}],
                "other_jobs": 2,
                "ahead": [{"jobs": 5, "more": True}],
            },
        },
    ],
}  # fmt: skip


def test_the_first_line_is_the_answer_and_each_reason_says_what_resolves_it(client: Horae, script: Script) -> None:
    script.on("GET", f"/v1/jobs/{ID}/explain", WAITING)
    ran = client("explain", ID)
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == f"ready: {WAITING['answer']}"
    for piece in (
        "more than 10,000 before it", "1. gate:", "horae gate release 3", "2. limit_running:", OTHER, "2 more",
        "more than 5 of other tenants", "gate 3 is closed until somebody releases it",
    ):  # fmt: skip
        assert piece in ran.out


def test_json_is_the_apis_own(client: Horae, script: Script) -> None:
    script.on("GET", f"/v1/jobs/{ID}/explain", WAITING)
    assert msgspec.json.decode(client("explain", ID, "--json").out)["reasons"][0]["code"] == "gate"


def test_an_ended_job_shows_where_its_time_went_and_ends_a_watch(client: Horae, script: Script) -> None:
    spent = [{"what": "held_by_gate", "seconds": 65.0, "detail": "gate 3"}, {"what": "running", "seconds": 2.0}]
    ended = {"id": ID, "state": "succeeded", "answer": "it succeeded", "spent": spent}
    script.on("GET", f"/v1/jobs/{ID}/explain", ended)
    for arguments in (("explain", ID), ("explain", ID, "--watch")):
        out = client(*arguments).out
        assert "held by gate" in out
        assert "1m05s" in out


def test_a_submit_prints_its_warnings_beside_the_output(client: Horae, script: Script) -> None:
    script.on("POST", "/v1/jobs", {"id": ID, "state": "ready", "warnings": ["no worker has the task"]}, 201)
    ran = client("submit", "add")
    assert (ran.code, ran.out, ran.err) == (0, f"{ID}\n", "warning: no worker has the task\n")
