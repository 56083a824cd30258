"""Enqueue inside the user's own transaction, by every driver, on the real function in a real database."""

import json

import asyncpg
import psycopg
import pytest
import sqlalchemy
from psycopg.rows import dict_row
from sqlalchemy.orm import Session

from horae import App, InvalidInput, InvalidParams, Unique

app = App()


@app.task
def send(to: str, conn: int = 0) -> None: ...


@pytest.fixture
async def dsn(database: str, conn) -> str:
    await conn.execute("insert into task (tenant_id, name) values (0, 'send')")
    return database


async def params_of(conn, job_id: str):
    found = await conn.fetchval("select params from job where id = $1::uuid", job_id)
    return None if found is None else json.loads(found)


def engine_url(dsn: str, driver: str) -> str:
    return dsn.replace("postgresql://", f"postgresql+{driver}://")


async def test_psycopg_connections_and_cursors(dsn, conn):
    with psycopg.connect(dsn, row_factory=dict_row) as mine:
        ids = [send.submit_in(mine, "a"), send.submit_in(mine.cursor(), to="a")]
        assert await params_of(conn, ids[0]) is None
    assert [await params_of(conn, job_id) for job_id in ids] == [{"to": "a"}] * 2


async def test_a_rolled_back_transaction_leaves_no_job(dsn, conn):
    with psycopg.connect(dsn) as mine:
        job_id = send.submit_in(mine, "a")
        mine.rollback()
    assert await params_of(conn, job_id) is None


async def test_psycopg_with_another_placeholder_style(dsn, conn):
    with psycopg.connect(dsn, cursor_factory=psycopg.RawCursor) as mine:
        job_id = send.submit_in(mine, "100% $1 :x")
    assert await params_of(conn, job_id) == {"to": "100% $1 :x"}


async def test_async_psycopg(dsn, conn):
    async with await psycopg.AsyncConnection.connect(dsn) as mine:
        ids = [await send.asubmit_in(mine, "a"), await send.asubmit_in(mine.cursor(), "a")]
    assert [await params_of(conn, job_id) for job_id in ids] == [{"to": "a"}] * 2


async def test_sqlalchemy_connections_and_sessions(dsn, conn):
    engine = sqlalchemy.create_engine(engine_url(dsn, "psycopg"))
    with engine.begin() as mine:
        ids = [send.submit_in(mine, ":to %s")]
    with Session(engine) as session:
        ids.append(send.submit_in(session, ":to %s"))
        session.commit()
    engine.dispose()
    assert [await params_of(conn, job_id) for job_id in ids] == [{"to": ":to %s"}] * 2


@pytest.mark.parametrize("driver", ["psycopg", "asyncpg"])
async def test_async_sqlalchemy(dsn, conn, driver):
    pytest.importorskip("greenlet", reason="SQLAlchemy's async part needs it: sqlalchemy[asyncio]")
    from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine

    engine = create_async_engine(engine_url(dsn, driver))
    async with engine.begin() as mine:
        ids = [await send.asubmit_in(mine, "a")]
    async with AsyncSession(engine) as session:
        ids.append(await send.asubmit_in(session, "a"))
        await session.commit()
    await engine.dispose()
    assert [await params_of(conn, job_id) for job_id in ids] == [{"to": "a"}] * 2


async def test_asyncpg_also_with_a_json_codec_of_the_users(dsn, conn):
    mine = await asyncpg.connect(dsn)
    await mine.set_type_codec("jsonb", encoder=json.dumps, decoder=json.loads, schema="pg_catalog")
    async with mine.transaction():
        job_id = await send.asubmit_in(mine, "a", conn=3)
    await mine.close()
    assert await params_of(conn, job_id) == {"to": "a", "conn": 3}


async def test_a_connection_from_an_asyncpg_pool(dsn, conn):
    async with asyncpg.create_pool(dsn, min_size=1, max_size=1) as pool:
        async with pool.acquire() as mine, mine.transaction():
            job_id = await send.asubmit_in(mine, "a")
        with pytest.raises(InvalidInput, match="carries no transaction"):
            await send.asubmit_in(pool, "a")
    assert await params_of(conn, job_id) == {"to": "a"}


async def test_options_reach_the_database(dsn, conn):
    with psycopg.connect(dsn) as mine:
        job_id = send.submit_in(mine, "a", _at="2090-11-20T10:00+01:00", _priority=8, _timeout="1m", _labels={"x": "y"})
    row = await conn.fetchrow("select run_at, priority, options from job where id = $1::uuid", job_id)
    assert (row["run_at"].isoformat(), row["priority"]) == ("2090-11-20T09:00:00+00:00", 8)
    assert json.loads(row["options"]) == {"timeout": 60.0, "labels": {"x": "y"}}


async def test_what_carries_no_transaction_is_refused(dsn):
    engine = sqlalchemy.create_engine(engine_url(dsn, "psycopg"))
    for nothing in (engine, object(), "postgresql://"):
        with pytest.raises(InvalidInput, match="carries no transaction"):
            send.submit_in(nothing, "a")


async def test_the_other_twin_is_named_when_the_wrong_one_is_called(dsn):
    with psycopg.connect(dsn) as mine, pytest.raises(InvalidInput, match=r"Connection is for submit_in\("):
        await send.asubmit_in(mine, "a")
    async with await psycopg.AsyncConnection.connect(dsn) as theirs:
        with pytest.raises(InvalidInput, match=r"AsyncConnection is for await asubmit_in\("):
            send.submit_in(theirs, "a")


async def test_what_cannot_be_stored_is_refused_before_the_statement_runs(dsn):
    with psycopg.connect(dsn) as mine:
        with pytest.raises(InvalidParams):
            send.submit_in(mine, object())
        with pytest.raises(InvalidInput, match="idempotency_key"):
            send.submit_in(mine, "a", _idempotency_key="k")
        assert mine.info.transaction_status is psycopg.pq.TransactionStatus.IDLE


def test_uniqueness_is_refused_because_nobody_would_look():
    with pytest.raises(InvalidInput, match="over HTTP"):
        send.options(unique=Unique()).submit_in(object(), "a")
