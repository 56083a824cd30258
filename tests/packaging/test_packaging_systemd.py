"""The units of systemd that we ship: systemd accepts them, and the docs show them as they are."""

import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path

import pytest

from horae.model.durations import parse_duration

ROOT = Path(__file__).parents[2]
UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))
NOT_UNIQUE = {"strict": False, "interpolation": None}


def service(unit: Path) -> dict[str, str]:
    parsed = ConfigParser(**NOT_UNIQUE)
    parsed.optionxform = str
    parsed.read_string(unit.read_text())
    return dict(parsed["Service"])


def test_there_is_one_for_servers_and_one_for_workers() -> None:
    assert [unit.name for unit in UNITS] == ["horae-server.service", "horae-worker@.service"]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_accepts_the_unit(unit: Path, tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed")
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text().replace("/opt/horae/bin/horae", shutil.which("true") or ""))
    done = subprocess.run([analyze, "verify", str(copy)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_the_docs_show_the_unit_as_it_is(unit: Path) -> None:
    assert f"```ini\n{unit.read_text()}```" in (ROOT / "docs" / "operating.md").read_text()


def test_a_worker_is_told_alone_to_stop_and_gets_the_time_it_needs() -> None:
    unit = service(ROOT / "deploy" / "systemd" / "horae-worker@.service")
    arguments = unit["ExecStart"].split()
    drain = parse_duration(arguments[arguments.index("--drain-timeout") + 1], "drain").total_seconds()
    assert (unit["KillMode"], unit["Delegate"]) == ("mixed", "yes")
    assert float(unit["TimeoutStopSec"]) > drain + 10
