"""An installation of real processes for the faults to strike: PostgreSQL twice, servers, workers, a place for objects,
and on every link between them a proxy.

Servers are told both PostgreSQL nodes, as docs/operating.md tells operators to; each has proxies of its own to them.
Workers and clients find the servers through proxies, too: a client one for each server, a worker one that turns to any
server with every connection, as a load balancer does.
"""

import asyncio
import os
import random
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final

import asyncpg

from horae.engine.access import Access
from horae.failpoints import FOLDER_VARIABLE
from horae.model.roles import Role
from horae.store.control import Control
from horae.store.database import Database, DatabaseConfig
from horae.testing.database import temporary_folder
from horae.testing.ports import free_port
from horae.testing.proxy import Mishap, Opener, Proxy, Switchboard, switchboard, to_socket, to_url
from horae.testing.waiting import wait_for

from .ambush import Ambush
from .bytecode import compiled_once
from .disks import small_disk
from .objects import Objects, running_objects
from .part import Freeze, Part
from .postgres import DATABASE, ROLE, Pair
from .supervisor import supervised

SLOTS: Final = 2
HEALTHY_SECONDS: Final = 60.0
"""Within which everything must be well again once the faults are over."""
SETTINGS: Final = ("HORAE_", "XDG_")
JOINED: Final = """
select true from horae.worker
where pid = $1 and state = 'active' and expires_at > clock_timestamp() and seen_at >= coalesce($2, seen_at)
"""


class World:
    def __init__(self, folder: Path, board: Switchboard, pair: Pair) -> None:
        self.folder = folder
        self.pair = pair
        self.database_lock = asyncio.Lock()
        self.servers: list[Part] = []
        self.workers: list[Part] = []
        self.addresses: list[str] = []
        """Of the servers themselves."""
        self.to_servers: list[Proxy] = []
        self.to_postgres: list[Proxy] = []
        self.to_objects: list[Proxy] = []
        self.from_workers: list[Proxy] = []
        self.admin_key = ""
        self.objects: Objects | None = None
        self.ambushes = {command: Ambush(folder / f"ambush-{command}") for command in ("server", "worker")}
        self.board = board
        self.mishaps: list[Mishap] = []
        """Those that were to strike some link."""
        self._guards: dict[Proxy, asyncio.Lock] = {}

    @property
    def dsn(self) -> str:
        return self.pair.primary.dsn

    @property
    def urls(self) -> list[str]:
        return [proxy.url for proxy in self.to_servers]

    @property
    def links(self) -> list[Proxy]:
        return [*self.to_servers, *self.to_postgres, *self.to_objects, *self.from_workers]

    @property
    def sent_again(self) -> list[bytes]:
        """Requests that arrived twice, also when nobody waited for that any more."""
        return [mishap.befell for mishap in self.mishaps if mishap.replay and mishap.struck.is_set()]

    def guard(self, link: Proxy) -> asyncio.Lock:
        """Held by whoever harms the link, so that nobody heals it meanwhile."""
        return self._guards.setdefault(link, asyncio.Lock())

    @property
    def parts(self) -> list[Part]:
        return [*self.servers, *self.workers]

    @property
    def freezes(self) -> list[Freeze]:
        return [freeze for part in self.parts for freeze in part.freezes]

    async def quiet(self) -> dict[str, float]:
        """Undoes what is left of faults, starts what is dead, and waits until all is well: for each part, how long."""
        for link in self.links:
            link.heal()
        began = time.monotonic()
        await self._mend()
        async with self.pair.primary.connected() as connection:
            since = await connection.fetchval("select clock_timestamp()")
        seconds = await asyncio.gather(*(self._healthy(part, began, since) for part in self.parts))
        return dict(zip((part.name for part in self.parts), seconds, strict=True))

    async def _mend(self) -> None:
        async with self.database_lock:
            await self.pair.mend()
        for part in self.parts:
            async with part.lock:
                if not part.alive:
                    await part.start()

    async def _healthy(self, part: Part, began: float, since: datetime) -> float:
        """Seconds until the part did its work again."""
        if part.serves:
            address = self.addresses[self.servers.index(part)]
            await wait_for(lambda: is_ready(address), HEALTHY_SECONDS, interval=0.1, what=f"{part.name} to be ready")
        else:
            await self.until_joined(part, since)
        return time.monotonic() - began

    async def until_joined(self, worker: Part, since: datetime | None = None) -> None:
        """The process that runs now is a worker in force, and was heard of since then. PostgreSQL may be away."""

        async def joined() -> bool:
            try:
                async with self.pair.primary.connected() as connection:
                    return await connection.fetchval(JOINED, worker.pid, since) or False
            except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
                return False

        await wait_for(joined, HEALTHY_SECONDS, interval=0.2, what=f"{worker.name} to join")


class Builder:
    """Puts the parts of a world together."""

    def __init__(self, world: World, environ: Mapping[str, str], planted: str | None) -> None:
        self._world = world
        self._environ = own_environment() | {"HOME": str(world.folder), "HORAE_LOG": "info"} | environ
        self._planted = planted

    def server(self, objects: Objects) -> None:
        world, port = self._world, free_port()
        database = [world.board.proxy(to_socket(node.socket)) for node in world.pair.nodes]
        hosts = ",".join(f"{proxy.host}:{proxy.port}" for proxy in database)
        link, settings = objects.link(world.board)
        settings["HORAE_DATABASE"] = f"postgresql://{ROLE}@{hosts}/{DATABASE}?sslmode=disable"
        world.addresses.append(f"http://127.0.0.1:{port}")
        world.to_postgres += database
        world.to_objects += link
        world.to_servers.append(world.board.proxy(to_url(world.addresses[-1])))
        world.servers.append(self._part(f"server-{len(world.servers) + 1}", "server", {"--port": str(port)}, settings))

    def worker(self, app: str, key_file: Path) -> None:
        world, name = self._world, f"worker-{len(self._world.workers) + 1}"
        proxy = world.board.proxy(to_any(world.addresses))
        options = {"--app": app, "--kinds": "script,http", "--slots": str(SLOTS), "--name": name, "--url": proxy.url}
        options |= {"--key-file": str(key_file), "--state": str(world.folder / "state" / name), "--drain-timeout": "2s"}
        world.from_workers.append(proxy)
        world.workers.append(self._part(name, "worker", options, {}))

    def _part(self, name: str, command: str, options: Mapping[str, str], settings: Mapping[str, str]) -> Part:
        ambush = {FOLDER_VARIABLE: str(self._world.ambushes[command].folder)}
        part = Part(command, options, self._environ | settings | ambush, self._world.folder / f"{name}.log")
        if self._planted:
            part.module = ("chaos.planted", self._planted, "--")
        return part


@asynccontextmanager
async def running_world(
    folder: Path, *, servers: int, workers: int, app: str, environ: Mapping[str, str], planted: str | None = None
) -> AsyncIterator[World]:
    folder.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        place = stack.enter_context(temporary_folder())
        board = stack.enter_context(switchboard())
        world = World(folder, board, Pair(place, board))
        for node in world.pair.nodes:
            stack.enter_context(small_disk(node.folder))
        stack.push_async_callback(world.pair.stop)
        world.objects = stack.enter_context(running_objects(folder))
        await world.pair.start()
        world.admin_key = await _prepare(world.dsn, folder / "worker.key")
        builder = Builder(world, environ, planted)
        for _ in range(servers):
            builder.server(world.objects)
        for _ in range(workers):
            builder.worker(app, folder / "worker.key")
        stack.push_async_callback(_stop_all, world)
        await asyncio.gather(*(part.start() for part in world.parts))
        await world.quiet()
        async with supervised(world.parts):
            yield world


async def _stop_all(world: World) -> None:
    """Workers first: they want to say goodbye."""
    for link in world.links:
        link.heal()
    for parts in (world.workers, world.servers):
        await asyncio.gather(*(part.stop() for part in parts))
    for node in world.pair.nodes:
        with suppress(OSError):
            (world.folder / f"postgresql-{node.name}.log").write_bytes(node.log.read_bytes())


async def _prepare(dsn: str, key_file: Path) -> str:
    """The admin's key; that of the workers goes to the file."""
    database = Database(DatabaseConfig.small(dsn))
    await database.open()
    try:
        access = Access(Control(database))
        key_file.write_text((await access.create_key(None, "chaos-worker", Role.WORKER, None, None))[1])
        return (await access.create_key(None, "chaos-admin", Role.ADMIN, None, None))[1]
    finally:
        await database.close()


def own_environment() -> dict[str, str]:
    """Ours without the settings of whoever runs this: they belong to another installation."""
    return {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)} | compiled_once()


def to_any(urls: Sequence[str]) -> Opener:
    """Opens connections to any of those that take some. In turn would not do: who opens two at a time would find the
    same server with the same kind of call for ever."""

    async def open_any() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        *others, last = random.sample(urls, len(urls))
        for url in others:
            with suppress(OSError):
                return await to_url(url)()
        return await to_url(last)()

    return open_any


async def is_ready(address: str) -> bool:
    try:
        async with asyncio.timeout(5):
            reader, writer = await to_url(address)()
            writer.write(b"GET /readyz HTTP/1.1\r\nHost: chaos\r\nConnection: close\r\n\r\n")
            answer = await reader.read()
            writer.close()
    except (OSError, TimeoutError):
        return False
    return answer.startswith(b"HTTP/1.1 200")
