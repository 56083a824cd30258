"""What the tests of the measurements share: PostgreSQL as durable as theirs, and a temporary folder to look into."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from horae.store.embedded import Cluster
from horae.testing.database import temporary_cluster


@pytest.fixture(scope="session")
def bench_cluster() -> Iterator[Cluster]:
    """One for all scenarios of the session: each has databases of its own on it."""
    with asyncio.Runner() as runner:
        opening = temporary_cluster(durable=True)
        yield runner.run(opening.__aenter__())
        runner.run(opening.__aexit__(None, None, None))


@pytest.fixture
def environ(reachable_path: Path) -> dict[str, str]:
    """With a temporary folder of the test's own, to see what is left in it."""
    return {**os.environ, "TMPDIR": str(reachable_path), "HOME": str(reachable_path)}
