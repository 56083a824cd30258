"""Horae's own part of the start: a server, and keys for the desk and the worker."""

import sys
from collections.abc import Sequence
from pathlib import Path

from horae.engine.access import Access
from horae.model.roles import Role
from horae.store.control import Control
from horae.store.database import Database, DatabaseConfig
from horae.store.migrate import migrate
from race.environments import DRIVERS
from race.processes import Speaker

GREETING = b"Horae listens on "
HORAE = [sys.executable, "-m", "horae.cli"]


async def start(folder: Path, dsn: str, environ: dict[str, str]) -> Speaker:
    """Adds to the environment where the server is and with which key to speak to it."""
    await migrate(dsn)
    environ |= {"HORAE_LOG": "warning", "XDG_CONFIG_HOME": str(folder), "HORAE_KEY": await _key(dsn, Role.ADMIN)}
    (folder / "worker.key").write_text(await _key(dsn, Role.WORKER))
    arguments = ["server", "--host", "127.0.0.1", "--port", "0", "--objects", str(folder / "objects")]
    server = Speaker(
        "the server of Horae", [*HORAE, *arguments], environ | {"HORAE_DATABASE": dsn}, folder / "server.log"
    )
    await server.start()
    while not (line := await server.line()).startswith(GREETING):
        pass
    environ["HORAE_URL"] = line.removeprefix(GREETING).decode().strip()
    return server


def worker_command(folder: Path, environ: dict[str, str], more: Sequence[str]) -> list[str]:
    where = ["--url", environ["HORAE_URL"], "--key-file", str(folder / "worker.key")]
    return [*HORAE, "worker", "--app", f"{DRIVERS / 'horae_peer.py'}:app", *where, *more]


async def _key(dsn: str, role: Role) -> str:
    database = Database(DatabaseConfig(dsn=dsn, hot_connections=1, general_connections=1))
    await database.open()
    try:
        _, key = await Access(Control(database)).create_key(None, f"race-{role.value}", role, None, None)
    finally:
        await database.close()
    return key
