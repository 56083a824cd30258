"""Bring a database to the schema this program was written for: numbered SQL files, each applied once, in order.

Any number of servers may start at once: one of them migrates, under an advisory lock of the database, and the others
find nothing left to do. They ask for the lock again and again instead of waiting in it, because a waiter holds a
snapshot, and `create index concurrently` waits for all snapshots: the two would wait for each other.

Each file runs in a transaction of its own together with its entry in `horae.migration`, with a short `lock_timeout`
and retries: a statement that waits for a lock on a hot table makes everybody else wait behind it. A file that begins
with `-- no transaction` runs outside of one. It must hold a single statement, and one that can be repeated, since the
program may die between the statement and the entry.

A file that was applied is never edited: its checksum is recorded, and a database that tells otherwise is refused, as
is one that is newer than this program.
"""

import asyncio
import hashlib
import random
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from importlib.resources.abc import Traversable

import asyncpg
import structlog

from horae import failpoints
from horae.model.errors import SetupError, StoreUnavailable
from horae.store.primary import Primary
from horae.store.safety import Connection, check_server, check_version

__all__ = ["Migration", "Status", "check_server", "known_migrations", "migrate", "pending", "status"]

SCHEMA = "horae"
FILE_NAME = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")
NO_TRANSACTION = "-- no transaction"
LOCK_KEY = 0x484F524145
"""The advisory lock of all who migrate: `HORAE` in ASCII."""
LOCK_TIMEOUT = "3s"
ATTEMPTS = 20
PATIENCE = 600.0
"""Seconds to wait for another server that migrates."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256("\n".join(self.sql.splitlines()).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Status:
    number: int
    name: str
    applied_at: datetime | None


def known_migrations(folder: Traversable | None = None) -> list[Migration]:
    """The files of this program, in order."""
    folder = folder or files("horae.store") / "migrations"
    found = [
        Migration(int(match[1]), file.name.removesuffix(".sql"), file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if (match := FILE_NAME.fullmatch(file.name))
    ]
    found.sort(key=lambda migration: migration.number)
    if [migration.number for migration in found] != list(range(1, len(found) + 1)):
        raise SetupError(f"The migrations in {folder} are not numbered 1, 2, 3 …: install Horae again")
    return found


async def migrate(target: str | Connection, folder: Traversable | None = None) -> list[str]:
    """Apply what is missing; returns the names of what was applied."""
    if isinstance(target, str):
        async with _connected(target) as connection:
            return await migrate(connection, folder)
    check_version(target)
    if not await pending(target, folder):
        return []
    async with _session(target), _migrating(target):
        await _ensure_history(target)
        # Another server may have done the work while this one waited for the lock.
        todo = await pending(target, folder)
        for migration in todo:
            await _apply_patiently(target, migration)
    return [migration.name for migration in todo]


async def pending(connection: Connection, folder: Traversable | None = None) -> list[Migration]:
    """What is still to be applied. Refuses a database this program cannot serve."""
    known = known_migrations(folder)
    applied = {row["number"]: row for row in await _history(connection)}
    _refuse_newer(applied, known)
    for migration in known:
        row = applied.get(migration.number)
        if row is not None and row["checksum"] != migration.checksum:
            raise SetupError(
                f"Migration {migration.name} is not what was applied to this database as {row['name']}: "
                "the file was changed, or the database belongs to another version; install that version"
            )
    return [migration for migration in known if migration.number not in applied]


async def status(connection: Connection, folder: Traversable | None = None) -> list[Status]:
    """Every migration of this program, with the time it was applied."""
    applied = {row["number"]: row["applied_at"] for row in await _history(connection)}
    return [Status(m.number, m.name, applied.get(m.number)) for m in known_migrations(folder)]


@asynccontextmanager
async def _connected(dsn: str) -> AsyncIterator[Connection]:
    try:
        connection = await Primary(dsn).connect()
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise StoreUnavailable(f"The database cannot be reached: {error}; check HORAE_DATABASE") from error
    try:
        yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def _session(connection: Connection) -> AsyncIterator[None]:
    """The session's settings for migrating, and what they were before."""
    wanted = {"search_path": SCHEMA, "lock_timeout": LOCK_TIMEOUT, "client_min_messages": "warning"}
    before = {name: await connection.fetchval("select current_setting($1)", name) for name in wanted}
    await _set(connection, wanted)
    try:
        yield
    finally:
        if not connection.is_closed():
            await _set(connection, before)


async def _set(connection: Connection, settings: dict[str, str]) -> None:
    for name, value in settings.items():
        await connection.execute("select set_config($1, $2, false)", name, value)


@asynccontextmanager
async def _migrating(connection: Connection) -> AsyncIterator[None]:
    deadline = time.monotonic() + PATIENCE
    while not await connection.fetchval("select pg_try_advisory_lock($1)", LOCK_KEY):
        if time.monotonic() > deadline:
            raise SetupError("Another server has been migrating this database for too long: see what it waits for")
        await asyncio.sleep(random.uniform(0.05, 0.15))
    try:
        yield
    finally:
        if not connection.is_closed():
            await connection.execute("select pg_advisory_unlock($1)", LOCK_KEY)


async def _ensure_history(connection: Connection) -> None:
    try:
        # `create schema if not exists` would want the right to create schemas even where there is nothing to create.
        if await connection.fetchval("select to_regnamespace($1) is null", SCHEMA):
            await connection.execute(f"create schema {SCHEMA}")
        await connection.execute(
            "create table if not exists migration (number int primary key, name text not null,"
            " checksum text not null, applied_at timestamptz not null default now())"
        )
    except asyncpg.InsufficientPrivilegeError as error:
        role, database = await connection.fetchrow("select current_user, current_database()") or ("?", "?")
        raise SetupError(
            f'The role "{role}" may not create the schema {SCHEMA}: '
            f'as the owner of the database "{database}" run: create schema {SCHEMA} authorization "{role}"'
        ) from error


async def _history(connection: Connection) -> list[asyncpg.Record]:
    table = f"{SCHEMA}.migration"
    try:
        if await connection.fetchval("select to_regclass($1) is null", table):
            return []
        return await connection.fetch(f"select number, name, checksum, applied_at from {table}")  # noqa: S608 a constant
    except asyncpg.InsufficientPrivilegeError as error:
        raise SetupError(f"{table} cannot be read: {error}; connect as the role that owns the schema") from error


def _refuse_newer(applied: dict[int, asyncpg.Record], known: list[Migration]) -> None:
    newest = max(applied, default=0)
    if newest > len(known):
        raise SetupError(
            f"The database is at migration {applied[newest]['name']}, which this Horae does not know: upgrade horae"
        )


async def _apply_patiently(connection: Connection, migration: Migration) -> None:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            await _apply(connection, migration)
        except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
            log.info("migration_waits_for_lock", migration=migration.name, attempt=attempt)
            await asyncio.sleep(random.uniform(0.1, 0.5) * min(attempt, 10))
        except asyncpg.PostgresError as error:
            raise SetupError(
                f"Migration {migration.name} failed: {error}; correct the cause and start again"
            ) from error
        else:
            failpoints.reach("migrate.after_commit")
            log.info("migrated", migration=migration.name)
            return
    raise SetupError(
        f"Migration {migration.name} could not lock what it changes: find the transaction that holds the lock in "
        "pg_stat_activity, end it, and start again"
    )


async def _apply(connection: Connection, migration: Migration) -> None:
    if migration.sql.startswith(NO_TRANSACTION):
        await connection.execute(migration.sql)
        await _record(connection, migration)
        return
    async with connection.transaction():
        await connection.execute(migration.sql)
        await _record(connection, migration)
        failpoints.reach("migrate.before_commit")


async def _record(connection: Connection, migration: Migration) -> None:
    await connection.execute(
        f"insert into {SCHEMA}.migration (number, name, checksum) values ($1, $2, $3)",  # noqa: S608 a constant
        migration.number,
        migration.name,
        migration.checksum,
    )
