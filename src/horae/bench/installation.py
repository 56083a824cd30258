"""A throw-away Horae: PostgreSQL, server and workers, each in processes of their own, in a folder that is removed.

The database is as durable as in production; the server refuses any other. Everything ends with the `async with`, and
if this very process is killed, the kernel ends the others and the next measurement removes the folder.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import asyncpg

from horae.bench.app import app
from horae.bench.probe import Probe
from horae.bench.program import Program
from horae.client.app import App
from horae.client.client import Client
from horae.client.discovery import Connection
from horae.engine.access import Access
from horae.model.errors import SetupError
from horae.model.roles import Role
from horae.store.control import Control
from horae.store.database import Database, DatabaseConfig
from horae.store.embedded import Cluster
from horae.store.migrate import migrate
from horae.testing.database import temporary_folder

APP: Final = "horae.bench.app:app"
OWN_SETTINGS: Final = "HORAE_"
JOIN_SECONDS: Final = 60.0
PATIENCE: Final = 2.0
"""Seconds for which a client bears with a silent server: it stands beside it, and may be waiting for its end."""


@asynccontextmanager
async def cluster(prefix: Sequence[str] = ()) -> AsyncIterator[Cluster]:
    """`prefix` begins PostgreSQL's command, as a settable clock asks for."""
    with temporary_folder() as folder:
        async with Cluster(folder / "data", prefix=prefix) as running:
            yield running


@asynccontextmanager
async def installation(running: Cluster, name: str = "main", **settings: str) -> AsyncIterator["Installation"]:
    """A database of that name on the cluster, with a server on it; gone afterwards. `settings` are the server's."""
    async with AsyncExitStack() as stack:
        await _order(running, f"create database {name}")
        stack.push_async_callback(_order, running, f"drop database {name} with (force)")
        dsn = running.dsn_of(name)
        await migrate(dsn)
        folder = Path(stack.enter_context(TemporaryDirectory(dir=running.data.parent, prefix=f"{name}-")))
        probe = await Probe.open(dsn)
        stack.push_async_callback(probe.close)
        place = Installation(dsn, running, folder, await _make_keys(dsn), probe, settings)
        stack.push_async_callback(place.stop)
        await place.start_server()
        await place.register()
        yield place


class Installation:
    def __init__(
        self,
        dsn: str,
        running: Cluster,
        folder: Path,
        keys: Mapping[Role, str],
        probe: Probe,
        settings: Mapping[str, str],
    ) -> None:
        self.dsn = dsn
        self.cluster = running
        self.folder = folder
        self.key = keys[Role.ADMIN]
        self.probe = probe
        self.url = ""
        self.server: Program | None = None
        self.peers: list[Program] = []
        """Further servers on the same database."""
        self.workers: list[Program] = []
        self._settings = {f"HORAE_{setting.upper()}": value for setting, value in settings.items()}
        self._worker_key = folder / "worker.key"
        self._worker_key.write_text(keys[Role.WORKER])

    async def start_server(self) -> None:
        self.server, self.url = await self._serve("server")

    async def start_peer(self) -> str:
        """One more server on the same database; its address."""
        program, url = await self._serve(f"server-{len(self.peers) + 2}")
        self.peers.append(program)
        return url

    async def _serve(self, name: str) -> tuple[Program, str]:
        arguments = ["server", "--host", "127.0.0.1", "--port", "0", "--objects", str(self.folder / "objects")]
        environ = self._environ(HORAE_DATABASE=self.dsn, **self._settings)
        program = Program(name, arguments, environ, self.folder / f"{name}.log")
        await program.start()
        return program, await program.line("Horae listens on ")

    async def stop_server(self) -> None:
        stopping, self.peers = self.peers, []
        if self.server is not None:
            stopping.append(self.server)
        await asyncio.gather(*(server.stop() for server in stopping))

    async def start_worker(
        self, slots: int, name: str = "bench", url: str | None = None, runs: Sequence[str] = ("--app", APP)
    ) -> Program:
        """Returns as soon as it is started; `until_joined` waits until it takes jobs."""
        arguments = ["worker", *runs, "--slots", str(slots), "--name", name, "--url", url or self.url]
        arguments += ["--key-file", str(self._worker_key), "--drain-timeout", "5s"]
        worker = Program("worker", arguments, self._environ(), self.folder / f"worker-{name}.log")
        await worker.start()
        self.workers.append(worker)
        return worker

    async def stop_workers(self) -> None:
        stopping, self.workers = self.workers, []
        await asyncio.gather(*(worker.stop() for worker in stopping))

    async def stop(self) -> None:
        await self.stop_workers()
        await self.stop_server()

    def client(self) -> Client:
        return Client(connection=Connection(self.url, self.key), patience=PATIENCE)

    async def register(self, tasks: App = app) -> None:
        """So that jobs can be submitted before there is a worker."""
        with self.client() as client:
            for task in tasks.tasks.values():
                await asyncio.to_thread(client.put_task, task.definition)

    async def until_joined(self, workers: int = 1) -> None:
        deadline = time.monotonic() + JOIN_SECONDS
        while await self.probe.value("workers_active") < workers:
            self.check()
            if time.monotonic() > deadline:
                raise SetupError(f"no worker joined within {JOIN_SECONDS:g} s")
            await asyncio.sleep(0.02)

    def check(self) -> None:
        for program in (self.server, *self.peers, *self.workers):
            if program is not None:
                program.check()

    def _environ(self, **more: str) -> dict[str, str]:
        """Without the settings of whoever measures: they belong to another installation."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OWN_SETTINGS)}
        return kept | {"HORAE_LOG": "warning", "XDG_CONFIG_HOME": str(self.folder), **more}


async def _order(running: Cluster, sql: str) -> None:
    connection = await asyncpg.connect(running.dsn)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


async def _make_keys(dsn: str) -> dict[Role, str]:
    database = Database(DatabaseConfig.small(dsn))
    await database.open()
    try:
        access = Access(Control(database))
        return {
            role: (await access.create_key(None, f"bench-{role.value}", role, None, None))[1]
            for role in (Role.ADMIN, Role.WORKER)
        }
    finally:
        await database.close()
