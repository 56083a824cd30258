"""Expiry: start by then, or never."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from horae.engine.engine import Engine
from horae.engine.limits import LimitSpec
from horae.model.errors import InvalidInput
from horae.model.job import JobRequest
from horae.model.retry import RetryPolicy
from horae.model.states import End, State
from horae.model.task import TaskDefinition
from horae.model.unique import Unique

from .staging import ROOT, done, duty, join, submit, take_one

PAST = datetime(2026, 1, 1, tzinfo=UTC)


async def expire(conn, job_id: str) -> None:
    """Lets its time be over."""
    await conn.execute("update expiry set expires_at = $1 where id = $2", PAST, UUID(job_id))
    await conn.execute(
        "update job set options = jsonb_set(options::jsonb, '{expires}', to_jsonb($1::text))::text where id = $2",
        PAST.isoformat(), UUID(job_id),
    )  # fmt: skip


async def outcome(engine: Engine, job_id: str) -> str | None:
    return (await engine.steer.get(ROOT, UUID(job_id)))["outcome"]


@pytest.mark.parametrize("delay", [None, "1h"])
async def test_a_job_that_still_waits_ends_as_expired(resting: Engine, conn, delay):
    await join(resting)
    late = await submit(resting, delay=delay, expires_in="1m")
    in_time = await submit(resting, delay=delay, expires_in="1m")
    await expire(conn, late)
    assert await duty(resting, "expiry").run_once() == {"expired": 1}
    assert [await outcome(resting, job) for job in (late, in_time)] == ["expired", None]
    assert await conn.fetchval("select count(*) from expiry") == 1
    assert await conn.fetchval("select count(*) from ready") + await conn.fetchval("select count(*) from timer") == 1


async def test_whoever_waits_for_its_result_hears_of_it(engine: Engine):
    await join(engine)
    job_id = await submit(engine, delay="1h", expires=engine.clock.now() + timedelta(milliseconds=50))
    ended = await engine.output.result(1, UUID(job_id), 20)
    assert ended is not None
    assert ended.state is State.EXPIRED


async def test_the_slot_of_a_job_that_expired_at_its_claim_is_free_for_others_at_once(resting: Engine, conn):
    await resting.limits.put(ROOT, None, LimitSpec(name="one", queue="q", max_running=1))
    session = await join(resting, "work", "other")
    late = await submit(resting, queue="q", expires_in="1m", priority=9)
    good = await submit(resting, "other", queue="q")
    await expire(conn, late)
    assert [grant.id for grant in await resting.dispatch.take(session, 1, 1)] == [good]


async def test_a_claim_grants_no_job_that_has_expired(resting: Engine, conn):
    session = await join(resting)
    late = await submit(resting, expires_in="1m")
    good = await submit(resting, expires_in="1m")
    await expire(conn, late)
    grants = await resting.dispatch.take(session, 1, 10)
    assert [grant.id for grant in grants] == [good]
    assert await outcome(resting, late) == "expired"
    assert (await resting.steer.get(ROOT, UUID(late)))["attempt"] == 0
    assert await conn.fetchval("select count(*) from lease") == 1


async def test_a_job_that_has_started_is_tried_again_however_late(resting: Engine, conn):
    session = await join(resting)
    policy = RetryPolicy(first=0.001, jitter=False)
    job_id = await submit(resting, expires_in="1m", retry=policy)
    await resting.complete.attempts(session.worker_id, [done(await take_one(resting, session), End.ERROR)])
    await expire(conn, job_id)
    assert await duty(resting, "expiry").run_once() == {"expired": 0}
    await asyncio.sleep(0.01)  # The retry's pause, by the database's clock.
    await resting.timers.run_once()
    assert (await take_one(resting, session, 2)).attempt == 2
    assert await conn.fetchval("select count(*) from expiry") == 0


async def test_a_grant_that_never_arrived_was_no_start(resting: Engine, conn):
    session = await join(resting)
    job_id = await submit(resting, expires_in="1m")
    await take_one(resting, session, 7)
    await resting.fleet.take_back(session.worker_id, [7])
    await expire(conn, job_id)
    assert await resting.dispatch.take(session, 8, 1) == []
    assert await outcome(resting, job_id) == "expired"


async def test_a_running_job_is_left_alone(resting: Engine, conn):
    session = await join(resting)
    job_id = await submit(resting, expires_in="1m")
    grant = await take_one(resting, session)
    await expire(conn, job_id)
    assert await duty(resting, "expiry").run_once() == {"expired": 0}
    assert await resting.complete.attempts(session.worker_id, [done(grant)]) == []


async def test_a_task_can_say_how_long_its_jobs_may_wait(resting: Engine, conn):
    tenant_id = await resting.access.tenant_for(ROOT, None)
    await resting.tasks.register(tenant_id, TaskDefinition(name="brief", expires_in="1h"))
    await resting.submit.one(ROOT, JobRequest(task="brief"))
    left = await conn.fetchval("select expires_at - clock_timestamp() from expiry")
    assert timedelta(minutes=59) < left <= timedelta(hours=1)


@pytest.mark.parametrize("change", [{"expires_in": "2h"}, {"expires": datetime(2100, 1, 1, tzinfo=UTC)}])
async def test_when_it_expires_can_be_changed_while_it_waits(resting: Engine, conn, change):
    await join(resting)
    job_id = await submit(resting, expires_in="1m")
    await expire(conn, job_id)
    await resting.steer.change(ROOT, UUID(job_id), change)
    assert await duty(resting, "expiry").run_once() == {"expired": 0}
    assert await conn.fetchval("select expires_at > clock_timestamp() from expiry")


async def test_a_retry_by_a_person_forgets_an_expiry_that_has_passed(resting: Engine, conn):
    session = await join(resting)
    job_id = await submit(resting, expires_in="1m")
    await resting.steer.cancel(ROOT, UUID(job_id), "")
    await expire(conn, job_id)
    await resting.steer.retry(ROOT, UUID(job_id), {})
    await duty(resting, "expiry").run_once()
    assert (await take_one(resting, session)).id == job_id


async def test_a_retry_by_a_person_can_give_a_new_one(resting: Engine, conn):
    session = await join(resting)
    job_id = await submit(resting)
    await resting.complete.attempts(session.worker_id, [done(await take_one(resting, session), End.FATAL)])
    await resting.steer.retry(ROOT, UUID(job_id), {"expires_in": "1m"})
    await expire(conn, job_id)
    assert await duty(resting, "expiry").run_once() == {"expired": 1}


async def test_expiry_goes_with_idempotency_uniqueness_and_large_batches(resting: Engine, conn):
    await join(resting)
    await resting.submit.once(ROOT, JobRequest(task="work", expires_in="1m"), "key", b"body")
    await resting.submit.one(ROOT, JobRequest(task="work", expires_in="1m", unique=Unique()))
    await resting.submit.many(ROOT, [JobRequest(task="work", expires_in="1m") for _ in range(250)])
    await resting.submit.many(ROOT, [JobRequest(task="work", expires_in="1m", delay="5s") for _ in range(3)])
    assert await conn.fetchval("select count(*) from expiry join job using (tenant_id, id)") == 255


async def test_two_ways_to_say_it_exclude_each_other(resting: Engine):
    await join(resting)
    with pytest.raises(InvalidInput, match="exclude"):
        await submit(resting, expires_in="1m", expires=datetime(2100, 1, 1, tzinfo=UTC))


async def test_a_job_carried_over_by_retention_still_expires(resting: Engine, conn):
    await join(resting)
    job_id = await submit(resting, delay="1h", expires_in="1m")
    await expire(conn, job_id)
    day = resting.clock.now().date()
    await resting.upkeep.partition_detach(day, UUID(int=2**128 - 1))
    await resting.upkeep.partition_drop(day)
    assert await conn.fetchval("select count(*) from job_default") == 1
    assert await duty(resting, "expiry").run_once() == {"expired": 1}
    assert await outcome(resting, job_id) == "expired"


async def test_a_span_counts_from_when_the_job_is_due(resting: Engine, conn):
    await join(resting)
    await submit(resting, delay="1h", expires_in="1m")
    assert await conn.fetchval("select expires_at > now() + interval '60 minutes' from expiry")
