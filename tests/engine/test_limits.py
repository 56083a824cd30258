"""Limits: running and rate, alone and together, changed while jobs run, with several servers; never exceeded."""

import asyncio
import random
from collections.abc import Sequence

import asyncpg
import pytest

from horae.engine.engine import Engine
from horae.engine.limits import LimitSpec
from horae.engine.sessions import Session
from horae.model.errors import NotFound
from horae.model.job import JobRequest
from horae.model.limits import Field
from horae.model.states import End
from horae.model.task import TaskDefinition
from horae.model.work import Finished, Grant

from .staging import ROOT, join, submit


async def limit(engine: Engine, name: str = "l", **spec: object) -> None:
    await engine.limits.put(ROOT, None, LimitSpec(name=name, **spec))  # type: ignore[arg-type]


async def end(engine: Engine, worker: Session, *grants: Grant, how: End = End.SUCCEEDED) -> None:
    finished = [Finished(id=g.id, lane=g.lane, attempt=g.attempt, end=how) for g in grants]
    assert await engine.complete.attempts(worker.worker_id, finished) == []


async def flood(engine: Engine, count: int, **request: object) -> None:
    await engine.submit.many(ROOT, [JobRequest(task="work", **request)] * count)  # type: ignore[arg-type]


@pytest.fixture
async def worker(resting: Engine) -> Session:
    return await join(resting, "work", "other")


async def slots(database: str) -> int:
    connection = await asyncpg.connect(database)
    try:
        return int(await connection.fetchval("select count(*) from horae.slot"))
    finally:
        await connection.close()


async def test_a_concurrency_key_without_a_rule_is_a_mutex(resting: Engine, worker: Session, database: str):
    await flood(resting, 3, concurrency_key="customer-42")
    (first,) = await resting.dispatch.take(worker, 1, 10)
    assert await resting.dispatch.take(worker, 2, 10) == []
    await end(resting, worker, first)
    (second,) = await resting.dispatch.take(worker, 3, 10)
    assert second.id != first.id
    assert await slots(database) == 1


async def test_the_same_key_excludes_other_tasks_too(resting: Engine, worker: Session):
    await flood(resting, 1, concurrency_key="k")
    await submit(resting, "other", concurrency_key="k")
    assert len(await resting.dispatch.take(worker, 1, 10)) == 1
    assert await resting.dispatch.take(worker, 2, 10) == []


async def test_a_running_limit_of_a_task_holds_over_all_its_lanes(resting: Engine, worker: Session):
    await limit(resting, task="work", max_running=3)
    for n in range(6):
        await flood(resting, 1, queue=f"q{n}")
    await submit(resting, "other")
    taken = await resting.dispatch.take(worker, 1, 10)
    assert sorted(grant.task for grant in taken) == ["other", "work", "work", "work"]


async def test_all_limits_of_a_job_hold_together(resting: Engine, worker: Session):
    await limit(resting, "task", task="work", max_running=3)
    await limit(resting, "keys", each=(Field.KEY,), max_running=2)
    await flood(resting, 5, concurrency_key="a")
    await flood(resting, 5, concurrency_key="b")
    taken = await resting.dispatch.take(worker, 1, 10)
    taken += await resting.dispatch.take(worker, 2, 10)
    keys = [resting.lanes.key(grant.lane).concurrency_key for grant in taken]  # type: ignore[union-attr]
    assert len(taken) == 3
    assert max(keys.count("a"), keys.count("b")) == 2


async def test_a_rate_limit_lets_its_burst_through_and_then_its_rate(resting: Engine, worker: Session):
    await limit(resting, task="work", rate="1/h", burst=2)
    await flood(resting, 5)
    assert len(await resting.dispatch.take(worker, 1, 10)) == 2
    resting.policy.on_change[0]()
    assert await resting.dispatch.take(worker, 2, 10) == []


async def test_a_rate_limited_job_starts_when_its_time_has_come(engine: Engine):
    worker = await join(engine, "work")
    await limit(engine, task="work", rate="20/s", burst=1)
    await flood(engine, 3)
    got = await engine.dispatch.take(worker, 1, 10)
    while len(got) < 3:
        waiter = engine.dispatch.wait(worker, 2, 10)
        got += await asyncio.wait_for(waiter.answer, 10)
    assert len(got) == 3


async def test_a_limit_counts_what_ran_before_it_was_made(resting: Engine, worker: Session):
    await flood(resting, 5)
    running = await resting.dispatch.take(worker, 1, 2)
    await limit(resting, task="work", max_running=2)
    assert await resting.dispatch.take(worker, 2, 10) == []
    await end(resting, worker, running[0])
    assert len(await resting.dispatch.take(worker, 3, 10)) == 1


async def test_a_limit_lowered_below_what_runs_lets_nothing_start_until_enough_has_ended(
    resting: Engine, worker: Session
):
    await limit(resting, task="work", max_running=4)
    await flood(resting, 8)
    running = await resting.dispatch.take(worker, 1, 10)
    assert len(running) == 4
    await limit(resting, task="work", max_running=2)
    for grant in running[:2]:
        await end(resting, worker, grant)
        assert await resting.dispatch.take(worker, 2, 10) == []
    await end(resting, worker, running[2])
    assert len(await resting.dispatch.take(worker, 3, 10)) == 1


async def test_a_raised_limit_holds_at_once_on_every_server(start_engine):
    here, there = await start_engine(), await start_engine()
    worker = await join(there, "work")
    await limit(here, task="work", max_running=1)
    await flood(here, 5)
    got = await asyncio.wait_for(there.dispatch.wait(worker, 1, 10).answer, 10)
    assert len(got) == 1
    waiter = there.dispatch.wait(worker, 2, 10)
    await limit(here, task="work", max_running=3)
    assert len(await asyncio.wait_for(waiter.answer, 10)) == 2


async def test_a_claim_by_an_old_policy_takes_nothing(start_engine, database: str):
    """The server has not heard of the limit: its claim names the version it knows, and the database refuses it."""
    here, there = await start_engine(), await start_engine()
    worker = await join(there, "work")
    await flood(there, 5)
    await there.policy.refresh()
    there.signals.on_policy.clear()
    version = there.policy.version
    await limit(here, task="work", max_running=0)
    connection = await asyncpg.connect(database, server_settings={"search_path": "horae"})
    assert await connection.fetchval("select policy_is($1)", version) is False
    await connection.close()
    assert await there.dispatch.take(worker, 1, 10) == []


async def test_a_removed_rule_leaves_the_key_a_mutex_that_counts_what_runs(resting: Engine, worker: Session):
    await limit(resting, each=(Field.KEY,), max_running=2)
    await flood(resting, 4, concurrency_key="k")
    running = await resting.dispatch.take(worker, 1, 10)
    assert len(running) == 2
    await resting.limits.remove(ROOT, None, "l")
    await end(resting, worker, running[0])
    assert await resting.dispatch.take(worker, 2, 10) == []
    await end(resting, worker, running[1])
    assert len(await resting.dispatch.take(worker, 3, 10)) == 1


@pytest.mark.parametrize("how", [End.ERROR, End.FATAL, End.CANCELLED, End.CRASHED, End.UNDELIVERED, End.TIMEOUT])
async def test_every_end_gives_the_slot_back(resting: Engine, worker: Session, database: str, how: End):
    await flood(resting, 1, concurrency_key="k")
    (grant,) = await resting.dispatch.take(worker, 1, 10)
    await end(resting, worker, grant, how=how)
    assert await slots(database) == 0


async def test_the_limits_a_task_declares_come_and_go_with_its_definition(resting: Engine):
    await resting.tasks.register(0, TaskDefinition(name="work", max_running=2, max_running_per_key=1, rate="5/s"))
    names = {view.rule.name: view.rule for view in await resting.limits.list_all(ROOT, None)}
    assert names["task:work"].max_running == 2
    assert names["task:work"].rate == 5
    assert names["task:work:key"].each == (Field.TENANT, Field.KEY)
    version = resting.policy.version
    await resting.tasks.register(0, TaskDefinition(name="work", max_running=2, max_running_per_key=1, rate="5/s"))
    assert resting.policy.version == version
    await resting.tasks.register(0, TaskDefinition(name="work"))
    assert await resting.limits.list_all(ROOT, None) == []


async def test_limits_hold_at_every_moment_whatever_servers_and_workers_do(start_engine, database: str):
    """Three servers, workers that end, fail, give back and vanish, limits that change: looked at from outside."""
    engines = [await start_engine() for _ in range(3)]
    most = {"work": 4, "key": 2}
    await limit(engines[0], "work", task="work", max_running=most["work"])
    await limit(engines[0], "keys", each=(Field.KEY,), max_running=most["key"])
    workers = [(engine, await join(engine, "work")) for engine in engines for _ in range(2)]
    for n in range(60):
        await submit(engines[n % 3], "work", concurrency_key=f"k{n % 5}" if n % 3 else None)
    done: set[str] = set()
    seed = random.Random(8420)

    async def use(engine: Engine, worker: Session, grants: Sequence[Grant]) -> None:
        for grant in grants:
            how = seed.choice([End.SUCCEEDED, End.SUCCEEDED, End.UNDELIVERED])
            await end(engine, worker, grant, how=how)
            if how is End.SUCCEEDED:
                done.add(grant.id)

    async def work(engine: Engine, worker: Session) -> None:
        number = 0
        while len(done) < 60:
            number += 1
            await use(engine, worker, await engine.dispatch.take(worker, number, seed.randint(1, 4)))
            waiter = engine.dispatch.wait(worker, number + 10_000, 1)
            await asyncio.wait([waiter.answer], timeout=0.05)
            if engine.dispatch.withdraw(waiter):
                continue
            # Were all of these lost, the last job could go from one who waits to the next for ever.
            if (grants := await waiter.answer) and seed.random() < 0.5:
                await engine.fleet.take_back(worker.worker_id, [number + 10_000])
            else:
                await use(engine, worker, grants)

    async def look() -> int:
        connection = await asyncpg.connect(database)
        looks = 0
        while len(done) < 60:
            row = await connection.fetchrow("""
                select count(*) as all, coalesce(max(n), 0) as most from (
                    select l.concurrency_key, count(*) as n, sum(count(*)) over () as total
                    from horae.lease le join horae.lane l on l.id = le.lane_id where l.task = 'work'
                    group by l.concurrency_key) x where concurrency_key <> ''""")
            total = await connection.fetchval("select count(*) from horae.lease")
            assert total <= most["work"]
            assert row["most"] <= most["key"]
            looks += 1
            await asyncio.sleep(0)
        assert await connection.fetchval("select count(*) from horae.slot") == 0
        await connection.close()
        return looks

    results = await asyncio.wait_for(asyncio.gather(look(), *(work(*pair) for pair in workers)), 150)
    assert results[0] > 5


async def test_only_the_limit_that_is_named_is_removed(resting: Engine, worker: Session):
    """A key of no tenant means the limit for all, or that of the tenant it names, and never another's."""
    await resting.access.create_tenant(None, "red")
    await resting.access.create_tenant(None, "blue")
    await resting.limits.put(ROOT, "red", LimitSpec(name="l", max_running=1))
    with pytest.raises(NotFound, match="name the tenant"):
        await resting.limits.remove(ROOT, None, "l")
    await limit(resting, max_running=5)
    with pytest.raises(NotFound, match="blue"):
        await resting.limits.remove(ROOT, "blue", "l")
    await resting.limits.remove(ROOT, None, "l")
    assert [view.tenant for view in await resting.limits.list_all(ROOT, None)] == ["red"]
    await resting.limits.remove(ROOT, "red", "l")
    assert await resting.limits.list_all(ROOT, None) == []


async def test_a_tenants_own_limit_is_shown_before_one_for_all(resting: Engine, worker: Session):
    await resting.access.create_tenant(None, "red")
    await limit(resting, max_running=5)
    await resting.limits.put(ROOT, "red", LimitSpec(name="l", max_running=1))
    assert [(await resting.limits.get(ROOT, whose, "l")).rule.max_running for whose in (None, "red")] == [5, 1]
