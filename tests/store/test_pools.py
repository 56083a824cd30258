"""Pools of connections: who holds one does not wait for those who do, and slow reads do not stand before heartbeats."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from horae.model.errors import StoreUnavailable
from horae.store.control import Control
from horae.store.database import Database, DatabaseConfig, Transaction
from horae.store.statements import statements
from horae.store.upkeep import Upkeep
from horae.store.workers import Workers


@asynccontextmanager
async def opened(dsn: str, **config: float) -> AsyncIterator[Database]:
    sizes = {"hot_connections": 1, "general_connections": 2, "short_connections": 1}
    database = Database(DatabaseConfig(dsn=dsn, **sizes | config))
    await database.open()
    try:
        yield database
    finally:
        await database.close()


async def hold_all(database: Database, until: asyncio.Event, *, hot: bool = False) -> list["asyncio.Task[None]"]:
    """Transactions that hold every general connection, or every hot one."""
    number = database.config.hot_connections if hot else database.config.general_connections
    inside = asyncio.Barrier(number + 1)

    async def work(tx: Transaction) -> None:
        await inside.wait()
        await until.wait()

    held = [asyncio.create_task(database.atomically(work, hot=hot)) for _ in range(number)]
    await inside.wait()
    return held


@pytest.mark.parametrize("hot", [False, True])
async def test_transactions_that_read_beside_themselves_do_not_wait_for_each_other(database: str, hot: bool):
    async with opened(database) as db:
        wanted = db.config.hot_connections if hot else db.config.general_connections
        inside = asyncio.Barrier(wanted)

        async def work(tx: Transaction) -> None:
            await inside.wait()
            await Upkeep(db).clock()

        async with asyncio.timeout(100):
            await asyncio.gather(*(db.atomically(work, hot=hot) for _ in range(wanted)))


async def test_who_reads_beside_a_transaction_gets_a_plan_for_what_it_asks(database: str, monkeypatch):
    setting = "select current_setting('plan_cache_mode') as mode, current_setting('enable_seqscan') as scan"
    monkeypatch.setitem(statements(), "setting", setting)
    async with opened(database) as db:
        (beside,) = await db.atomically(lambda tx: db.fetch_planned("setting"))
        (heartbeat,) = await db.fetch("setting", vital=True)
        assert beside["mode"] == "auto"
        assert heartbeat["scan"] == "off"


async def test_a_task_that_outlives_its_transaction_is_no_holder_any_more(database: str):
    async with opened(database) as db:
        over = asyncio.Event()

        async def later() -> int:
            await over.wait()
            rows = await db.atomically(lambda tx: tx.fetch("clock"))
            return len(rows)

        async def work(tx: Transaction) -> "asyncio.Task[int]":
            return asyncio.create_task(later())

        started = await db.atomically(work)
        holding = await hold_all(db, release := asyncio.Event())
        over.set()
        await asyncio.sleep(0.05)  # It may not come through now: only time can show that nothing happens.
        assert not started.done()
        release.set()
        await asyncio.gather(*holding)
        assert await started == 1


async def test_workers_are_heard_while_reads_and_claims_hold_all_connections(database: str):
    async with opened(database) as db:
        workers, release = Workers(db), asyncio.Event()
        now = await Upkeep(db).clock()
        holding = await hold_all(db, release) + await hold_all(db, release, hot=True)
        async with asyncio.timeout(100):
            assert await Control(db).key_find(b"nobody's") is None
            assert await workers.worker_heartbeat(1, None, now, 15.0, 0, 0, None, None) is None
            assert await workers.worker_get(1, None) is None
            assert await workers.cancel_orders(1) == []
        release.set()
        await asyncio.gather(*holding)


async def test_the_dead_are_found_while_reads_hold_all_connections(database: str):
    async with opened(database) as db:
        workers = Workers(db)
        now = await Upkeep(db).clock()
        holding = await hold_all(db, release := asyncio.Event())
        async with asyncio.timeout(100):
            assert await workers.worker_expired(now, 300.0) == []
            assert not await workers.worker_lose(1, now)
        release.set()
        await asyncio.gather(*holding)


async def test_a_statement_that_took_too_long_is_not_run_again(database: str):
    runs = 0

    async with opened(database, call_seconds=1.0) as db:

        async def work(tx: Transaction) -> None:
            nonlocal runs
            runs += 1
            await tx.run("select pg_sleep(30)")

        with pytest.raises(StoreUnavailable, match="took longer than"):
            await db.atomically(work)
    assert runs == 1


async def test_a_statement_that_somebody_cancelled_is_run_again(database: str, conn):
    runs = 0

    async with opened(database) as db:

        async def work(tx: Transaction) -> None:
            nonlocal runs
            runs += 1
            if runs == 1:
                await tx.run("select pg_cancel_backend(pg_backend_pid())")
                await tx.run("select pg_sleep(1)")

        await db.atomically(work)
    assert runs == 2


@pytest.fixture
def breaks_when_released(monkeypatch) -> None:
    """As asyncpg does when the connection ends at the wrong moment."""
    real = asyncpg.pool.Pool.release

    async def release(*args, **named):
        await real(*args, **named)
        raise asyncpg.InternalClientError("release() called on a free connection holder")

    monkeypatch.setattr(asyncpg.pool.Pool, "release", release)


@pytest.mark.usefixtures("breaks_when_released")
async def test_who_is_cancelled_stays_cancelled_though_the_connection_breaks(database: str):
    async with opened(database) as db:
        inside = asyncio.Event()

        async def work(tx: Transaction) -> None:
            inside.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(db.atomically(work))
        await inside.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.usefixtures("breaks_when_released")
async def test_an_answer_that_has_come_is_given_though_the_connection_breaks(database: str):
    async with opened(database) as db:
        assert len(await db.fetch("clock")) == 1
