"""What `horae doctor` can find out about a database: facts only, the judgement is the doctor's."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlencode

import asyncpg

from horae.model.errors import SetupError, StoreUnavailable
from horae.store.embedded.cluster import DATABASE, ROLE
from horae.store.embedded.folders import PGDATA
from horae.store.migrate import pending
from horae.store.primary import Primary
from horae.store.safety import Connection
from horae.store.statements import statements

CONNECT_SECONDS: Final = 5
_PORT_LINE, _SOCKET_LINE = 3, 4


class OpenTransaction(NamedTuple):
    pid: int
    application: str
    state: str | None
    query: str
    seconds: float


class Connections(NamedTuple):
    allowed: int
    used: int


class SeenServer(NamedTuple):
    host: str
    pid: int
    version: str
    load: float
    silent: float


@asynccontextmanager
async def connected(dsn: str) -> AsyncIterator[Connection]:
    try:
        connection = await Primary(dsn).connect(timeout=CONNECT_SECONDS, command_timeout=30)
    except (OSError, TimeoutError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        why = str(error) or type(error).__name__
        raise StoreUnavailable(f"the database cannot be reached: {why}; check HORAE_DATABASE") from error
    try:
        yield connection
    finally:
        await connection.close()


def running_dsn(data: Path) -> str | None:
    """The address of the embedded PostgreSQL that runs on a data folder: it keeps port and socket in its pid file."""
    try:
        lines = (data / PGDATA / "postmaster.pid").read_text().split("\n")
        where = urlencode({"host": lines[_SOCKET_LINE].strip(), "port": lines[_PORT_LINE].strip()})
    except (FileNotFoundError, IndexError):
        return None
    except OSError as error:
        raise SetupError(f"{data} cannot be read: {error.strerror}; run this as the user who runs Horae") from error
    return f"postgresql://{ROLE}@/{DATABASE}?{where}"


async def settings(connection: Connection, names: list[str]) -> dict[str, str]:
    rows = await connection.fetch(statements()["checkup_settings"], names)
    return {row["name"]: row["setting"] for row in rows}


async def missing_migrations(connection: Connection) -> list[str]:
    """Raises a SetupError when the database is newer than this program."""
    return [migration.name for migration in await pending(connection)]


async def missing_partitions(connection: Connection) -> list[str]:
    return [row["name"] for row in await connection.fetch(statements()["checkup_missing_partitions"])]


async def connections(connection: Connection) -> Connections:
    row = await connection.fetchrow(statements()["checkup_connections"])
    return Connections(**dict(row or {"allowed": 0, "used": 0}))


async def oldest_transaction(connection: Connection) -> OpenTransaction | None:
    row = await connection.fetchrow(statements()["checkup_oldest_transaction"])
    return None if row is None else OpenTransaction(**dict(row))


async def servers(connection: Connection) -> list[SeenServer]:
    """The servers that were there within a day; none in a database that has no tables yet."""
    try:
        rows = await connection.fetch(statements()["checkup_servers"])
    except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError):
        return []
    return [SeenServer(**dict(row)) for row in rows]


async def master_keys(connection: Connection) -> dict[str, int]:
    """Which master keys wrap how many tenants' keys."""
    return {row["master"]: row["keys"] for row in await connection.fetch(statements()["checkup_masters"])}


async def clock(connection: Connection) -> datetime:
    now: datetime = await connection.fetchval(statements()["clock"])
    return now
