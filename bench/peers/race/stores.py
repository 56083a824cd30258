"""Where the peers keep their jobs: fresh ones, each in a folder that is removed.

PostgreSQL is the one that Horae embeds, with the same settings for all. Redis appends to its file and syncs it every
second, as its own documentation advises for queues; RabbitMQ is as Debian packs it.
"""

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from horae.model.errors import SetupError
from horae.store.embedded import Cluster
from race.environments import install
from race.processes import Process

READY_SECONDS = 60.0
REDIS = Path("/usr/bin/redis-server")
EPMD = Path("/usr/bin/epmd")
RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")


class Store(NamedTuple):
    url: str
    pid: int


@asynccontextmanager
async def postgresql(folder: Path) -> AsyncIterator[Store]:
    async with Cluster(folder / "postgresql") as cluster:
        assert cluster.pid is not None  # noqa: S101 it runs
        yield Store(cluster.dsn, cluster.pid)


@asynccontextmanager
async def redis(folder: Path) -> AsyncIterator[Store]:
    await asyncio.to_thread(install, REDIS, "redis-server")
    port = free_port()
    settings = {"port": port, "bind": "127.0.0.1", "dir": folder, "appendonly": "yes", "appendfsync": "everysec"}
    settings |= {"save": "", "daemonize": "no"}
    command = [str(REDIS), *(str(word) for name, value in settings.items() for word in (f"--{name}", value))]
    process = Process("redis", command, os.environ, folder / "redis.log")
    async with running(process, port):
        yield Store(f"redis://127.0.0.1:{port}/0", process.pid)


@asynccontextmanager
async def rabbitmq(folder: Path) -> AsyncIterator[Store]:
    """With Erlang's name server as a process of ours: the one that it starts by itself would outlive it."""
    await asyncio.to_thread(install, RABBITMQ, "rabbitmq-server")
    port, distribution, names = free_port(), free_port(), free_port()
    environ = os.environ | {
        "HOME": str(folder),
        "RABBITMQ_NODENAME": f"race{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(distribution),
        "ERL_EPMD_PORT": str(names),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "logs"),
        "RABBITMQ_PID_FILE": str(folder / "rabbitmq.pid"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
    }
    register = Process("epmd", [str(EPMD)], environ, folder / "epmd.log")
    broker = Process("rabbitmq", [str(RABBITMQ)], environ, folder / "rabbitmq.log")
    async with running(register, names), running(broker, port):
        yield Store(f"amqp://guest:guest@127.0.0.1:{port}//", broker.pid)


@asynccontextmanager
async def running(process: Process, port: int) -> AsyncIterator[None]:
    await process.start()
    try:
        deadline = time.monotonic() + READY_SECONDS
        while not await answers(port):
            process.check()
            if time.monotonic() > deadline:
                raise SetupError(f"{process.name} does not listen on its port. It said:\n{process.last_words()}")
            await asyncio.sleep(0.05)
        yield
    finally:
        await process.stop()


async def answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
