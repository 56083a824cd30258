"""Whether a PostgreSQL server may be trusted with jobs.

A job that was accepted must survive a crash of the server, so the three settings that trade this for speed are refused.
"""

from typing import TYPE_CHECKING

import asyncpg

from horae.model.errors import SetupError, UnsafeStore

OLDEST_SERVER = 16
SAFE_MINORS = {16: 11, 17: 7}
"""Earlier ones do not look again at a row that is found by its place and was changed meanwhile: a limit that is made at
the moment in which a job ends can then lose a slot for good. Releases that are not named here never did."""

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]
else:
    # The class is generic to type checkers only.
    Connection = asyncpg.Connection


def check_version(connection: Connection) -> None:
    version = connection.get_server_version()
    if version.major < OLDEST_SERVER:
        raise SetupError(
            f"The database is PostgreSQL {release(version)}, and Horae needs {OLDEST_SERVER} or later: "
            "upgrade it, or name another one with HORAE_DATABASE"
        )


def release(version: asyncpg.ServerVersion) -> str:
    """As PostgreSQL says it: since 10, what asyncpg calls the minor one is always 0."""
    return f"{version.major}.{version.micro}"


def safe_minor(major: int, minor: int) -> bool:
    return minor >= SAFE_MINORS.get(major, 0)


async def check_server(connection: Connection, *, allow_unsafe: bool = False) -> None:
    """Refuse a server that is too old, that cannot be written to, or that would lose what it acknowledged."""
    check_version(connection)
    if await connection.fetchval("select pg_is_in_recovery()"):
        raise SetupError("The database is a standby, which cannot be written to: name the primary with HORAE_DATABASE")
    for setting in ("fsync", "full_page_writes", "synchronous_commit"):
        value = await connection.fetchval("select current_setting($1)", setting)
        if value == "off" and not allow_unsafe:
            raise UnsafeStore(
                f"The database runs with {setting} = off: jobs it has accepted may be lost or damaged in a crash. "
                f"Set {setting} = on"
            )
