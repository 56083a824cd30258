"""What the doctor sees in a database."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Final

from horae.cli.finding import Finding, fail, ok, warn
from horae.cli.text import cut, short
from horae.model.errors import HoraeError
from horae.model.overload import STRAINED
from horae.store import checkup
from horae.store.safety import OLDEST_SERVER, SAFE_MINORS, Connection, release, safe_minor

LONG_TRANSACTION: Final = 120.0
"""Seconds. Horae's own end within ten."""
FEW_CONNECTIONS: Final = 13
"""What one more server takes."""
LARGE_CLOCK_DIFFERENCE: Final = 5.0
SILENT_SERVER: Final = 15.0
"""Seconds: a server says every five that it lives."""
DURABLE: Final = ("fsync", "full_page_writes", "synchronous_commit")


async def check_database(dsn: str) -> list[Finding]:
    try:
        async with checkup.connected(dsn) as connection:
            return [await check(connection) for check in CHECKS]
    except HoraeError as error:
        return [fail("database", error.detail, "start PostgreSQL, or correct --database or HORAE_DATABASE")]


async def _check_version(connection: Connection) -> Finding:
    version = connection.get_server_version()
    seen = f"PostgreSQL {release(version)}"
    if version.major < OLDEST_SERVER:
        return fail("database", seen, f"upgrade it to PostgreSQL {OLDEST_SERVER} or later")
    if not safe_minor(version.major, version.micro):
        safe = f"{version.major}.{SAFE_MINORS[version.major]}"
        return warn("database", seen, f"upgrade it to {safe}: before, a limit made while jobs end may lose a slot")
    return ok("database", seen)


async def _check_migrations(connection: Connection) -> Finding:
    try:
        missing = await checkup.missing_migrations(connection)
    except HoraeError as error:
        return fail("migrations", error.detail, "install the version of Horae that this database belongs to")
    if missing:
        return fail("migrations", f"missing: {', '.join(missing)}", "run `horae migrate`")
    return ok("migrations", "all applied")


async def _check_durability(connection: Connection) -> Finding:
    found = await checkup.settings(connection, list(DURABLE))
    if off := [name for name in DURABLE if found.get(name) == "off"]:
        fix = "; ".join(f"alter system set {name} = on" for name in off) + "; then reload PostgreSQL"
        return fail("durability", f"{', '.join(off)} off: a crash may lose jobs", fix)
    return ok("durability", f"{', '.join(DURABLE)} on")


async def _check_partitions(connection: Connection) -> Finding:
    missing = await checkup.missing_partitions(connection)
    if missing:
        fix = "run `horae migrate` if migrations are missing; else a running server makes them: see that one runs"
        return fail("partitions", f"missing: {', '.join(missing)}", fix)
    return ok("partitions", "there for today and tomorrow")


async def _check_connections(connection: Connection) -> Finding:
    allowed, used = await checkup.connections(connection)
    seen = f"{used} of {allowed} connections in use"
    if allowed - used < FEW_CONNECTIONS:
        return warn("connections", seen, "raise max_connections, or end what holds them (pg_stat_activity)")
    return ok("connections", seen)


async def check_transactions(connection: Connection, limit: float = LONG_TRANSACTION) -> Finding:
    oldest = await checkup.oldest_transaction(connection)
    if oldest is None or oldest.seconds < limit:
        return ok("transactions", "none is open for long")
    who = f"pid {oldest.pid}" + (f" ({oldest.application})" if oldest.application else "")
    seen = f"{who} is open for {short(oldest.seconds)}, {oldest.state}: {cut(oldest.query, 80)}"
    fix = f"it keeps vacuum from clearing up: end it, if need be with select pg_terminate_backend({oldest.pid})"
    return warn("transactions", seen, fix)


async def _check_autovacuum(connection: Connection) -> Finding:
    found = await checkup.settings(connection, ["autovacuum"])
    if found.get("autovacuum") == "off":
        return fail("autovacuum", "off: tables grow without end", "alter system set autovacuum = on; then reload")
    return ok("autovacuum", "on")


async def _check_servers(connection: Connection) -> Finding:
    """None may be right: a database is checked before its first server, too."""
    found = [server for server in await checkup.servers(connection) if server.silent < SILENT_SERVER]
    seen = f"{len(found)} alive" + (f", on {', '.join(sorted({server.host for server in found}))}" if found else "")
    if len({server.version for server in found}) > 1:
        return warn("servers", f"{seen}, of different versions", "install the same version everywhere")
    if loaded := [f"{server.host} (load {server.load:.2f})" for server in found if server.load >= STRAINED]:
        fix = "the lowest priorities are refused: start more workers, raise max_pending, or submit less"
        return warn("servers", f"overloaded: {', '.join(loaded)}", fix)
    return ok("servers", seen)


async def _check_clock(connection: Connection) -> Finding:
    away = abs((await checkup.clock(connection) - datetime.now(UTC)).total_seconds())
    if away > LARGE_CLOCK_DIFFERENCE:
        return warn("database clock", f"{short(away)} away from this machine's", "synchronise the clocks (NTP)")
    return ok("database clock", "agrees with this machine's")


CHECKS: Final[tuple[Callable[[Connection], Awaitable[Finding]], ...]] = (
    _check_version, _check_migrations, _check_durability, _check_partitions, _check_connections,
    check_transactions, _check_autovacuum, _check_servers, _check_clock,
)  # fmt: skip
