"""Appending rows to a table of somebody else's PostgreSQL, once for each job.

The rows and a marker with the job's id come into the database in one transaction, so that whoever finds the marker
knows that the rows are there. The rows go down as one JSON text, which PostgreSQL turns into the types of the table's
own columns: COPY would need every type told on our side, and is not what takes the time.
"""

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit
from uuid import UUID

import asyncpg
import msgspec

from horae.model.addresses import Network
from horae.model.errors import InvalidInput, NotReady
from horae.model.tabular import Row, column_names
from horae.store.outreach import guarded_loop
from horae.store.safety import Connection

MARKER: Final = "horae_sunk"
CONNECT_SECONDS: Final = 10.0
STATEMENT_SECONDS: Final = 35
SSL_MODES: Final = frozenset({"disable", "allow", "prefer", "require", "verify-ca", "verify-full"})
NO_ADDRESS: Final = "sink: the secret is not an address of the form postgresql://user:password@host/database"
_PART: Final = re.compile(r"[A-Za-z_]\w{0,62}", re.ASCII)
REFUSALS: Final = (
    asyncpg.DataError,
    asyncpg.IntegrityConstraintViolationError,
    asyncpg.SyntaxOrAccessError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.FeatureNotSupportedError,
    asyncpg.ProgramLimitExceededError,
    asyncpg.PLPGSQLError,
    asyncpg.WithCheckOptionViolationError,
)
"""What will be no better the next time."""


class Target(NamedTuple):
    """A table by its quoted names."""

    table: str
    marker: str

    @classmethod
    def of(cls, name: str) -> "Target":
        parts = name.split(".")
        if len(parts) > 2 or not all(_PART.fullmatch(part) for part in parts):
            raise InvalidInput(f"sink.table: {name[:80]!r} is not a table such as public.events")
        schema = "".join(f'"{part}".' for part in parts[:-1])
        return cls(f'{schema}"{parts[-1]}"', f"{schema}{MARKER}")


async def append_rows(dsn: str, table: str, job_id: UUID, rows: list[Row], allowed: Sequence[Network] = ()) -> bool:
    """Returns whether it was this call that wrote; False: the job's rows were there already.

    `allowed`: networks that may be reached beside the public internet.
    """
    target = Target.of(table)
    where = read_address(dsn)
    try:
        connection = await asyncpg.connect(**where, loop=guarded_loop(allowed))
        try:
            await _make_marker(connection, target)
            async with connection.transaction():
                written = await _append(connection, target, job_id, rows)
            await connection.close(timeout=CONNECT_SECONDS)
        finally:
            connection.terminate()
    except REFUSALS as error:
        raise InvalidInput(f"sink: table {table} refused the rows: {str(error)[:300]}") from error
    except UnicodeError as error:
        raise InvalidInput("sink: the host in the address is not one that can be looked up") from error
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        raise NotReady(
            f"sink: the database of table {table} cannot be used now: {error!r:.300}", retry_after=5
        ) from error
    return written


async def _make_marker(connection: Connection, target: Target) -> None:
    """Looked for first: whoever may only insert is given the table by somebody who may make it."""
    if await connection.fetchval("select to_regclass($1)", target.marker) is not None:
        return
    definition = "job_id uuid primary key, target text not null, sunk_at timestamptz not null default now()"
    try:
        await connection.execute(f"create table if not exists {target.marker} ({definition})")
    except (asyncpg.UniqueViolationError, asyncpg.DuplicateObjectError, asyncpg.DuplicateTableError):
        return  # Another server made it at the same moment.
    except asyncpg.InsufficientPrivilegeError as error:
        raise InvalidInput(
            f"sink: the user may not make the table of markers; make it for it: create table {target.marker} "
            f"({definition}), and grant select and insert on it"
        ) from error


async def _append(connection: Connection, target: Target, job_id: UUID, rows: list[Row]) -> bool:
    # Waits for another that writes the same job just now, and then sees whether it did.
    sql = f"insert into {target.marker} (job_id, target) values ($1, $2) on conflict do nothing returning true"  # noqa: S608
    if not await connection.fetchval(sql, job_id, target.table):
        return False
    names = column_names(rows)
    await _check_columns(connection, target, names)
    if names:
        columns = ", ".join(quoted(name) for name in names)
        sql = (
            f"insert into {target.table} ({columns}) "  # noqa: S608 - names are quoted
            f"select {columns} from json_populate_recordset(null::{target.table}, $1::json)"
        )
        await connection.execute(sql, msgspec.json.encode(rows).decode())
    return True


async def _check_columns(connection: Connection, target: Target, names: list[str]) -> None:
    sql = "select attname from pg_attribute where attrelid = $1::text::regclass and attnum > 0 and not attisdropped"
    known = {row["attname"] for row in await connection.fetch(sql, target.table)}
    if unknown := [name for name in names if name not in known]:
        raise InvalidInput(
            f"sink: table {target.table} has no column {unknown[0][:80]!r}; it has {', '.join(sorted(known))[:300]}"
        )


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def read_address(dsn: str) -> dict[str, Any]:
    """What to connect with, all of it said: nothing of this server's own environment or files is given away."""
    try:
        parts = urlsplit(dsn)
        port, query = parts.port or 5432, dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
    except ValueError as error:
        raise InvalidInput(NO_ADDRESS) from error
    mode = query.pop("sslmode", "prefer")
    if parts.scheme not in ("postgresql", "postgres") or not parts.hostname or not parts.username:
        raise InvalidInput(NO_ADDRESS)
    if query or mode not in SSL_MODES or "%" in parts.hostname:
        raise InvalidInput("sink: the address may have ?sslmode=… and no other option, and names a host")
    user = unquote(parts.username)
    return {
        "host": parts.hostname,
        "port": port,
        "user": user,
        "password": unquote(parts.password or ""),
        "database": unquote(parts.path.lstrip("/")) or user,
        "ssl": mode,
        "passfile": "/dev/null",
        "timeout": CONNECT_SECONDS,
        "server_settings": {
            "application_name": "horae sink",
            "statement_timeout": str(STATEMENT_SECONDS * 1000),
            "idle_in_transaction_session_timeout": "60000",
        },
    }
