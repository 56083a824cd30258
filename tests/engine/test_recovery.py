"""The database goes away and comes back: what was acknowledged is there, and the service heals by itself."""

import asyncio
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest

from horae.engine.engine import Engine
from horae.engine.fleet import Load
from horae.engine.rows import state_of
from horae.model.errors import HoraeError
from horae.model.states import State
from horae.store.embedded import Cluster
from horae.testing.waiting import wait_for

from .staging import ROOT, done, engine_config, join, running_engine, submit


async def keep_submitting(engine: Engine, stop: asyncio.Event) -> list[str]:
    """Submits one after another; remembers what was acknowledged."""
    acknowledged = []
    while not stop.is_set():
        try:
            acknowledged.append(await submit(engine))
        except HoraeError:
            await asyncio.sleep(0.05)
    return acknowledged


async def works(engine: Engine) -> bool:
    """A job goes all the way."""
    try:
        worker = await join(engine)
        job_id = await submit(engine, priority=10)
        waiter = engine.dispatch.wait(worker, 1, 1)
        (grant,) = await asyncio.wait_for(waiter.answer, 5)
        await engine.complete.attempts(worker.worker_id, [done(grant)])
        return state_of(await engine.steer.get(ROOT, UUID(grant.id))) is State.SUCCEEDED and bool(job_id)
    except (HoraeError, TimeoutError, OSError, asyncpg.PostgresError):
        return False


async def test_every_acknowledged_job_survives_a_crash_of_the_database(durable_cluster: Cluster, tmp_path: Path):
    async with running_engine(engine_config(durable_cluster.dsn, tmp_path)) as engine:
        await join(engine)
        stop = asyncio.Event()
        submitting = [asyncio.create_task(keep_submitting(engine, stop)) for _ in range(20)]
        await asyncio.sleep(0.5)
        await durable_cluster.restart("immediate")
        await wait_for(lambda: works(engine), 60)
        stop.set()
        acknowledged = [job_id for ids in await asyncio.gather(*submitting) for job_id in ids]
        connection = await asyncpg.connect(durable_cluster.dsn)
        stored = {row["id"] for row in await connection.fetch("select id::text from horae.job")}
        homeless = await connection.fetchval(
            """select count(*) from horae.job j where (select count(*) from horae.ready r where r.id = j.id)
            + (select count(*) from horae.timer t where t.id = j.id)
            + (select count(*) from horae.lease l where l.id = j.id)
            + (select count(*) from horae.outcome o where o.id = j.id) <> 1"""
        )
        await connection.close()
        assert len(acknowledged) > 50
        assert set(acknowledged) <= stored
        assert homeless == 0
        await wait_for(lambda: _is_ready(engine), 60)


async def _is_ready(engine: Engine) -> bool:
    return await engine.ready() == {}


async def test_the_engine_heals_when_all_its_connections_are_ended(engine: Engine, conn):
    await join(engine)
    job_id = await submit(engine)
    for _ in range(3):
        await conn.execute(
            """select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid()"""
        )
        await wait_for(lambda: works(engine), 60)
    assert await conn.fetchval("select count(*) from job where id = $1::uuid", job_id) == 1
    await wait_for(lambda: _is_ready(engine), 60)


async def test_work_in_hand_is_completed_across_a_loss_of_connections(engine: Engine, conn):
    worker = await join(engine)
    for _ in range(5):
        await submit(engine)
    grants = await wait_for(lambda: engine.dispatch.take(worker, 1, 5))
    await conn.execute(
        """select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()"""
    )
    assert await engine.complete.attempts(worker.worker_id, [done(grant) for grant in grants]) == []
    assert await conn.fetchval("select count(*) from outcome") == len(grants)
    await engine.fleet.heartbeat(ROOT, worker.worker_id, Load(0, 0, None, None))


@pytest.mark.parametrize("settle", ["commit", "rollback"])
async def test_a_job_submitted_in_a_users_transaction_exists_if_it_commits(engine: Engine, conn, settle: str):
    worker = await join(engine)
    waiter = engine.dispatch.wait(worker, 1, 1)
    transaction = conn.transaction()
    await transaction.start()
    job_id = str(await conn.fetchval("select horae.submit('work', '{\"a\": 1}')"))
    await (transaction.commit() if settle == "commit" else transaction.rollback())
    if settle == "commit":
        (grant,) = await asyncio.wait_for(waiter.answer, 20)
        assert (grant.id, bytes(grant.params)) == (job_id, b'{"a": 1}')
    else:
        later = await submit(engine)
        (grant,) = await asyncio.wait_for(waiter.answer, 20)
        assert grant.id == later
