"""Horae in processes of its own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from horae.client.client import Client
from horae.store.embedded import Cluster
from horae.testing.stack import Stack, running_stack
from horae.testing.waiting import wait_for

from .effects import Effects

SHORT_LEASE = {"HORAE_LEASE_SECONDS": "6"}
"""For tests that wait for its end, where it is not the length that counts."""
FIRM_LEASE = {"HORAE_LEASE_SECONDS": "12"}
"""For those that count attempts as well: a worker that lives keeps it, though the machine is taken from it for seconds.
The short one is given up when a heartbeat is a second late."""
LONG_LEASE = {"HORAE_LEASE_SECONDS": "24"}
"""For those that fall silent for a while and must keep it: it has a heartbeat every eight seconds."""
A_WHILE = 10.0
"""More seconds than lie between two heartbeats of the long lease, and as many again before it would be given up."""


async def fresh_heartbeat(client: Client, worker: int) -> None:
    """Waits until the worker has been heard of just now: it is as far as can be from giving itself up."""
    before = client.worker(worker).seen_at
    await wait_for(lambda: client.worker(worker).seen_at > before, 60, what="a heartbeat")


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
