"""Engines for tests, each on a database of the test's own."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from msgspec.structs import replace

from horae.engine.engine import Engine
from horae.engine.masterkeys import MasterKeys, new_key

from .staging import engine_config, resting_engine, running_engine


@pytest.fixture
async def engine(database: str, tmp_path: Path) -> AsyncIterator[Engine]:
    async with running_engine(engine_config(database, tmp_path)) as running:
        yield running


@pytest.fixture
async def resting(database: str, tmp_path: Path) -> AsyncIterator[Engine]:
    async with resting_engine(engine_config(database, tmp_path)) as engine:
        yield engine


@pytest.fixture
async def keeping(database: str, tmp_path: Path) -> AsyncIterator[Engine]:
    """An engine that keeps secrets."""
    config = engine_config(database, tmp_path)
    async with running_engine(replace(config, secrets=MasterKeys((new_key(),)))) as running:
        yield running


@pytest.fixture
async def start_engine(database: str, tmp_path: Path) -> AsyncIterator[Callable[[], Awaitable[Engine]]]:
    """Starts as many engines as the test wants, all on its one database."""
    async with AsyncExitStack() as stack:

        async def start() -> Engine:
            return await stack.enter_async_context(running_engine(engine_config(database, tmp_path)))

        yield start
