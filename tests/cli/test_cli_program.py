"""The program as a process: help, completion, exit codes, what it does when its reader goes away."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from cyclopts import App

from horae.cli.program import COMMANDS

from .conftest import Horae, program

ROWS = [row for rows in COMMANDS.values() for row in rows]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_command_exists_and_explains_itself(horae: Horae, row: object) -> None:
    module, _, name = row.path.partition(":")  # type: ignore[attr-defined]
    found = getattr(import_module(module), name)
    assert isinstance(found, App) or callable(found)
    ran = horae(row.name, "--help")  # type: ignore[attr-defined]
    assert ran.code == 0
    assert "Usage: horae" in ran.out


def test_help_loads_nothing_heavy() -> None:
    heavy = {"aiohttp", "asyncpg", "uvicorn", "starlette", "horae.client.client"}
    code = f"from horae.cli.program import run; run(['--help']); import sys; sys.exit(str({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "set()"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_the_commands(horae: Horae, shell: str) -> None:
    ran = horae("completion", shell)
    assert ran.code == 0
    assert "submit" in ran.out


@pytest.mark.parametrize("command", ["version", "--version"])
def test_the_version_is_printed(horae: Horae, command: str) -> None:
    assert horae(command).out.startswith("horae 0.")


def test_an_unknown_command_is_a_usage_error(horae: Horae) -> None:
    assert horae("nosuch").code == 2


def test_a_process_ends_with_the_code_and_no_traceback(home: Path) -> None:
    done = program("server")
    assert done.returncode == 1
    assert "HORAE_DATABASE" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away_is_no_error(home: Path) -> None:
    command = f"{sys.executable} -m horae.cli completion bash | head -1; echo ${{PIPESTATUS[0]}} >&2"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_a_worker_that_shall_run_functions_without_an_app_says_so(horae: Horae) -> None:
    ran = horae("worker", "--kinds", "function", "--url", "http://127.0.0.1:1", "--key", "x")
    assert ran.code == 1
    assert "--app" in ran.err


def test_a_worker_without_a_key_says_so(home: Path) -> None:
    done = program("worker", "--app", "x:app", "--url", "http://127.0.0.1:1")
    assert done.returncode == 4
    assert "role worker" in done.stderr
