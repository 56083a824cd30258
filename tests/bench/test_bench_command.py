"""The command: what it prints, how it ends, and that nothing stays behind."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from horae.bench.catalogue import SCENARIOS
from horae.bench.figures import Notes
from horae.cli.bench import print_figures
from horae.testing.waiting import wait_for

FIELDS = {"scenario", "metric", "value", "unit", "must", "aim", "low", "high", "rounds", "settings", "versions"}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "horae.cli", "bench", *arguments]


def run(*arguments: str, environ: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command(*arguments), env=environ, capture_output=True, text=True, check=False)


def test_list_names_every_scenario(environ: dict[str, str]) -> None:
    done = run("list", "--json", environ=environ)
    assert [json.loads(line)["scenario"] for line in done.stdout.splitlines()] == list(SCENARIOS)


def test_an_unknown_scenario_is_refused_with_the_known_ones(environ: dict[str, str]) -> None:
    done = run("sprint", environ=environ)
    assert done.returncode == 3
    assert "drain" in done.stderr


def test_a_setting_that_cannot_be_is_refused(environ: dict[str, str]) -> None:
    done = run("drain", "--jobs", "0", environ=environ)
    assert done.returncode == 2
    assert "jobs" in done.stderr


def test_a_plot_that_has_no_folder_is_refused_before_the_measurement(environ: dict[str, str]) -> None:
    done = run("drain", "--plot", "/nowhere/at/all.png", environ=environ)
    assert done.returncode == 1
    assert "/nowhere/at" in done.stderr
    assert done.stdout == ""


def test_a_measurement_prints_json_draws_and_fails_when_it_is_strict_and_misses_a_must(
    environ: dict[str, str], reachable_path: Path
) -> None:
    """A job a request over one connection is far from the rate that bulk must reach, on any machine."""
    pytest.importorskip("matplotlib")
    picture = reachable_path / "bulk.png"
    small = ["--jobs", "5", "--batch", "1", "--rounds", "2", "--connections", "1"]
    done = run("submit-bulk", *small, "--strict", "--json", "--plot", str(picture), environ=environ)

    assert done.returncode == 1, done.stderr
    figures = [json.loads(line) for line in done.stdout.splitlines()]
    assert {"rate", "wal"} <= {figure["metric"] for figure in figures}
    assert all(figure.keys() == FIELDS for figure in figures)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_table_shows_spread_target_verdict_and_circumstances(capsys: pytest.CaptureFixture[str]) -> None:
    notes = Notes("drain", {"cpus": 2, "load_average": 0.5}, {"horae": "1.0"})
    notes.figure("rate", [25_000.0, 28_000.0, 29_000.0], "jobs/s")
    print_figures(notes.figures, json=False)

    shown = capsys.readouterr()
    assert "28,000  jobs/s  25,000 – 29,000  30,000  70,000  missed" in shown.out
    assert "load average 0.5" in shown.err


async def test_an_interrupted_measurement_leaves_nothing(environ: dict[str, str], reachable_path: Path) -> None:
    process = subprocess.Popen(command("drain", "--jobs", "50000"), env=environ)
    try:
        started = await wait_for(lambda: _with_worker(process.pid), 150, what="the worker of the measurement")
        process.send_signal(signal.SIGINT)
        assert process.wait(100) == 130
    finally:
        process.kill()
    assert [one for one in started if one.is_running() and one.status() != psutil.STATUS_ZOMBIE] == []
    assert list(reachable_path.glob("horae-*")) == []


def _with_worker(pid: int) -> list[psutil.Process]:
    """All processes of a measurement once its worker is among them."""
    found = psutil.Process(pid).children(recursive=True)
    return found if any("worker" in _arguments(one) for one in found) else []


def _arguments(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []
