"""One real `horae up` for the pages, and for the page on operating a PostgreSQL such as readers have."""

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.installation import Installation, installation
from horae.client.discovery import read_local
from horae.store.checkup import running_dsn
from horae.store.embedded import Cluster
from horae.testing.database import temporary_folder
from horae.testing.ports import free_port

from .pages import ROOT
from .stage import Stage, staged

PROGRAMS = Path(sys.executable).parent


@pytest.fixture(scope="session")
def up() -> Iterator[Installation]:
    """What `make up` starts, without its stream of jobs."""
    with (
        temporary_folder(quick=True) as folder,
        installation(folder, "--app", "examples/demo.py:app", "--slots", "2") as it,
    ):
        it.wait_for_worker()
        yield it


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """As a clone after `make setup`, as far as the pages need it."""
    (tmp_path / ".venv").symlink_to(PROGRAMS.parent)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


@pytest.fixture
def stage(page: Path, up: Installation, folder: Path, request: pytest.FixtureRequest) -> Iterator[Stage]:
    """A terminal of the user who runs `horae up`; DATABASE_URL is that of an application beside it."""
    dsn, local = running_dsn(up.data), read_local(up.local_file)
    assert dsn is not None
    assert local is not None
    environ = up.environ | {
        "HOME": str(folder),
        "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        "XDG_STATE_HOME": str(up.home / ".local/state"),
        "HORAE_URL": up.url,
        "HORAE_KEY": local["key"],
        "HORAE_DATA": str(up.data),
        "DATABASE_URL": dsn.replace("horae@", "shop@"),
    }
    hosts = {}
    if page.name == "operating.md":
        dsn, port = request.getfixturevalue("own_database"), free_port()
        environ |= {"HORAE_URL": f"http://127.0.0.1:{port}", "HORAE_PORT": str(port), "HORAE_KEY": ""}
        hosts = {"db.example.com": dsn.partition("@")[2].partition("/")[0]}
    with staged(folder, environ, dsn, hosts) as it:
        yield it


@pytest.fixture
def own_database() -> Iterator[str]:
    """The DSN of a PostgreSQL as readers have it: durable, on TCP, with passwords."""
    with temporary_folder(quick=True) as folder, asyncio.Runner() as runner:
        cluster = Cluster(folder / "data", port=free_port())
        runner.run(cluster.start())
        yield cluster.tcp_dsn
        runner.run(cluster.stop())
