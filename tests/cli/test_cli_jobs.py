"""The commands about jobs, against a scripted server: what they ask, what they print, how they end."""

import io
from pathlib import Path

import msgspec
import pytest

from .conftest import Horae, Script
from .records import ID, OTHER, job


def test_submit_prints_the_id_and_sends_what_was_given(client: Horae, script: Script) -> None:
    script.on("POST", "/v1/jobs", {"id": ID, "state": "ready"}, 201)
    ran = client(
        "submit", "add", "--param", "a=1", "--param", "name=x", "--delay", "90s", "--priority", "8", "--label",
        "team=a", "--idempotency-key", "k1", "--tenant", "t",
    )  # fmt: skip
    assert (ran.code, ran.out, ran.err) == (0, f"{ID}\n", "")
    seen = script.seen[0]
    assert seen.headers["Authorization"] == "Bearer hk_test"
    assert seen.headers["Idempotency-Key"] == "k1"
    assert msgspec.json.decode(seen.body) == {
        "task": "add", "params": {"a": 1, "name": "x"}, "delay": "90s", "priority": 8, "labels": {"team": "a"},
        "tenant": "t",
    }  # fmt: skip


def test_submit_with_json_prints_the_apis_document(client: Horae, script: Script) -> None:
    script.on("POST", "/v1/jobs", {"id": ID, "state": "ready"}, 201)
    ran = client("submit", "add", "--json-params", '{"a": 1}', "--json")
    assert msgspec.json.decode(ran.out) == {"id": ID, "state": "ready"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("submit", "add", "--priority", "99"),
        ("submit", "add", "--delay", "soon"),
        ("submit", "add", "--param", "nonsense"),
        ("submit", "add", "--at", "tomorrow"),
        ("submit",),
        ("submit", "add", "--bulk", "-"),
        ("submit", "add", "--no-such-option"),
        ("change", ID),
        ("cancel",),
    ],
)
def test_wrong_usage_ends_with_2_and_asks_nobody(client: Horae, script: Script, arguments: tuple[str, ...]) -> None:
    ran = client(*arguments)
    assert ran.code == 2
    assert ran.err
    assert script.seen == []


@pytest.mark.parametrize(
    ("status", "code", "exit_code"),
    [
        (400, "invalid_input", 2),
        (401, "unauthenticated", 4),
        (403, "forbidden", 4),
        (404, "not_found", 3),
        (409, "wrong_state", 5),
        (422, "unknown_task", 1),
        (500, "internal", 1),
    ],
)
def test_a_problem_is_one_clear_line_and_an_exit_code(
    client: Horae, script: Script, status: int, code: str, exit_code: int
) -> None:
    script.problem("GET", f"/v1/jobs/{ID}", status, code, "what happened")
    ran = client("job", ID)
    assert ran.code == exit_code
    assert ran.err.startswith("horae: what happened\n")
    assert ran.out == ""


def test_no_server_ends_with_1_and_says_what_to_do(horae: Horae) -> None:
    ran = horae("whoami", "--url", "http://127.0.0.1:1", "--key", "hk_x")
    assert ran.code == 1
    assert "horae up" in ran.err


def test_no_key_ends_with_4(horae: Horae) -> None:
    assert horae("whoami", "--url", "http://127.0.0.1:1").code == 4


def test_jobs_are_listed_by_filter(client: Horae, script: Script) -> None:
    error = {"kind": "ValueError", "message": "no\nmore"}
    script.on("GET", "/v1/jobs", {"items": [job(), job(id=OTHER, state="failed", error=error)]})
    ran = client("jobs", "--status", "pending", "--label", "team=a", "--since", "2h", "--limit", "2")
    assert ran.code == 0
    assert ID in ran.out
    assert "ValueError: no" in ran.out
    assert "status=pending" in script.seen[0].target
    assert "label=team%3Aa" in script.seen[0].target
    assert "since=" in script.seen[0].target


def test_a_list_as_json_is_one_document_a_line(client: Horae, script: Script) -> None:
    script.on("GET", "/v1/jobs", {"items": [job()], "next_cursor": "c"})
    script.on("GET", "/v1/jobs", {"items": [job(id=OTHER)]})
    ran = client("jobs", "--all", "--json")
    assert [msgspec.json.decode(line)["id"] for line in ran.out.splitlines()] == [ID, OTHER]
    assert "cursor=c" in script.seen[1].target


def test_the_limit_counts_over_pages(client: Horae, script: Script) -> None:
    script.on("GET", "/v1/jobs", {"items": [job()], "next_cursor": "c"})
    ran = client("jobs", "--limit", "3", "--json")
    assert len(ran.out.splitlines()) == 3


def test_what_a_job_carries_cannot_command_the_terminal(client: Horae, script: Script) -> None:
    script.on("GET", "/v1/jobs", {"items": [job(queue="a\x1b[2Jb", task="[red]x")]})
    ran = client("jobs")
    assert "\x1b" not in ran.out
    assert "[red]x" in ran.out


def test_one_job_is_shown_with_attempts_and_error(client: Horae, script: Script) -> None:
    error = {"kind": "ValueError", "message": "no", "traceback": "Traceback …\nValueError: no"}
    script.on("GET", f"/v1/jobs/{ID}", job(state="failed", attempt=2, max_attempts=2, error=error, labels={"a": "b"}))
    runs = [{"job_id": ID, "attempt": n, "worker_id": 7, "started_at": "2026-01-01T00:00:00Z",
             "ended_at": "2026-01-01T00:00:03Z", "end": "error", "error": error} for n in (2, 1)]  # fmt: skip
    script.on("GET", f"/v1/jobs/{ID}/executions", {"items": runs})
    ran = client("job", ID)
    assert ran.code == 0
    for expected in ("2 of 2", "a=b", '{"a":1,"b":2}', "Traceback …", "3s"):
        assert expected in ran.out


def test_waiting_for_a_result_that_does_not_come_ends_with_124(client: Horae, script: Script) -> None:
    script.on("GET", f"/v1/jobs/{ID}/result", {"id": ID, "state": "running"})
    ran = client("result", ID, "--wait-for", "10ms")
    assert ran.code == 124
    assert "running" in ran.err


def test_a_failed_result_ends_with_1(client: Horae, script: Script) -> None:
    error = {"kind": "ValueError", "message": "no"}
    script.on("GET", f"/v1/jobs/{ID}/result", {"id": ID, "state": "failed", "error": error})
    ran = client("result", ID)
    assert (ran.code, ran.out) == (1, "")
    assert "ValueError: no" in ran.err


def test_a_result_is_waited_for_over_many_polls(client: Horae, script: Script) -> None:
    for _ in range(2):
        script.on("GET", f"/v1/jobs/{ID}/result", {"id": ID, "state": "running"})
    script.on("GET", f"/v1/jobs/{ID}/result", {"id": ID, "state": "succeeded", "result": {"n": 3}})
    ran = client("result", ID, "--wait")
    assert (ran.code, ran.out) == (0, '{"n":3}\n')


def test_logs_are_printed_as_written_and_attempts_marked(client: Horae, script: Script) -> None:
    lines = [
        {"attempt": n, "seq": 0, "stream": "stdout", "at": "2026-01-01T00:00:00Z", "text": f"try {n}\n"} for n in (1, 2)
    ]
    script.on("GET", f"/v1/jobs/{ID}/logs", {"items": lines})
    assert client("logs", ID).out == "try 1\n--- attempt 2 ---\ntry 2\n"


def test_followed_logs_end_with_the_job(client: Horae, script: Script) -> None:
    line = b'{"attempt":1,"seq":0,"stream":"stdout","at":"2026-01-01T00:00:00Z","text":"hello\\n"}'
    end = b'{"id":"%s","state":"succeeded","attempt":1,"at":"2026-01-01T00:00:00Z"}' % ID.encode()
    script.on(
        "GET", f"/v1/jobs/{ID}/logs", b"id: 1\nevent: log\ndata: " + line + b"\n\nevent: end\ndata: " + end + b"\n\n"
    )
    ran = client("logs", ID, "-f")
    assert (ran.code, ran.out) == (0, "hello\n")


def test_one_bad_id_does_not_spare_the_others(client: Horae, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    script.problem("DELETE", f"/v1/jobs/{ID}", 409, "wrong_state", "it has ended")
    script.on("DELETE", f"/v1/jobs/{OTHER}", job(id=OTHER, state="running", cancel_requested=True), 202)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{ID}\n{OTHER}\n"))
    ran = client("cancel", "-", "--reason", "no more")
    assert ran.code == 5
    assert ran.out == f"{OTHER} cancelling\n"
    assert "it has ended" in ran.err
    assert "reason=no+more" in script.seen[0].target


def test_retry_clone_and_change_send_what_differs(client: Horae, script: Script) -> None:
    script.on("POST", f"/v1/jobs/{ID}/retry", job())
    script.on("POST", f"/v1/jobs/{ID}/clone", {"id": OTHER, "state": "ready"}, 201)
    script.on("PATCH", f"/v1/jobs/{ID}", job(priority=9))
    assert client("retry", ID, "--param", "a=2").out == f"{ID} ready\n"
    assert client("clone", ID).out == f"{OTHER} ready\n"
    assert client("change", ID, "--priority", "9", "--json").code == 0
    assert [msgspec.json.decode(seen.body) for seen in script.seen] == [{"params": {"a": 2}}, {}, {"priority": 9}]


def test_bulk_submits_a_file_and_names_bad_lines(client: Horae, script: Script, tmp_path: Path) -> None:
    items = [{"id": ID, "state": "ready"}, {"code": "unknown_task", "detail": "no task 'b'"}]
    script.on("POST", "/v1/jobs/bulk", {"accepted": 1, "refused": 1, "items": items})
    file = tmp_path / "jobs.ndjson"
    file.write_text('{"task": "a"}\nnot json\n\n{"task": "b"}\n')
    ran = client("submit", "--bulk", str(file))
    assert (ran.code, ran.out) == (1, f"{ID}\n")
    assert "line 2: not a job" in ran.err
    assert "line 4: no task 'b'" in ran.err
    assert "1 accepted, 2 refused" in ran.err


def test_bulk_goes_in_batches(client: Horae, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("horae.cli.bulk.BATCH", 2)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"task":"a"}\n' * 3)))
    script.on("POST", "/v1/jobs/bulk", {"accepted": 2, "refused": 0, "items": [{"id": ID}, {"id": ID}]})
    script.on("POST", "/v1/jobs/bulk", {"accepted": 1, "refused": 0, "items": [{"id": OTHER}]})
    ran = client("submit", "--bulk", "-")
    assert (ran.code, ran.out) == (0, f"{ID}\n{ID}\n{OTHER}\n")
