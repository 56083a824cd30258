"""Servers for tests, each on a database of the test's own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import settings

from .house import House, open_house

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture
async def house(database: str, tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(database, tmp_path) as house:
        yield house


@pytest.fixture
async def neighbour(house: House, database: str, tmp_path: Path) -> AsyncIterator[House]:
    """A second server on the same database, with the same keys."""
    async with open_house(database, tmp_path, furnish=False) as second:
        second.keys = house.keys
        yield second
