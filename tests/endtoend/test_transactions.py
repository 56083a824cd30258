"""Jobs submitted in a user's own transaction: they exist, and run, if and only if it commits."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

import asyncpg
import psycopg
import pytest
import pytest_asyncio
import sqlalchemy
from sqlalchemy.orm import Session

from horae import NotFound
from horae.testing.stack import Stack

from .conftest import spec
from .sdk_app import app, triple

pytestmark = pytest.mark.asyncio(loop_scope="module")
SECONDS = 100


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def real(stack: Stack) -> AsyncIterator[Stack]:
    await stack.worker("one", spec("sdk_app"))
    await stack.until_joined("one")
    with stack.client() as client:
        former = app.clients.swap(client, None)
        yield stack
        app.clients.swap(*former)


Submit = Callable[[int], Awaitable[str]]
Way = Callable[[str], AbstractAsyncContextManager[Submit]]


class RollBack(Exception):
    """What a user's code raises in the middle of its transaction."""


@asynccontextmanager
async def by_asyncpg(dsn: str) -> AsyncIterator[Submit]:
    connection = await asyncpg.connect(dsn)
    try:
        async with connection.transaction():
            yield lambda number: triple.asubmit_in(connection, number)
    finally:
        await connection.close()


@asynccontextmanager
async def by_async_psycopg(dsn: str) -> AsyncIterator[Submit]:
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        yield lambda number: triple.asubmit_in(connection, number)


@asynccontextmanager
async def by_psycopg(dsn: str) -> AsyncIterator[Submit]:
    with psycopg.connect(dsn) as connection:
        yield awaitable(lambda number: triple.submit_in(connection, number))


@asynccontextmanager
async def by_sqlalchemy(dsn: str) -> AsyncIterator[Submit]:
    engine = sqlalchemy.create_engine(dsn.replace("postgresql://", "postgresql+psycopg://"))
    try:
        with Session(engine) as session, session.begin():
            yield awaitable(lambda number: triple.submit_in(session, number))
    finally:
        engine.dispose()


def awaitable(submit: Callable[[int], str]) -> Submit:
    async def submit_async(number: int) -> str:
        return submit(number)

    return submit_async


WAYS = pytest.mark.parametrize("way", [by_asyncpg, by_async_psycopg, by_psycopg, by_sqlalchemy])


@WAYS
async def test_a_job_runs_when_its_transaction_has_committed_and_not_before(real, way: Way):
    async with way(real.dsn) as submit:
        job = await submit(7)
        with pytest.raises(NotFound):
            app.client.job(job)
    assert triple.job(job).result(SECONDS) == 21


@WAYS
async def test_a_job_of_a_transaction_that_rolls_back_never_exists(real, way: Way):
    with suppress(RollBack):
        async with way(real.dsn) as submit:
            job = await submit(7)
            raise RollBack
    with pytest.raises(NotFound):
        app.client.job(job)
