"""Fixtures on a real PostgreSQL: one cluster for the session, shared by all xdist workers, and a database a test."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

import asyncpg
import pytest
from hypothesis import settings

from horae.store.embedded import Cluster
from horae.store.migrate import migrate
from horae.store.safety import Connection
from horae.testing.database import cloned_database, make_template, temporary_cluster, temporary_folder


class SharedCluster:
    """Lives in the process that outlives all tests: under xdist the controller, else the only one."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()
        self._dsn = ""

    @property
    def dsn(self) -> str:
        self._dsn = self._dsn or self._runner.run(self._start())
        return self._dsn

    async def _start(self) -> str:
        cluster = await self._stack.enter_async_context(temporary_cluster())
        await make_template(cluster)
        return cluster.dsn

    def close(self) -> None:
        self._runner.run(self._stack.aclose())
        self._runner.close()


if os.environ.get("CI") != "true":  # There, Hypothesis has a profile of its own: the same examples each time.
    # Properties are judged by what they find, not by how long a busy machine takes over an example.
    settings.register_profile("patient", deadline=None)
    settings.load_profile("patient")

SHARED = pytest.StashKey[SharedCluster]()
BYTECODE = pytest.StashKey[ExitStack]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[SHARED] = SharedCluster()
    config.stash[BYTECODE] = _keep_bytecode()


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[SHARED].close()
    config.stash[BYTECODE].close()


def _keep_bytecode() -> ExitStack:
    """Where Python may not write bytecode, each of the thousand processes that the tests start would compile its all.

    They get a folder for it that lasts as long as the session. xdist's workers inherit it with the environment.
    """
    stack = ExitStack()
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
        sys.dont_write_bytecode = False
        sys.pycache_prefix = str(stack.enter_context(temporary_folder(quick=True)))
        os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    return stack


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node) -> None:  # type: ignore[no-untyped-def]
    """Called in the xdist controller for each worker it starts."""
    node.workerinput["cluster_dsn"] = node.config.stash[SHARED].dsn


@pytest.fixture(scope="session")
def cluster_dsn(request: pytest.FixtureRequest) -> str:
    workerinput = getattr(request.config, "workerinput", None)
    return workerinput["cluster_dsn"] if workerinput else request.config.stash[SHARED].dsn


@pytest.fixture
async def database(cluster_dsn: str) -> AsyncIterator[str]:
    """The DSN of a migrated database of the test's own."""
    async with cloned_database(cluster_dsn) as dsn:
        yield dsn


@pytest.fixture
async def conn(database: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(database, server_settings={"search_path": "horae"})
    yield connection
    await connection.close()


@pytest.fixture
async def durable_cluster() -> AsyncIterator[Cluster]:
    """A migrated cluster of the test's own, as durable as in production, to crash and restart."""
    async with temporary_cluster(durable=True) as cluster:
        await migrate(cluster.dsn)
        yield cluster


@pytest.fixture
def reachable_path() -> Iterator[Path]:
    """A temporary folder that PostgreSQL's account can reach, unlike pytest's own when the tests run as root."""
    with temporary_folder(quick=True) as path:
        yield path
