"""The ends of attempts: outcomes, retries, and what is refused."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import msgspec
import pytest

from horae.engine.engine import Engine
from horae.model.errors import InvalidInput
from horae.model.retry import RetryPolicy
from horae.model.states import End, State

from .staging import ROOT, done, join, submit, take_one


async def state(engine: Engine, job_id: str) -> State:
    from horae.engine.rows import state_of

    return state_of(await engine.steer.get(ROOT, UUID(job_id)))


async def test_a_success_is_kept_with_its_result(resting: Engine, conn):
    worker = await join(resting)
    job_id = await submit(resting)
    grant = await take_one(resting, worker)
    ended = done(grant, result=msgspec.Raw(b'{"n":1}'), waited=0.5)
    assert await resting.complete.attempts(worker.worker_id, [ended]) == []
    row = await conn.fetchrow("select * from outcome")
    assert (str(row["id"]), row["state"], row["result"], row["attempt"]) == (job_id, "succeeded", '{"n":1}', 1)
    assert row["worker_id"] == worker.worker_id
    assert row["started_at"] > datetime.now(UTC) - timedelta(minutes=5)
    assert await conn.fetchval("select count(*) from lease") == 0


async def test_a_stale_completion_is_refused_and_changes_nothing(resting: Engine, conn):
    worker, other = await join(resting), await join(resting)
    await submit(resting)
    grant = await take_one(resting, worker)
    await resting.fleet.take_back(worker.worker_id, [1])
    again = await take_one(resting, other)
    assert await resting.complete.attempts(worker.worker_id, [done(grant)]) == [(grant.id, 1)]
    lease = await conn.fetchrow("select worker_id, attempt from lease")
    assert tuple(lease) == (other.worker_id, again.attempt)
    assert await conn.fetchval("select count(*) from outcome") == 0


@pytest.mark.parametrize("end", [End.SUCCEEDED, End.ERROR, End.FATAL, End.CANCELLED, End.CRASHED])
async def test_an_end_sent_again_after_a_lost_answer_is_not_stale(resting: Engine, end: End):
    worker = await join(resting)
    await submit(resting)
    grant = await take_one(resting, worker)
    assert await resting.complete.attempts(worker.worker_id, [done(grant, end)]) == []
    assert await resting.complete.attempts(worker.worker_id, [done(grant, end)]) == []


async def test_the_same_end_twice_in_one_exchange_counts_once(resting: Engine, conn):
    worker = await join(resting)
    for _ in range(2):
        await submit(resting)
    first, second = await resting.dispatch.take(worker, 1, 2)
    ends = [done(first), done(first), done(second, End.FATAL), done(second, End.FATAL)]
    assert await resting.complete.attempts(worker.worker_id, ends) == []
    assert sorted(await conn.fetch("select state::text from outcome")) == [("failed",), ("succeeded",)]


async def test_a_batch_of_all_kinds_ends_each_in_its_own_way(resting: Engine, conn):
    worker = await join(resting)
    kinds = [End.SUCCEEDED, End.ERROR, End.FATAL, End.TIMEOUT, End.CANCELLED, End.CRASHED, End.UNDELIVERED]
    ids = [await submit(resting, retry=RetryPolicy(first=60, jitter=False)) for _ in kinds]
    grants = await resting.dispatch.take(worker, 1, 10)
    assert [grant.id for grant in grants] == ids
    assert (
        await resting.complete.attempts(worker.worker_id, [done(g, e) for g, e in zip(grants, kinds, strict=True)])
        == []
    )
    assert [await state(resting, job_id) for job_id in ids] == [
        State.SUCCEEDED, State.SCHEDULED, State.FAILED, State.SCHEDULED, State.CANCELLED, State.READY, State.READY,
    ]  # fmt: skip


async def test_a_job_fails_after_its_last_attempt_and_keeps_the_error(resting: Engine, conn):
    worker = await join(resting)
    job_id = await submit(resting, max_attempts=3, retry=RetryPolicy(first=0))
    for attempt in (1, 2, 3):
        grant = await take_one(resting, worker, attempt)
        assert grant.attempt == attempt
        await resting.complete.attempts(worker.worker_id, [done(grant, End.ERROR)])
    assert await state(resting, job_id) is State.FAILED
    row = await conn.fetchrow("select attempt, error from outcome")
    assert (row["attempt"], msgspec.json.decode(row["error"])["kind"]) == (3, "Boom")
    assert await conn.fetchval("select count(*) from attempt where ending = 'error'") == 2


async def test_the_retry_policy_sets_the_time_of_the_next_try(resting: Engine, conn):
    worker = await join(resting)
    await submit(resting, retry=RetryPolicy(first=100, factor=3, jitter=False, cap=250))
    for number, expected in ((1, 100), (2, 250), (3, 250)):
        grant = await take_one(resting, worker, number)
        await resting.complete.attempts(worker.worker_id, [done(grant, End.ERROR)])
        wait = await conn.fetchval("select extract(epoch from run_at - clock_timestamp())::float from timer")
        assert expected - 30 < wait <= expected
        await conn.execute("update timer set run_at = clock_timestamp() - interval '1 second'")
        await resting.timers.run_once()


async def test_a_task_may_ask_for_its_own_time(resting: Engine, conn):
    worker = await join(resting)
    await submit(resting, retry=RetryPolicy(first=1, jitter=False))
    await resting.complete.attempts(
        worker.worker_id, [done(await take_one(resting, worker), End.ERROR, retry_after=500)]
    )
    assert 400 < await conn.fetchval("select extract(epoch from run_at - clock_timestamp())::float from timer") <= 500


async def test_crashes_use_no_attempt_and_the_third_ends_the_job(resting: Engine, conn):
    worker = await join(resting)
    job_id = await submit(resting, max_attempts=1)
    for number in (1, 2, 3):
        grant = await take_one(resting, worker, number)
        await resting.complete.attempts(worker.worker_id, [done(grant, End.CRASHED)])
        await conn.execute("update timer set run_at = clock_timestamp() - interval '1 second'")
        await resting.timers.run_once()
    assert await state(resting, job_id) is State.FAILED
    assert await conn.fetchval("select ending::text from outcome") == "crashed"


async def test_absurd_numbers_of_a_worker_are_bounded(resting: Engine):
    """Whatever a worker says of time, the job can be looked at and the timers go on."""
    worker = await join(resting)
    ids = [await submit(resting) for _ in range(4)]
    grants = await resting.dispatch.take(worker, 1, 4)
    absurd = [
        done(grants[0], End.ERROR, retry_after=1e12),
        done(grants[1], End.ERROR, retry_after=-1e12),
        done(grants[2], waited=1e12),
        done(grants[3], End.FATAL, waited=-1e12, took=1e300),
    ]
    await resting.complete.attempts(worker.worker_id, absurd)
    await resting.timers.run_once()
    for job_id in ids:
        await resting.steer.get(ROOT, UUID(job_id))
        await resting.steer.executions(await resting.steer.get(ROOT, UUID(job_id)))


async def test_numbers_the_columns_cannot_hold_are_refused_at_once(resting: Engine):
    from horae.store.database import asyncpg

    worker = await join(resting)
    await submit(resting)
    grant = await take_one(resting, worker)
    for change in ({"attempt": 2**40}, {"lane": 2**40}):
        with pytest.raises((InvalidInput, asyncpg.DataError)):
            await resting.complete.attempts(worker.worker_id, [msgspec.structs.replace(done(grant), **change)])


async def test_a_large_inline_result_is_refused(resting: Engine):
    worker = await join(resting)
    await submit(resting)
    grant = await take_one(resting, worker)
    with pytest.raises(InvalidInput):
        await resting.complete.attempts(
            worker.worker_id, [done(grant, result=msgspec.Raw(b'"' + b"x" * 40_000 + b'"'))]
        )


async def test_a_huge_error_is_cut_and_its_end_kept(resting: Engine, conn):
    from horae.model.work import JobError

    worker = await join(resting)
    await submit(resting)
    grant = await take_one(resting, worker)
    error = JobError("E", "m" * 100_000, "first\n" + "t" * 100_000 + "\nlast line \x00")
    await resting.complete.attempts(worker.worker_id, [done(grant, End.FATAL, error=error)])
    text = await conn.fetchval("select error from outcome")
    assert len(text) < 32 * 1024
    assert "last line" in text


async def test_an_unknown_lane_or_job_is_stale_and_harms_nobody(resting: Engine):
    worker = await join(resting)
    await submit(resting)
    grant = await take_one(resting, worker)
    strange = [
        msgspec.structs.replace(done(grant), lane=999_999),
        msgspec.structs.replace(done(grant, End.ERROR), lane=999_998, attempt=7),
        msgspec.structs.replace(done(grant), id="00000000-0000-7000-8000-000000000000"),
        done(grant),
    ]
    stale = await resting.complete.attempts(worker.worker_id, strange)
    assert ("00000000-0000-7000-8000-000000000000", 1) in stale
    assert await state(resting, grant.id) is State.SUCCEEDED
