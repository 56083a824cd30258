"""A server's connections find the primary, whatever the standby and the old primary do."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from horae.model.errors import StoreUnavailable
from horae.store.database import Database, DatabaseConfig
from horae.testing.proxy import Proxy, Switchboard, switchboard, to_socket

from .postgres import DATABASE, ROLE, Pair


@pytest.fixture
def board():
    with switchboard() as board:
        yield board


@pytest.fixture
async def pair(reachable_path: Path, board: Switchboard) -> AsyncIterator[Pair]:
    pair = Pair(reachable_path, board)
    try:
        await pair.start()
        yield pair
    finally:
        await pair.stop()


@pytest.fixture
def links(pair: Pair, board: Switchboard) -> list[Proxy]:
    return [board.proxy(to_socket(node.socket)) for node in pair.nodes]


@pytest.fixture
async def database(links: list[Proxy]) -> AsyncIterator[Database]:
    """What servers reach PostgreSQL by."""
    hosts = ",".join(f"127.0.0.1:{link.port}" for link in links)
    dsn = f"postgresql://{ROLE}@{hosts}/{DATABASE}?sslmode=disable"
    database = Database(
        DatabaseConfig(dsn=dsn, hot_connections=1, general_connections=1, call_seconds=3, patience_seconds=5)
    )
    await database.open()
    try:
        yield database
    finally:
        await database.close()


async def where(database: Database) -> str:
    """The folder of the node that it is connected to."""
    connection = await database.connect()
    try:
        return (await connection.fetchval("show data_directory")).split("/")[-2]
    finally:
        await connection.close()


async def test_calls_find_the_new_primary_and_never_the_old_one_that_came_back(pair, database, links):
    assert await where(database) == "left"
    await pair.failover()
    assert await database.fetchrow("duty_due", "nothing") is not None
    assert await where(database) == "right"
    await pair.standby.start()  # It believes that it is the primary still.
    assert await where(database) == "right"
    target, links[1].target = links[1].target, to_socket("/nowhere")
    with pytest.raises(ConnectionError, match="left behind"):
        await where(database)
    links[1].target = target
    await pair.rebuild()
    assert await where(database) == "right"


async def test_a_host_that_vanished_without_a_word_holds_up_nobody(pair, database, links):
    await pair.failover()
    links[0].black_hole()
    async with asyncio.timeout(9.5):  # A connection has ten seconds.
        assert await where(database) == "right"


async def test_what_the_standby_has_not_confirmed_is_neither_acknowledged_nor_to_be_seen(pair, database):
    """Else who asks again is told that it is there, and after a failover it is not."""
    link = pair.replication["left"]
    link.black_hole()
    with pytest.raises(StoreUnavailable):
        await database.fetch("duty_done", "unconfirmed", 60.0)
    async with pair.primary.connected() as connection:
        assert not await connection.fetchval("select exists (select from horae.sole_duty where name = 'unconfirmed')")
    link.heal()
    await pair.until_synchronous()
    await database.fetch("duty_done", "confirmed", 60.0)
    await pair.failover()
    assert not (await database.fetchrow("duty_due", "confirmed"))["due"]
