"""A Horae for all tests of a module, where they do not harm each other: it takes seconds to start."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from horae.testing.database import cloned_database
from horae.testing.stack import Stack, running_stack


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(cluster_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    """With one server."""
    async with cloned_database(cluster_dsn) as dsn, running_stack(dsn, tmp_path_factory.mktemp("stack")) as stack:
        await stack.server()
        yield stack


def spec(name: str) -> str:
    return f"{Path(__file__).with_name(name)}.py:app"
