"""Connections to PostgreSQL: three small pools, deadlines on every call, and one way to try again.

The *hot* pool serves the statements of `queries/hot.sql`: its sessions plan with indexes only and keep generic plans,
because a statement planned on an empty table would keep its sequential scan for ever. The *general* pool plans as
PostgreSQL likes. The *short* pool is for what must not stand behind either: the heartbeats of workers, and whoever
reads while it holds a connection of the others (see `holding`). Nobody keeps a connection of it for longer than a
statement. All are small on purpose: batches, not connections, make the speed.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import asyncpg
import msgspec
import structlog

from horae import failpoints
from horae.model.errors import StoreUnavailable
from horae.store.holding import holding, is_holding
from horae.store.primary import Primary
from horae.store.statements import statements

T = TypeVar("T")
Rows = list[asyncpg.Record]

if TYPE_CHECKING:
    Pooled = asyncpg.pool.PoolConnectionProxy[asyncpg.Record]
else:
    # The class is generic to type checkers only.
    Pooled = asyncpg.pool.PoolConnectionProxy

log = structlog.get_logger()

HOT_SETTINGS: Final = {
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_bitmapscan": "off",
    "enable_material": "off",
    "plan_cache_mode": "force_generic_plan",
}
SHORT_SETTINGS: Final = HOT_SETTINGS | {"plan_cache_mode": "auto"}
"""As the heartbeats want it, and yet what is planned each time is so beside a transaction too."""
TRANSIENT: Final = (asyncpg.SerializationError, asyncpg.DeadlockDetectedError, asyncpg.LockNotAvailableError)
AMBIGUOUS: Final = (asyncpg.PostgresConnectionError, asyncpg.InterfaceError, ConnectionError, OSError, TimeoutError)
"""Errors after which nobody knows whether the statement took effect: the server did not answer."""
LOST: Final = (
    *AMBIGUOUS,
    asyncpg.OperatorInterventionError,
    asyncpg.TooManyConnectionsError,
    asyncpg.InsufficientResourcesError,
    asyncpg.ReadOnlySQLTransactionError,
)
"""Errors that pass when the database is back, or another one has taken over."""


CLOSE_SECONDS: Final = 2.0
"""How long a pool may take to say goodbye; a database that is away never answers."""


GRACE_SECONDS: Final = 0.5
"""PostgreSQL itself ends statements that take too long; this much later nobody waits for it any more."""


class NotConnected(ConnectionError):
    """No connection could be had, so nothing was sent: trying again is safe whatever it was."""


class DatabaseConfig(msgspec.Struct, frozen=True, kw_only=True):
    dsn: str
    hot_connections: int = 4
    general_connections: int = 4
    short_connections: int = 3
    call_seconds: float = 10.0
    """The deadline of one statement."""
    patience_seconds: float = 20.0
    """How long a call is tried again while the database is away."""
    application_name: str = "horae"

    def __post_init__(self) -> None:
        if min(self.hot_connections, self.general_connections, self.short_connections) < 1:
            raise ValueError("each pool needs at least one connection")

    @classmethod
    def small(cls, dsn: str) -> "DatabaseConfig":
        """For programs that do one thing after the other."""
        return cls(dsn=dsn, hot_connections=1, general_connections=1, short_connections=1)


class Copy(NamedTuple):
    """Rows for one table."""

    table: str
    columns: Sequence[str]
    rows: Sequence[tuple[Any, ...]] | bytes
    """Bytes are rows already in PostgreSQL's binary format."""


class Deadline:
    """Ends a connection that does not answer in time, so that the next one may find a successor.

    The driver's own timeout would ask PostgreSQL to cancel the statement. A commit that waits for its standby then
    stands on the primary alone, for all to see, and whoever relies on it has lost it after a failover.
    """

    def __init__(self, connection: "Pooled | asyncpg.Connection[asyncpg.Record]", seconds: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._end = connection.terminate
        self._seconds = seconds
        self._timer = self._loop.call_later(seconds, self._end)

    def renew(self) -> None:
        self._timer.cancel()
        self._timer = self._loop.call_later(self._seconds, self._end)

    def over(self) -> None:
        self._timer.cancel()


class Transaction:
    """One open transaction; made by `Database.atomically`."""

    def __init__(self, connection: Pooled, deadline: Deadline) -> None:
        self._connection = connection
        self._deadline = deadline

    async def fetch(self, name: str, *args: object) -> Rows:
        self._deadline.renew()
        return await self._connection.fetch(statements()[name], *args)

    async def fetchrow(self, name: str, *args: object) -> asyncpg.Record | None:
        self._deadline.renew()
        return await self._connection.fetchrow(statements()[name], *args)

    async def run(self, sql: str) -> None:
        """Data definition that cannot take parameters. Only `store/` calls this, with names it made itself."""
        self._deadline.renew()
        await self._connection.execute(sql)

    async def carry_over(self, table: str, suffix: str, ids: list[Any]) -> None:
        """Copies rows of a detached day into what the table now routes them to: its default partition."""
        sql = f"insert into horae.{table} select * from horae.{table}_{suffix} where id = any ($1::uuid[])"  # noqa: S608
        self._deadline.renew()
        await self._connection.execute(sql, ids)


class Database:
    def __init__(self, config: DatabaseConfig) -> None:
        self.config = config
        self._primary = Primary(config.dsn)
        self._hot: asyncpg.Pool[asyncpg.Record] | None = None
        self._general: asyncpg.Pool[asyncpg.Record] | None = None
        self._short: asyncpg.Pool[asyncpg.Record] | None = None
        self._stopping = False

    def stop_retrying(self) -> None:
        """The server stops: a call that fails from now on has failed."""
        self._stopping = True

    async def open(self) -> None:
        self._general = await self._pool(self.config.general_connections, {})
        self._hot = await self._pool(self.config.hot_connections, HOT_SETTINGS)
        self._short = await self._pool(self.config.short_connections, SHORT_SETTINGS)

    async def close(self) -> None:
        for pool in (self._short, self._hot, self._general):
            if pool is not None:
                try:
                    async with asyncio.timeout(CLOSE_SECONDS):
                        await pool.close()
                except (TimeoutError, *LOST):
                    pool.terminate()
        self._short = self._hot = self._general = None

    async def connect(self) -> "asyncpg.Connection[asyncpg.Record]":
        """A connection of one's own, for LISTEN and for advisory locks."""
        return await self._primary.connect(timeout=10, server_settings=self._settings({}))

    async def fetch(self, name: str, *args: object, hot: bool = False, vital: bool = False) -> Rows:
        """Runs a statement that may safely run twice, until it worked or patience ends. Workers live by a vital one."""
        return await self.again(lambda: self.once(name, *args, hot=hot, vital=vital))

    async def fetch_planned(self, name: str, *args: object) -> Rows:
        """The same, planned for these very arguments each time: where a plan for any picks the wrong index."""
        return await self.again(lambda: self._once_planned(name, *args))

    async def _once_planned(self, name: str, *args: object) -> Rows:
        async with self._acquire(hot=False) as (connection, _):
            # PostgreSQL keeps no plan of a statement without a name.
            statement = await connection.prepare(statements()[name], name="")
            return await statement.fetch(*args)

    async def fetchrow(self, name: str, *args: object, hot: bool = False, vital: bool = False) -> asyncpg.Record | None:
        rows = await self.fetch(name, *args, hot=hot, vital=vital)
        return rows[0] if rows else None

    async def once(self, name: str, *args: object, hot: bool = False, vital: bool = False) -> Rows:
        """Runs a statement once; the caller deals with a lost answer."""
        async with self._acquire(hot=hot, vital=vital) as (connection, _):
            failpoints.reach("statement.before")
            rows = await connection.fetch(statements()[name], *args)
            failpoints.reach("statement.after")
            return rows

    async def copy(self, copies: "Sequence[Copy]") -> None:
        """Streams rows into several tables, in one transaction."""
        async with self._acquire(hot=True) as (connection, deadline), connection.transaction():
            for copy in copies:
                deadline.renew()
                place: Any = {"schema_name": "horae", "columns": copy.columns}
                if isinstance(copy.rows, bytes):
                    # The driver would take bytes for the path of a file.
                    source: Any = memoryview(copy.rows)
                    await connection.copy_to_table(copy.table, source=source, format="binary", **place)
                else:
                    await connection.copy_records_to_table(copy.table, records=copy.rows, **place)
            deadline.renew()
            failpoints.reach("copy.before_commit")
        failpoints.reach("copy.after_commit")

    async def atomically(self, work: Callable[[Transaction], Awaitable[T]], *, hot: bool = False) -> T:
        """Runs `work` in a transaction. It must be safe to run it again after a lost commit."""
        return await self.again(lambda: self.atomically_once(work, hot=hot))

    async def atomically_once(self, work: Callable[[Transaction], Awaitable[T]], *, hot: bool = False) -> T:
        """The same without trying again; the caller deals with a lost commit."""
        async with self._acquire(hot=hot) as (connection, deadline), connection.transaction():
            with holding(self):
                done = await work(Transaction(connection, deadline))
            deadline.renew()
            failpoints.reach("transaction.before_commit")
        failpoints.reach("transaction.after_commit")
        return done

    async def again(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Tries until it worked: conflicts and lost connections are tried again, with jitter and an end."""
        deadline = time.monotonic() + self.config.patience_seconds
        pause = 0.02
        while True:
            began = time.monotonic()
            try:
                return await attempt()
            except (*TRANSIENT, *LOST) as error:
                self._refuse_the_slow(error, time.monotonic() - began)
                if self._stopping or time.monotonic() + pause > deadline:
                    raise StoreUnavailable(
                        f"the database cannot do this now, tried again and again ({error!r}); see `horae doctor`",
                        retry_after=2,
                    ) from error
                await asyncio.sleep(pause * random.uniform(0.5, 1.5))
                pause = min(pause * 2, 1.0)

    def _refuse_the_slow(self, error: BaseException, took: float) -> None:
        """What PostgreSQL ended for its length would be as long the next time, and twice the load. Whether that was why
        is told by the time: the error is that of a statement which somebody cancelled, and its text is translated."""
        if isinstance(error, asyncpg.QueryCanceledError) and took >= self.config.call_seconds:
            raise StoreUnavailable(
                f"the database took longer than {self.config.call_seconds:g} s and was stopped; see `horae doctor`",
                retry_after=2,
            ) from error

    @asynccontextmanager
    async def _acquire(self, *, hot: bool, vital: bool = False) -> AsyncIterator[tuple[Pooled, Deadline]]:
        pool = self._short if vital or is_holding(self) else self._hot if hot else self._general
        if pool is None:
            raise StoreUnavailable("the database is not open", retry_after=1)
        try:
            connection = await pool.acquire(timeout=self.config.call_seconds)
        except LOST as error:
            raise NotConnected(f"no connection to the database: {error!r}") from error
        deadline = Deadline(connection, self.config.call_seconds + GRACE_SECONDS)
        try:
            yield connection, deadline
        except asyncpg.InternalClientError as error:
            # The server ended this connection while nobody used it, and the driver has not yet seen the end.
            connection.terminate()
            raise NotConnected(f"the connection had been ended: {error}") from error
        except asyncpg.ReadOnlySQLTransactionError:
            # The server we are connected to is no longer the primary: the next connections shall find the new one.
            await pool.expire_connections()
            raise
        finally:
            deadline.over()
            await _release(pool, connection)

    async def _pool(self, size: int, extra: dict[str, str]) -> "asyncpg.Pool[asyncpg.Record]":
        return await asyncpg.create_pool(
            self.config.dsn,
            connect=self._primary.connect,
            min_size=size,
            max_size=size,
            timeout=10,
            max_inactive_connection_lifetime=0,
            server_settings=self._settings(extra),
            # No session state is ever set, so there is none to reset: it would cost a round trip a call.
            reset=_leave_as_is,
        )

    def _settings(self, extra: dict[str, str]) -> dict[str, str]:
        milliseconds = int(self.config.call_seconds * 1000)
        return {
            "application_name": self.config.application_name,
            "search_path": "horae",
            "jit": "off",
            "statement_timeout": str(milliseconds),
            "lock_timeout": str(milliseconds // 4),
            # Longer: a transaction may wait for what is read on another connection, and that for its own end.
            "idle_in_transaction_session_timeout": str(2 * milliseconds),
            # The locks of a server whose host is gone without a word: for PostgreSQL to notice within half a minute.
            "tcp_keepalives_idle": "15",
            "tcp_keepalives_interval": "5",
            "tcp_keepalives_count": "3",
            "timezone": "UTC",
            **extra,
        }


async def _release(pool: "asyncpg.Pool[asyncpg.Record]", connection: Pooled) -> None:
    """What goes wrong with a connection that is over must not stand before the answer that came by it, nor before the
    cancellation of whoever used it: a duty would go on for ever, and a statement be run again that was carried out."""
    try:
        await pool.release(connection)
    except (asyncpg.InternalClientError, *LOST) as error:
        log.info("connection_broken", error=repr(error))


async def _leave_as_is(connection: object) -> None:
    """The pools' reset hook."""


def columns(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows as columns: what `unnest` takes."""
    return list(zip(*rows, strict=True))


def numbers(column: Iterable[float]) -> str:
    """A column of numbers as the text of an array, for statements that take `$n::text::int[]`.

    Measured: the driver takes 0.6 µs to put a number into an array, which a hot statement would pay for every row and
    column; this way it is 0.15, and the database reads it no slower.
    """
    return f"{{{','.join(map(str, column))}}}"
