"""Connects to the primary among the hosts of a DSN, and never again to one that was left behind.

A failover leaves two servers behind one address: the old primary may come back and believe that it still is one. What
is read there is old, and what is committed there is lost. Each promotion begins a new timeline, so of two primaries the
one on the later timeline is right; and once one was seen, no earlier one will do, nor another system altogether.

All hosts are asked at once: one that vanished without a word must not hold up those that come after it.
"""

import asyncio
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import asyncpg
import structlog

from horae.store.safety import Connection

PROBE: Final = """
select pg_is_in_recovery() as standby, (select system_identifier from pg_control_system()) as system,
       case when pg_is_in_recovery() then 0
            else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline
"""
PATIENCE_SECONDS: Final = 1.0
"""How long the other hosts may still take when one has answered."""

log = structlog.get_logger()


class Reign(NamedTuple):
    """One promotion of one system."""

    system: int
    timeline: int


class Candidate(NamedTuple):
    connection: Connection
    reign: Reign


class Primary:
    def __init__(self, dsn: str) -> None:
        self._dsns = each_host(dsn)
        self._reign: Reign | None = None

    async def connect(self, dsn: str | None = None, **options: Any) -> Connection:
        """Stands for asyncpg.connect."""
        if len(self._dsns) == 1:
            return (await self._ask(self._dsns[0], options)).connection
        asked = [asyncio.create_task(self._ask(dsn, options)) for dsn in self._dsns]
        best: Candidate | None = None
        try:
            await _first_and_soon(asked)
            best = _latest(asked)
            return best.connection
        finally:
            for task in asked:
                task.cancel()
                task.add_done_callback(lambda done: _let_go(done, best))

    async def _ask(self, dsn: str, options: dict[str, Any]) -> Candidate:
        connection = await asyncpg.connect(dsn, **options)
        try:
            row = await connection.fetchrow(PROBE, timeout=options.get("timeout"))
            reign = Reign(row["system"], row["timeline"])
            return Candidate(connection, self._as_standby(reign) if row["standby"] else self._as_primary(reign))
        except BaseException:
            connection.terminate()
            raise

    def _as_standby(self, reign: Reign) -> Reign:
        """One that is the only host may be promoted any moment; nothing can be written to it till then."""
        if len(self._dsns) > 1:
            raise ConnectionError("it is a standby")
        return reign

    def _as_primary(self, reign: Reign) -> Reign:
        last = self._reign
        if last is not None and (reign.system != last.system or reign.timeline < last.timeline):
            raise ConnectionError(
                f"it is {_named(reign)}, and this server has written to {_named(last)}: "
                "it was left behind by a failover, or is another database; restart Horae if that is meant"
            )
        if last is not None and reign != last:
            log.warning("database_failed_over", timeline=reign.timeline)
        self._reign = reign
        return reign


def each_host(dsn: str) -> list[str]:
    """A DSN for each of the hosts before the path; what is said of them in other ways is left to the driver."""
    parts = urlsplit(dsn)
    who, at, hosts = parts.netloc.rpartition("@")
    return [parts._replace(netloc=f"{who}{at}{host}").geturl() for host in hosts.split(",")]


async def _first_and_soon(asked: list[asyncio.Task[Candidate]]) -> None:
    """Waits for the first that is right, then a moment for the others."""
    pending = set(asked)
    while pending:
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        if any(task.exception() is None for task in done):
            break
    if pending:
        await asyncio.wait(pending, timeout=PATIENCE_SECONDS)


def _latest(asked: list[asyncio.Task[Candidate]]) -> Candidate:
    done = [task for task in asked if task.done()]
    found = [task.result() for task in done if task.exception() is None]
    if not found:
        raise ConnectionError(f"none of the hosts is the primary: {'; '.join(repr(task.exception()) for task in done)}")
    return max(found, key=lambda candidate: candidate.reign.timeline)


def _let_go(task: asyncio.Task[Candidate], chosen: Candidate | None) -> None:
    """Ends the connections that were not chosen."""
    if not task.cancelled() and task.exception() is None and task.result() is not chosen:
        task.result().connection.terminate()


def _named(reign: Reign) -> str:
    return f"timeline {reign.timeline} of system {reign.system}"
