"""The commands about tasks that are data, against a real server."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import yaml
from structlog.testing import capture_logs

from .conftest import Horae
from .test_cli_schedules import Serving, good

TASK = """
name: greet
script:
  source: |
    echo "hello $NAME"
  interpreter: sh
env: {NAME: "${{ params.name }}"}
params_schema:
  type: object
  properties: {name: {type: string}}
  required: [name]
"""


@pytest.fixture
def server(horae: Horae, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Horae]:
    serving = Serving(database, tmp_path)
    with capture_logs():
        monkeypatch.setenv("HORAE_URL", serving.start())
        monkeypatch.setenv("HORAE_KEY", serving.key)
        yield horae
        serving.stop()


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "task.yaml"
    path.write_text(TASK)
    return str(path)


def test_a_task_from_the_cradle_to_the_grave(server: Horae, file: str) -> None:
    assert good(server, "task", "create", "-f", file, "--reason", "as agreed") == "greet version 1\n"
    listed = good(server, "task", "list")
    assert "greet  name    script" in listed
    assert good(server, "task", "edit", "greet", "--timeout", "10s", "--env", "LANG=C") == "greet version 2\n"
    shown = good(server, "task", "show", "greet")
    for word in ("script", "version", 'echo "hello $NAME"', "timeout: 10s", "LANG: C", "NAME: ${{ params.name }}"):
        assert word in shown
    assert "LANG" not in good(server, "task", "show", "greet", "--version", "1")
    versions = good(server, "task", "versions", "greet")
    assert "in force" in versions
    assert "as agreed" in versions
    assert "+timeout: 10s" in good(server, "task", "diff", "greet")
    assert good(server, "task", "rollback", "greet", "1", "--reason", "too short") == "greet version 3\n"
    assert server("task", "diff", "greet", "1", "3").err == "versions 1 and 3 are the same\n"
    job_id = good(server, "submit", "greet", "--param", "name=ann", "--delay", "1h").split()[0]
    refused = server("task", "delete", "greet")
    assert refused.code != 0
    assert "1 jobs" in refused.err
    good(server, "cancel", job_id)
    assert good(server, "task", "delete", "greet") == "greet deleted\n"
    assert good(server, "task", "rollback", "greet", "1") == "greet version 4\n"


def test_a_task_is_made_of_options(server: Horae, tmp_path: Path) -> None:
    source = tmp_path / "report.py"
    source.write_text("print('hello')\n")
    made = msgspec.json.decode(good(
        server, "task", "create", "report", "--script", str(source), "--interpreter", "python", "--arg=-v",
        "--arg", "${{ params.x }}", "--requirement", "requests>=2", "--memory", "64MiB", "--cpu", "0.5", "--network",
        "--secret", "TOKEN", "--secret", "CERT=CERT_FILE@", "--queue", "slow", "--max-attempts", "2", "--json",
    ))  # fmt: skip
    assert made["definition"] == {
        "name": "report", "queue": "slow", "max_attempts": 2, "network": True,
        "script": {"source": "print('hello')\n", "interpreter": "python", "args": ["-v", "${{ params.x }}"],
                   "requirements": ["requests>=2"]},
        "limits": {"memory": "64MiB", "cpu": 0.5},
        "secrets": [{"name": "TOKEN"}, {"name": "CERT", "env": "CERT_FILE", "file": True}],
    }  # fmt: skip


def test_containers_and_calls_are_made_of_options_too(server: Horae) -> None:
    made = good(server, "task", "create", "box", "--image", "alpine:3.20", "--arg", "ls", "--arg=-l", "--json")
    assert msgspec.json.decode(made)["definition"]["container"] == {"image": "alpine:3.20", "command": ["ls", "-l"]}
    made = good(server, "task", "create", "call", "--call", "https://example.com/${{ params.id }}", "--method", "PUT",
                "--header", "X-Key=${{ secrets.KEY }}", "--body", '{"n": "${{ params.n }}"}', "--json")  # fmt: skip
    call = msgspec.json.decode(made)["definition"]["http"]
    assert (call["method"], call["headers"], call["body"]) == (
        "PUT", {"X-Key": "${{ secrets.KEY }}"}, {"n": "${{ params.n }}"}
    )  # fmt: skip


def test_what_is_there_is_not_created_again(server: Horae, file: str) -> None:
    good(server, "task", "create", "-f", file)
    ran = server("task", "create", "-f", file)
    assert ran.code != 0
    assert "has the version 1, not 0" in ran.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("task", "create", "x"), "say what runs"),
        (("task", "create", "x", "--script", "/nowhere/x.sh"), "cannot be read"),
        (("task", "create", "x", "--image", "-v"), "image"),
        (("task", "create", "--image", "alpine"), "no name"),
        (("task", "create", "x", "--call", "https://a.b", "--image", "alpine"), "one of script, container and http"),
        (("task", "create", "x", "--call", "https://a.b", "--header", "nothing"), "name=value"),
        (("task", "show", "nothing"), "no task"),
        (("task", "rollback", "nothing", "1"), "no version 1"),
        (("task", "unshare", "nothing"), "tenants"),
    ],
)
def test_bad_input_is_told(server: Horae, arguments: tuple[str, ...], words: str) -> None:
    ran = server(*arguments)
    assert ran.code != 0
    assert words in ran.err


def test_a_task_is_edited_in_the_editor(
    server: Horae, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good(server, "task", "create", "-f", file)
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i s/hello/goodbye/ "$2"\ntest "$1" = --wait\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", f"{editor} --wait")
    assert good(server, "task", "edit", "greet") == "greet version 2\n"
    assert "goodbye" in good(server, "task", "show", "greet")
    monkeypatch.setenv("EDITOR", "false")
    assert "the editor 'false' failed" in server("task", "edit", "greet").err


def test_a_task_is_looked_at_before_it_is_saved(server: Horae, file: str) -> None:
    ran = server("task", "validate", "-f", file, "--param", "name=ann")
    assert (ran.code, ran.out.split()) == (0, ["env.NAME", "ann"])
    ran = server("task", "validate", "-f", file, "--param", "name=7", "--env", "1=2")
    assert (ran.code, ran.out) == (1, "env.1: not the name of an environment variable: letters, digits and _, not "
                                      "starting with a digit\n")  # fmt: skip
    ran = server("task", "validate", "-f", file, "--json-params", "{}", "--json")
    assert (ran.code, msgspec.json.decode(ran.out)["errors"][0]["field"]) == (1, "/params")
    assert server("task", "show", "greet").code != 0


def test_tasks_go_from_one_place_to_another(server: Horae, file: str, tmp_path: Path) -> None:
    good(server, "tenant", "create", "red")
    good(server, "task", "create", "-f", file)
    text = good(server, "task", "export")
    assert yaml.safe_load(text)["tasks"][0]["name"] == "greet"
    copy = tmp_path / "copy.yaml"
    copy.write_text(text)
    dry = server("task", "import", str(copy), "--tenant", "red", "--dry-run")
    assert (dry.code, "created" in dry.out, "dry run" in dry.err) == (0, True, True)
    assert "created" in good(server, "task", "import", str(copy), "--tenant", "red")
    assert "unchanged" in good(server, "task", "import", str(copy), "--tenant", "red")
    assert good(server, "task", "export", "greet", "--tenant", "red") == text
    copy.write_text("tasks: [{name: work, script: {source: x, interpreter: sh}}]")
    ran = server("task", "import", str(copy))
    assert (ran.code, "is a function" in ran.out) == (1, True)


def test_a_task_is_shared_and_taken_back(server: Horae, file: str) -> None:
    for name in ("red", "blue"):
        good(server, "tenant", "create", name)
    good(server, "task", "create", "-f", file, "--tenant", "red")
    shared = good(server, "task", "share", "greet", "blue", "--with-secrets", "--tenant", "red")
    assert "blue    with secrets" in shared
    assert "those of red" in good(server, "task", "show", "greet", "--tenant", "blue")
    assert "all tenants" in good(server, "task", "share", "greet", "--all", "--tenant", "red")
    assert "blue" in good(server, "task", "share", "greet", "--tenant", "red")
    left = good(server, "task", "unshare", "greet", "--all", "--tenant", "red")
    assert "blue" not in left


def test_things_are_found_by_what_one_remembers(server: Horae, file: str) -> None:
    good(server, "task", "create", "-f", file)
    job_id = good(server, "submit", "greet", "--param", "name=ann", "--delay", "1h").split()[0]
    assert "task  greet" in good(server, "find", "GREE")
    assert job_id in good(server, "find", job_id[:18])
    assert msgspec.json.decode(good(server, "find", "gree", "--json").splitlines()[0])["kind"] == "task"
    assert "at least eight digits" in server("find", "nothing-like-it").err


def test_statistics_tell_what_became_of_jobs(server: Horae, file: str) -> None:
    good(server, "task", "create", "-f", file)
    assert "nothing happened" in server("task", "statistics", "greet", "--since", "1h").err
    told = msgspec.json.decode(good(server, "task", "statistics", "greet", "--since", "1h", "--json"))
    assert (told["step"], len(told["items"]) in {60, 61}) == (60, True)
    assert msgspec.json.decode(good(server, "task", "statistics", "--json"))["items"] == []
