"""A server: the engine and its HTTP side in one process, started and stopped in order."""

import asyncio
import errno
import gc
import socket
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import msgspec
import structlog
import uvicorn

from horae import heap
from horae.engine.engine import Engine, EngineConfig
from horae.engine.fleet import LEASE_SECONDS
from horae.engine.masterkeys import MasterKeys
from horae.model.errors import SetupError
from horae.server.app import Application
from horae.server.protocol import Protocol
from horae.store.database import DatabaseConfig
from horae.store.objects import DEFAULT_ACCESS
from horae.store.s3 import S3Access
from horae.store.safety import check_server

log = structlog.get_logger()

BACKLOG: Final = 2048
STOP_SECONDS: Final = 5
GIVE_BACK_SECONDS: Final = 60.0
GIVE_BACK_SHARE: Final = 0.0001
"""Of the time, at most: calls wait meanwhile, and a server of very many lanes has much to look through."""


class ServerConfig(msgspec.Struct, frozen=True, kw_only=True):
    dsn: str
    objects: str
    s3: S3Access = DEFAULT_ACCESS
    host: str = "127.0.0.1"
    port: int = 8420
    retention_days: int = 30
    allow_unsafe: bool = False
    """Serve a database that would lose data in a crash. For tests only."""
    lease_seconds: float = LEASE_SECONDS
    max_pending: int | None = None
    shed: bool = False
    public_url: str | None = None
    allow_networks: Sequence[str] = ()
    secrets: MasterKeys = MasterKeys()


class Server:
    def __init__(self, config: ServerConfig) -> None:
        self._config = config
        self.engine = Engine(
            EngineConfig(
                database=DatabaseConfig(dsn=config.dsn),
                objects=config.objects,
                s3=config.s3,
                retention=timedelta(days=config.retention_days),
                lease_seconds=config.lease_seconds,
                max_pending=config.max_pending,
                shed=config.shed,
                public_url=config.public_url,
                allow_networks=config.allow_networks,
                secrets=config.secrets,
            )
        )
        self._socket: socket.socket | None = None
        self._http: uvicorn.Server | None = None
        self._serving: asyncio.Task[None] | None = None
        self._giving_back: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        if self._socket is None:
            raise SetupError("the server has not started")
        host, port = self._socket.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def start(self) -> None:
        """Answers requests when this returns."""
        self._socket = listen(self._config.host, self._config.port)
        try:
            await self._check_store()
            await self.engine.start()
        except BaseException:
            self._socket.close()
            raise
        self._http = uvicorn.Server(
            uvicorn.Config(
                Application(self.engine),
                loop="none",
                http=Protocol,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                timeout_keep_alive=75,
                timeout_graceful_shutdown=STOP_SECONDS,
                backlog=BACKLOG,
            )
        )
        self._http.config.load()
        self._serving = asyncio.create_task(self._serve(self._http, self._socket))
        while not self._http.started and not self._serving.done():  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.005)
        heap.settle_names()
        _calm_collector()
        self._giving_back = asyncio.create_task(_give_back_memory())
        log.info("server_started", url=self.url)

    async def _serve(self, http: uvicorn.Server, listener: socket.socket) -> None:
        # `_serve` is uvicorn's loop without its signal handlers: signals are the program's, not the server's.
        await http._serve(sockets=[listener])  # noqa: SLF001

    async def _check_store(self) -> None:
        connection = await self.engine.database.connect()
        try:
            await check_server(connection, allow_unsafe=self._config.allow_unsafe)
        finally:
            await connection.close()

    async def wait(self) -> None:
        if self._serving is not None:
            await asyncio.shield(self._serving)

    async def stop(self) -> None:
        if self._giving_back is not None:
            self._giving_back.cancel()
        if self._http is not None and self._serving is not None:
            self._http.should_exit = True
            self.engine.database.stop_retrying()
            self.engine.fleet.nudge_all()
            self.engine.watch.close()
            self.engine.pulses.close()
            await asyncio.wait({self._serving}, timeout=STOP_SECONDS + 2)
        await self.engine.stop()
        if self._socket is not None:
            self._socket.close()
        log.info("server_stopped")


async def _give_back_memory() -> None:
    pause = GIVE_BACK_SECONDS
    while True:
        await asyncio.sleep(pause)
        began = time.perf_counter()
        heap.give_back()
        pause = max(GIVE_BACK_SECONDS, (time.perf_counter() - began) / GIVE_BACK_SHARE)


def _calm_collector() -> None:
    """What is alive now stays; and batches of records, which hold no cycles, must not set off a collection each.

    Measured: collections took 13 % of a bulk submit before. The old are looked through only when memory is given back;
    so neither calls nor connections may leave cycles.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket, or a message that says why not."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named, not 0: asyncio switches Nagle's algorithm off only where it is, and small answers then wait for 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise SetupError(
                f"port {port} on {host} is taken; stop what uses it or choose another with --port"
            ) from error
        if error.errno == errno.EACCES:
            raise SetupError(f"port {port} needs more rights; choose one above 1023 with --port") from error
        raise SetupError(f"cannot listen on {host}:{port}: {error.strerror}") from error
    listener.setblocking(False)  # noqa: FBT003
    return listener
