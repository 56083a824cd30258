"""A PostgreSQL whose clock can be set."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest

from horae.store.embedded import Cluster
from horae.testing.clocks import COMPILER, SettableClock, find_compiler
from horae.testing.database import temporary_folder

pytestmark = pytest.mark.skipif(find_compiler() is None, reason=f"needs {COMPILER}")

LOOKS = "select max(clock_timestamp()) from generate_series(1, 100000)"
ALARMS = 1000


async def test_a_timer_that_rings_while_postgresql_looks_at_its_clock_does_not_hang_it() -> None:
    """A soak of an hour lost one backend after the other so, until none could be connected to."""
    compiler = find_compiler()
    assert compiler is not None
    with temporary_folder() as folder:
        clock = SettableClock(compiler, folder)
        async with Cluster(folder / "data", durable=False, prefix=clock.prefix) as cluster:
            connection = await asyncpg.connect(cluster.dsn, server_settings={"statement_timeout": "1"})
            async with asyncio.timeout(100):
                for _ in range(ALARMS):
                    with pytest.raises(asyncpg.QueryCanceledError):
                        await connection.execute(LOOKS)
            before = await connection.fetchval("select clock_timestamp()")
            clock.step(timedelta(hours=5))
            assert await connection.fetchval("select clock_timestamp()") - before > timedelta(hours=4)
            connection.terminate()
