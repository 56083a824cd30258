"""Limits that change at the very moment at which claims and ends are under way, moved by hand."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from horae.engine.engine import Engine
from horae.engine.gates import GateOrder
from horae.engine.limits import LimitSpec
from horae.engine.sessions import Session
from horae.store.jobs import Jobs
from horae.store.safety import Connection
from horae.store.statements import statements
from horae.testing.waiting import wait_for

from .staging import ROOT, done, join, submit, take_one


async def limit(engine: Engine, name: str = "l", **spec: object) -> None:
    await engine.limits.put(ROOT, None, LimitSpec(name=name, **spec))  # type: ignore[arg-type]


@pytest.fixture
async def worker(resting: Engine) -> Session:
    return await join(resting, "work", "other")


@pytest.fixture
async def other(database: str) -> AsyncIterator[Connection]:
    """Another transaction, which takes its time."""
    connection = await asyncpg.connect(database, server_settings={"search_path": "horae"})
    yield connection
    await connection.close()


async def somebody_waits(connection: Connection) -> None:
    query = """select exists (select from pg_stat_activity
                              where wait_event_type = 'Lock' and datname = current_database())"""
    await wait_for(lambda: connection.fetchval(query), what="a lock that is waited for")


async def test_a_job_that_ends_while_a_new_limit_counts_leaves_no_slot(resting, worker, conn, other):
    await submit(resting)
    grant = await take_one(resting, worker)
    async with other.transaction():
        # What the end of a job does, half-way.
        await other.execute("delete from lease where id = $1::uuid", grant.id)
        change = asyncio.create_task(limit(resting, task="work", max_running=1))
        await somebody_waits(conn)
    await change
    assert await conn.fetchval("select count(*) from slot") == 0


async def test_a_job_that_a_new_limit_counts_while_it_ends_leaves_no_slot(resting, worker, conn, other):
    await submit(resting)
    grant = await take_one(resting, worker)
    async with other.transaction():
        # What a new limit does, before it is there for all.
        lease = await other.fetchrow("select * from lease where id = $1::uuid", grant.id)
        await other.fetch(statements()["slot_adopt"], [lease["lane_id"]], [7])
        ending = asyncio.create_task(resting.complete.attempts(worker.worker_id, [done(grant)]))
        await somebody_waits(conn)
    assert await ending == []
    assert await conn.fetchval("select count(*) from lease") == 0
    assert await conn.fetchval("select count(*) from slot") == 0


@pytest.mark.parametrize(("most", "expected"), [(0, ["other"]), (5, ["other", "work"])])
async def test_a_limit_that_comes_between_the_two_claims_of_a_choice(resting, worker, monkeypatch, most, expected):
    """Lanes without limits are claimed first. The limit holds for the others, and if it has room they are not lost."""
    await submit(resting, "other")
    await submit(resting, "work", concurrency_key="k")
    claim, coming = Jobs.job_claim, [most]

    async def claim_then_limit(self: Jobs, *args: Any) -> object:
        rows = await claim(self, *args)
        while coming:
            await limit(resting, task="work", max_running=coming.pop())
        return rows

    monkeypatch.setattr(Jobs, "job_claim", claim_then_limit)
    taken = await asyncio.wait_for(resting.dispatch.take(worker, 1, 10), 20)
    assert sorted(grant.task for grant in taken) == expected


async def test_a_gate_that_closes_between_choice_and_claim_holds(resting, worker):
    await submit(resting)
    chosen = resting.dispatch._choose(worker, 10)
    assert chosen
    await resting.gating.create(ROOT, GateOrder(reason="stop", task="work"))
    assert await resting.dispatch._take(worker, 1, 10, chosen) == []


async def test_a_slow_rate_made_quick_is_not_waited_for_as_if_it_were_slow(resting, worker):
    await limit(resting, task="work", rate="1/h", burst=1)
    for _ in range(3):
        await submit(resting)
    first = await take_one(resting, worker)
    assert await resting.dispatch.take(worker, 2, 10) == []
    await resting.complete.attempts(worker.worker_id, [done(first)])
    await limit(resting, task="work", rate="2/s", burst=1)
    for number in (3, 4):
        waiter = resting.dispatch.wait(worker, number, 10)
        resting.dispatch._serve()
        (grant,) = await asyncio.wait_for(waiter.answer, 10)
        await resting.complete.attempts(worker.worker_id, [done(grant)])


async def test_a_bucket_that_takes_days_to_fill_is_not_forgotten_after_one(resting, worker, conn):
    await limit(resting, task="work", rate="1/d", burst=5)
    for _ in range(6):
        await submit(resting)
    assert len(await resting.dispatch.take(worker, 1, 10)) == 5
    await conn.execute("update bucket set at = at - interval '25 hours'")
    await resting.limit_watch.run_once()
    resting._backlog.reconsider()
    assert len(await resting.dispatch.take(worker, 2, 10)) == 1
    for _ in range(3):
        await submit(resting)
    resting._backlog.reconsider()
    assert await resting.dispatch.take(worker, 3, 10) == []
