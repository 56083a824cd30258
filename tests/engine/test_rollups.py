"""Rollups and depths: what was counted is what is written, however it is split, and a recount heals what was missed."""

import asyncio
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from horae.engine.duties.alone import alone
from horae.engine.duties.recount import WHILE_COUNTING, count_waiting
from horae.engine.engine import Engine
from horae.model.job import JobRequest
from horae.model.states import End, State
from horae.model.work import Finished
from horae.store.database import NotConnected

from .staging import ROOT, done, duty, engine_config, join, resting_engine, submit, take_one

DEPTH = "select pending, running from depth where queue = $1"


@pytest.fixture
async def ready_to_count(resting: Engine) -> Engine:
    await join(resting, "work", "other")
    return resting


async def lease(engine: Engine, conn, job_id: str) -> Finished:
    """A job taken from `ready` by hand, as by a claim that nobody counted."""
    row = await conn.fetchrow("delete from ready where id = $1 returning lane_id, attempt", job_id)
    worker = await conn.fetchval("select max(id) from worker")
    await conn.execute(
        "insert into lease (granted_at, id, worker_id, lane_id, attempt, grant_number) "
        "values (clock_timestamp(), $1, $2, $3, 1, 1)",
        job_id, worker, row["lane_id"],
    )  # fmt: skip
    engine.tally.started(row["lane_id"])
    engine.tally.waited(row["lane_id"], 0.25, 2)
    return Finished(id=job_id, lane=row["lane_id"], attempt=1)


async def finish(engine: Engine, conn, ends: Sequence[tuple[Finished, End, float]]) -> None:
    for finished, end, took in ends:
        finished.end, finished.took = end, took
    worker = await conn.fetchval("select max(id) from worker")
    assert await engine.complete.attempts(worker, [finished for finished, _, _ in ends]) == []


async def sums(conn) -> asyncpg.Record:
    names = ("submitted", "started", "succeeded", "failed", "cancelled", "retried", "runs", "run_seconds",
             "run_squares", "waits", "wait_seconds")  # fmt: skip
    totals = ", ".join(f"sum({name})::float as {name}" for name in names)
    return await conn.fetchrow(f"select {totals} from rollup")


async def test_every_way_a_job_can_go_is_counted_once(ready_to_count: Engine, conn):
    engine = ready_to_count
    ids = [await submit(engine) for _ in range(5)]
    await engine.submit.many(ROOT, [JobRequest(task="work")] * 250)
    a, b, c, d = [await lease(engine, conn, job_id) for job_id in ids[:4]]
    ends = [(a, End.SUCCEEDED, 2.0), (b, End.ERROR, 1.0), (c, End.FATAL, 3.0), (d, End.UNDELIVERED, 0.0)]
    await finish(engine, conn, ends)
    await duty(engine, "rollups").run_once()
    got = await sums(conn)
    assert (got["submitted"], got["started"], got["succeeded"], got["failed"], got["retried"]) == (255, 4, 1, 1, 1)
    assert (got["runs"], got["run_seconds"], got["run_squares"]) == (3, 6, 14)
    assert (got["waits"], got["wait_seconds"]) == (8, 2)
    # The failed one waits to be tried again, the undelivered one is ready again.
    assert tuple(await conn.fetchrow(DEPTH, "default")) == (253, 0)
    assert engine.durations.expected(1, "work") == pytest.approx(2.0, rel=0.01)


async def test_how_long_jobs_waited_is_that_of_their_first_start(resting: Engine, conn):
    worker = await join(resting)
    await submit(resting)
    await conn.execute("update job set run_at = run_at - interval '30 seconds'")
    first = await take_one(resting, worker)
    await resting.complete.attempts(worker.worker_id, [done(first, End.ERROR, retry_after=0)])
    await take_one(resting, worker, 2)
    await duty(resting, "flows").run_once()
    await duty(resting, "rollups").run_once()
    got = await sums(conn)
    assert (got["started"], got["waits"]) == (2, 1)
    assert 30 <= got["wait_seconds"] < 60


async def test_writing_down_adds_and_several_servers_add_up(ready_to_count: Engine, database, tmp_path, conn):
    """Servers whose own duties rest: one that counts what waits meanwhile counts some of it twice, until the next."""
    async with resting_engine(engine_config(database, tmp_path)) as other:
        for engine in (ready_to_count, ready_to_count, other):
            await submit(engine)
            await submit(engine, "other", queue="side")
            await duty(engine, "rollups").flush()
    got = await conn.fetch("select task, queue, sum(submitted) as n from rollup group by 1, 2 order by 1")
    assert [tuple(row) for row in got] == [("other", "side", 3), ("work", "default", 3)]
    assert (await conn.fetchval("select pending from depth where queue = 'side'")) == 3


async def test_nothing_is_written_when_nothing_happened(ready_to_count: Engine, conn):
    await duty(ready_to_count, "rollups").run_once()
    assert await conn.fetchval("select count(*) from rollup") == 0


async def test_counts_that_could_not_be_sent_are_kept(ready_to_count: Engine, conn, monkeypatch):
    rollups = duty(ready_to_count, "rollups")
    await submit(ready_to_count)

    async def no_connection(rows):
        raise NotConnected("away")

    with monkeypatch.context() as patch:
        patch.setattr(rollups._rollups, "rollup_add", no_connection)
        with pytest.raises(NotConnected):
            await rollups.flush()
    await submit(ready_to_count)
    await rollups.flush()
    assert (await sums(conn))["submitted"] == 2


async def test_what_ended_on_other_servers_is_learnt_from_the_rollups(ready_to_count: Engine, conn):
    await conn.execute(
        "insert into rollup (bucket, tenant_id, task, queue, runs, run_seconds, run_squares) "
        "values (date_bin('10 seconds', now() - interval '40 seconds', 'epoch'), 7, 'far', 'q', 4, 20, 108)"
    )
    flush = duty(ready_to_count, "rollups")
    assert (await flush.run_once())["learnt"] == 1
    assert ready_to_count.durations.expected(7, "far") == 5.0
    assert ready_to_count.durations.spread(7, "far") == pytest.approx(2**0.5)
    assert await flush._learn() == 0, "the same sums are not learnt twice"


async def test_hours_that_are_over_are_summed_up_and_old_sums_forgotten(ready_to_count: Engine, conn):
    await conn.execute("""
        insert into rollup (bucket, tenant_id, task, queue, submitted)
        select date_bin('10 seconds', now() - n * interval '7 minutes', 'epoch'), 1, 't', 'q', 1
        from generate_series(0, 1000) n""")
    upkeep = duty(ready_to_count, "rollup_upkeep")
    await upkeep.run_once()
    over = await conn.fetchval("select date_trunc('hour', now() - interval '1 minute')")
    assert await conn.fetchval("select max(bucket) from rollup_hour") == over - timedelta(hours=1)
    assert await conn.fetchval("select sum(submitted) from rollup_hour") >= 1001 - 10
    for table in ("rollup", "rollup_minute"):
        oldest = await conn.fetchval(f"select now() - min(bucket) from {table}")
        assert timedelta(hours=5) < oldest <= timedelta(hours=6, minutes=1)
    before = await conn.fetch("select * from rollup_hour order by bucket")
    await conn.execute("update sole_duty set next_at = now()")
    await upkeep.run_once()
    assert await conn.fetch("select * from rollup_hour order by bucket") == before, "done again, it gives the same"


async def test_a_duty_of_a_single_actor_is_done_by_one_and_not_before_it_is_due(ready_to_count: Engine):
    database = ready_to_count.database
    async with alone(database, "some") as first, alone(database, "some") as second:
        assert first is not None
        assert second is None
        await first.duty_done("some", 3600)
    async with alone(database, "some") as third:
        assert third is None
    async with alone(database, "another") as fourth:
        assert fourth is not None


async def test_a_recount_heals_depths_and_counts_every_place_a_job_waits_in(ready_to_count: Engine, conn):
    engine = ready_to_count
    for _ in range(7):
        await submit(engine)
    await submit(engine, delay=3600)
    running = await lease(engine, conn, await submit(engine))
    await submit(engine, "other", queue="side")
    engine.tally.take()  # This server dies before it could write anything down.
    await conn.execute("insert into depth (tenant_id, queue, pending, running) values (1, 'gone', 99, 5)")
    await duty(engine, "recount").run_once()
    assert tuple(await conn.fetchrow(DEPTH, "default")) == (8, 1)
    assert tuple(await conn.fetchrow(DEPTH, "side")) == (1, 0)
    assert await conn.fetchrow(DEPTH, "gone") is None, "an empty queue that saw nothing is forgotten"
    await finish(engine, conn, [(running, End.SUCCEEDED, 1.0)])
    await duty(engine, "rollups").flush()
    assert tuple(await conn.fetchrow(DEPTH, "default")) == (8, 0)


async def test_a_recount_counts_once_what_was_not_yet_written_down(ready_to_count: Engine, conn):
    await submit(ready_to_count)
    await lease(ready_to_count, conn, await submit(ready_to_count))
    await duty(ready_to_count, "recount").run_once()
    await duty(ready_to_count, "rollups").flush()
    assert tuple(await conn.fetchrow(DEPTH, "default")) == (1, 1)


async def test_a_recount_keeps_what_is_written_while_it_counts(ready_to_count: Engine, conn):
    engine = ready_to_count
    recount = duty(engine, "recount")
    await submit(engine)
    await duty(engine, "rollups").flush()
    async with alone(engine.database, "recount") as actor:
        real = actor.lease_count

        async def meanwhile():
            # Submitted and written down after `ready` was counted.
            await submit(engine)
            await duty(engine, "rollups").flush()
            return await real()

        actor.lease_count = meanwhile
        assert await recount._correct(actor) == 0
    assert await conn.fetchval("select pending from depth") == 2


async def test_counting_goes_on_where_a_stretch_ended(ready_to_count: Engine):
    await ready_to_count.submit.many(ROOT, [JobRequest(task="work"), JobRequest(task="other", delay=60)] * 40)
    async with alone(ready_to_count.database, "recount") as actor:
        assert sorted((await count_waiting(actor, 7)).all.values()) == [40, 40]


async def test_a_count_rests_between_its_stretches(ready_to_count: Engine):
    """Whoever runs the jobs meanwhile does not find the database busy with counting them."""
    await ready_to_count.submit.many(ROOT, [JobRequest(task="work")] * 40)
    async with alone(ready_to_count.database, "recount") as actor:
        real, counting = actor.ready_count, 0.0

        async def timed(*where: Any) -> Any:
            nonlocal counting
            started = time.monotonic()
            await asyncio.sleep(0.02)
            rows = await real(*where)
            counting += time.monotonic() - started
            return rows

        actor.ready_count = timed
        started = time.monotonic()
        await count_waiting(actor, 20)
        assert counting <= WHILE_COUNTING * 1.1 * (time.monotonic() - started)


async def test_queues_are_listed_with_depths_and_rates(ready_to_count: Engine, conn):
    engine = ready_to_count
    for _ in range(6):
        await submit(engine)
    await duty(engine, "rollups").flush()
    await conn.execute("update rollup set bucket = bucket - interval '20 seconds'")
    ((row, _),) = await engine.queues.list_all(None)
    assert (row["tenant"], row["queue"], row["pending"], row["running"]) == ("default", "default", 6, 0)
    assert row["submit_rate"] == pytest.approx(0.1)
    assert await engine.queues.list_all(12345) == []


async def test_a_cancelled_job_no_longer_waits(ready_to_count: Engine, conn):
    lane_id = (await ready_to_count.submit.prepare(ROOT, JobRequest(task="work"))).lane_id
    await submit(ready_to_count)
    ready_to_count.tally.removed(lane_id, State.CANCELLED)
    await duty(ready_to_count, "rollups").flush()
    assert await conn.fetchval("select coalesce(sum(pending), 0) from depth") == 0
    assert (await sums(conn))["cancelled"] == 1
