"""How a DSN that names several hosts is read; what is done with them stands in tests/chaos/test_failover.py."""

import pytest

from horae.store.primary import Primary, each_host


@pytest.mark.parametrize(
    ("dsn", "each"),
    [
        ("postgresql://me@db/jobs", ["postgresql://me@db/jobs"]),
        (
            "postgresql://me:s%40,cret@one:5432,two/jobs?sslmode=require",
            [
                "postgresql://me:s%40,cret@one:5432/jobs?sslmode=require",
                "postgresql://me:s%40,cret@two/jobs?sslmode=require",
            ],
        ),
        ("postgresql://one,[::1]:5433/jobs", ["postgresql://one/jobs", "postgresql://[::1]:5433/jobs"]),
        ("postgresql://me@/jobs?host=/run/pg&port=5432", ["postgresql://me@/jobs?host=/run/pg&port=5432"]),
    ],
)
def test_each_host_of_a_dsn_has_its_own(dsn, each):
    assert each_host(dsn) == each


async def test_what_a_server_remembers_of_its_primary_is_the_timeline_that_it_is_on(database, conn):
    primary = Primary(database)
    await (await primary.connect()).close()
    assert primary._reign is not None
    assert primary._reign.timeline == await conn.fetchval("select timeline_id from pg_control_checkpoint()")
