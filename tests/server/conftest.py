"""Servers for tests, each on a database of the test's own, in which the tenants and their keys are there already."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pytest

from horae.engine.access import Access
from horae.store.control import Control
from horae.store.database import Database, DatabaseConfig
from horae.testing.database import clone_database, cloned_database

from .house import House, Keys, furnish, open_house


class Furnished(NamedTuple):
    """A database to copy."""

    name: str
    keys: Keys


@pytest.fixture(scope="session")
def furnished(cluster_dsn: str) -> Furnished:
    """Made once: the tenants and their keys are half of what a server costs to have."""
    name = f"furnished_{uuid4().hex}"
    return Furnished(name, asyncio.run(_furnish(cluster_dsn, name)))


async def _furnish(cluster_dsn: str, name: str) -> Keys:
    dsn = await clone_database(cluster_dsn, name)
    database = Database(DatabaseConfig.small(dsn))
    await database.open()
    try:
        return await furnish(Access(Control(database)))
    finally:
        await database.close()


@pytest.fixture
async def database(cluster_dsn: str, furnished: Furnished) -> AsyncIterator[str]:
    async with cloned_database(cluster_dsn, furnished.name) as dsn:
        yield dsn


@pytest.fixture
async def house(database: str, furnished: Furnished, tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(database, tmp_path, keys=furnished.keys) as house:
        yield house


@pytest.fixture
async def neighbour(house: House, database: str, tmp_path: Path) -> AsyncIterator[House]:
    """A second server on the same database, with the same keys."""
    async with open_house(database, tmp_path, keys=house.keys) as second:
        yield second
