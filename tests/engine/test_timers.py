"""Scheduled jobs become ready at their instant, wherever they were scheduled."""

import asyncio
from datetime import timedelta

from horae.engine.engine import Engine
from horae.model.job import JobRequest

from .staging import ROOT, join, submit


async def test_a_due_job_starts_at_its_time_and_not_before(engine: Engine):
    worker = await join(engine)
    waiter = engine.dispatch.wait(worker, 1, 1)
    at = engine.clock.now() + timedelta(seconds=1)
    job_id = await submit(engine, run_at=at)
    (grant,) = await asyncio.wait_for(waiter.answer, 20)
    assert grant.id == job_id
    assert engine.clock.now() >= at


async def test_a_thousand_jobs_due_at_one_instant_are_all_promoted(engine: Engine, conn):
    worker = await join(engine)
    at = engine.clock.now() + timedelta(seconds=1)
    made = await engine.submit.many(ROOT, [JobRequest(task="work", run_at=at)] * 1000)
    granted: set[str] = set()
    for number in range(1, 50):
        waiter = engine.dispatch.wait(worker, number, 1000)
        granted |= {grant.id for grant in await asyncio.wait_for(waiter.answer, 20)}
        if len(granted) == 1000:
            break
    assert granted == {job.id for job in made}
    assert await conn.fetchval("select count(*) from timer") == 0


async def test_more_than_a_batch_is_promoted_in_one_run(resting: Engine, conn):
    await join(resting)
    await resting.submit.many(ROOT, [JobRequest(task="work", delay=3600)] * 4500)
    await conn.execute("update timer set run_at = clock_timestamp() - interval '1 second'")
    assert await resting.timers.run_once() == {"promoted": 4500}
    assert await conn.fetchval("select count(*) from ready") == 4500


async def test_a_sooner_job_shortens_the_sleep(engine: Engine):
    worker = await join(engine)
    waiter = engine.dispatch.wait(worker, 1, 1)
    await submit(engine, delay=3600)
    sooner = await submit(engine, delay=0.2)
    (grant,) = await asyncio.wait_for(waiter.answer, 20)
    assert grant.id == sooner


async def test_a_job_scheduled_behind_our_back_is_found(engine: Engine, conn):
    worker = await join(engine)
    waiter = engine.dispatch.wait(worker, 1, 1)
    job_id = str(await conn.fetchval("""select horae.submit('work', '{}', '{"delay": 0.5}')"""))
    (grant,) = await asyncio.wait_for(waiter.answer, 20)
    assert grant.id == job_id


async def test_a_transaction_that_commits_long_after_the_due_time_is_not_forgotten(resting: Engine, conn):
    """The floor has passed the job's time when it appears; it is found when the floor is forgotten."""
    await join(resting)
    await resting.timers.run_once()
    job_id = await submit(resting, delay=3600)
    await conn.execute("update timer set run_at = clock_timestamp() - interval '1 hour'")
    resting.timers._forget_at = 0.0
    assert await resting.timers.run_once() == {"promoted": 1}
    assert await conn.fetchval("select id::text from ready") == job_id


async def test_two_servers_promote_each_job_once(start_engine, conn):
    first, second = await start_engine(), await start_engine()
    await join(first)
    await first.submit.many(ROOT, [JobRequest(task="work", delay=3600)] * 3000)
    await conn.execute("update timer set run_at = clock_timestamp() - interval '1 second'")
    await asyncio.gather(*(engine.timers.run_once() for engine in (first, second, first, second)))
    assert await conn.fetchval("select count(*) from ready") == 3000
    assert await conn.fetchval("select count(distinct id) from ready") == 3000
