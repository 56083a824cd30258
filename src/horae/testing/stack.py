"""A throw-away Horae of real processes, whose parts can be killed, frozen and started again one by one.

The parts are the programs that users start, told apart by the names the test gives them. They end with the `async
with`, and if the test's own process is killed, the kernel ends them (see horae.bench.program).
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from horae.bench.program import Program
from horae.client.client import Client
from horae.client.discovery import Connection
from horae.engine.access import Access
from horae.model.roles import Role
from horae.store.control import Control
from horae.store.database import Database, DatabaseConfig
from horae.testing.ports import free_port
from horae.testing.waiting import wait_for

SETTINGS: Final = ("HORAE_", "XDG_")


class Stack:
    def __init__(self, dsn: str, folder: Path, keys: dict[Role, str], environ: dict[str, str]) -> None:
        self.dsn = dsn
        self.folder = folder
        self.keys = keys
        self.servers: list[Program] = []
        self.workers: list[Program] = []
        self.module: Sequence[str] = ("horae.cli",)
        """What the programs are started by."""
        self._frozen: set[Program] = set()
        self._urls: dict[str, str] = {}
        self._key_file = folder / "worker.key"
        self._key_file.write_text(keys[Role.WORKER])
        self._environ = _without_settings() | {"HOME": str(folder), "HORAE_LOG": "info"} | environ

    @property
    def url(self) -> str:
        """Of the server that was started first."""
        return next(iter(self._urls.values()))

    def address(self, server: str) -> str:
        return self._urls[server]

    async def server(self, name: str = "server", **environ: str) -> Program:
        """Starts a server. One of the same name is started again at the same address."""
        known = self._urls.get(name)
        port = known.rpartition(":")[2] if known else str(free_port())
        # In the environment, where a password is not seen by everybody; a test may put another address there.
        settings = {"HORAE_DATABASE": self.dsn, "HORAE_ALLOW_UNSAFE": "true"} | environ
        arguments = ["server", "--port", port, "--objects", str(self.folder / "objects")]
        program = await self._start(name, arguments, settings, self.servers)
        self._urls[name] = await program.line("Horae listens on ")
        return program

    async def worker(
        self, name: str, app: str | None = None, slots: int = 2, url: str | None = None, kinds: str | None = None
    ) -> Program:
        """Starts a worker; `until_joined` tells when it is there."""
        arguments = ["worker", "--slots", str(slots), "--name", name, "--url", url or self.url]
        arguments += ["--app", app] if app else []
        arguments += ["--kinds", kinds] if kinds else []
        arguments += ["--key-file", str(self._key_file), "--state", str(self.folder / "state"), "--drain-timeout", "2s"]
        return await self._start(name, arguments, {}, self.workers)

    async def _start(self, name: str, arguments: list[str], environ: dict[str, str], beside: list[Program]) -> Program:
        log = self.folder / f"{name}.log"
        program = Program(name, arguments, self._environ | environ, log, module=self.module)
        await program.start()
        beside.append(program)
        return program

    async def until_joined(self, name: str, besides: int | None = None) -> int:
        """The id of the worker of that name once it is active; `besides` is one it must not be."""
        with self.client() as client:

            def joined() -> int | None:
                found = (worker.id for worker in client.workers().items if worker.name == name)
                return next((worker_id for worker_id in found if worker_id != besides), None)

            return await wait_for(joined, 60, what=f"the worker {name}") or 0

    def client(self, url: str | None = None, **options: Any) -> Client:
        """A client with the rights of an admin, of the first server unless another is given."""
        return Client(connection=Connection(url or self.url, self.keys[Role.ADMIN]), **options)

    def freeze(self, program: Program) -> None:
        self._frozen.add(program)
        os.kill(program.pid, signal.SIGSTOP)

    def thaw(self, program: Program) -> None:
        self._frozen.discard(program)
        os.kill(program.pid, signal.SIGCONT)

    async def stop(self) -> None:
        """Workers first: they want to say goodbye. One that was left frozen must hear that it shall stop."""
        for program in list(self._frozen):
            self.thaw(program)
        await self.stop_workers()
        await asyncio.gather(*(server.stop() for server in self.servers))

    async def stop_workers(self) -> None:
        await asyncio.gather(*(worker.stop() for worker in self.workers))


@asynccontextmanager
async def running_stack(dsn: str, folder: Path, **environ: str) -> AsyncIterator[Stack]:
    """Nothing runs in it yet but the database, which must have the schema. `environ` is for all that is started."""
    stack = Stack(dsn, folder, await _make_keys(dsn), environ)
    try:
        yield stack
    finally:
        await stack.stop()


async def _make_keys(dsn: str) -> dict[Role, str]:
    database = Database(DatabaseConfig.small(dsn))
    await database.open()
    try:
        access = Access(Control(database))
        roles = (Role.ADMIN, Role.WORKER)
        return {role: (await access.create_key(None, f"test-{role.value}", role, None, None))[1] for role in roles}
    finally:
        await database.close()


def _without_settings() -> dict[str, str]:
    """Our environment without the settings of whoever runs the tests: they belong to another installation."""
    return {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
