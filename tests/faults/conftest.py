"""Horae in processes of its own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from horae.store.embedded import Cluster
from horae.testing.stack import Stack, running_stack

from .effects import Effects

SHORT_LEASE = {"HORAE_LEASE_SECONDS": "6"}
"""For tests that wait for its end, where it is not the length that counts."""


@pytest.fixture
def effects(tmp_path: Path) -> Effects:
    return Effects(tmp_path / "effects")


@pytest.fixture
async def stack(database: str, tmp_path: Path, effects: Effects) -> AsyncIterator[Stack]:
    """On a database that would forget if it crashed. It does not, and is quick to have."""
    async with running_stack(database, tmp_path, **effects.environ()) as stack:
        yield stack
        tell(stack)


@pytest.fixture
async def durable_stack(durable_cluster: Cluster, tmp_path: Path, effects: Effects) -> AsyncIterator[Stack]:
    """On a database of its own that may crash."""
    async with running_stack(durable_cluster.dsn, tmp_path, **effects.environ()) as stack:
        yield stack
        tell(stack)


def tell(stack: Stack) -> None:
    """pytest shows this when the test has failed."""
    for program in {program.name: program for program in stack.servers + stack.workers}.values():
        print(f"--- {program.name}\n{program.last_words()}")
