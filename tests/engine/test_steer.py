"""Change, cancel, retry and clone, alone and in races."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import UUID

import msgspec
import pytest

from horae.engine.engine import Engine
from horae.engine.rows import options_of, state_of
from horae.model.errors import InvalidInput, NotFound, WrongState
from horae.model.ids import derived_id, tenant_hint
from horae.model.rank import rank
from horae.model.retry import RetryPolicy
from horae.model.states import End, State

from .staging import ROOT, done, join, submit, take_one


async def look(engine: Engine, job_id: str):
    return await engine.steer.get(ROOT, UUID(job_id))


async def state(engine: Engine, job_id: str) -> State:
    return state_of(await look(engine, job_id))


async def test_a_key_of_no_tenant_finds_every_tenants_job_by_its_id_alone(resting: Engine, conn):
    """By the hint in the id, also where two tenants share it; an id without the hint is looked for everywhere."""
    await join(resting)
    await conn.execute("insert into tenant (name) select 't' || n from generate_series(2, 1100) n")
    tenants = {row["name"]: row["id"] for row in await conn.fetch("select name, id from tenant where id in (7, 1031)")}
    jobs = {name: UUID(await submit(resting, tenant=name)) for name in tenants}
    assert {tenant_hint(job_id) for job_id in jobs.values()} == {7}
    for name, job_id in jobs.items():
        assert (await resting.steer.get(ROOT, job_id))["tenant_id"] == tenants[name]
    derived = derived_id(resting.clock.now(), "a tick")
    await conn.execute("update job set id = $1 where id = $2", derived, jobs["t7"])
    assert (await resting.steer.get(ROOT, derived))["tenant_id"] == 7
    with pytest.raises(NotFound):
        await resting.steer.get(ROOT, jobs["t7"])


@pytest.mark.parametrize("delay", [None, 3600])
async def test_a_pending_job_is_cancelled_at_once(resting: Engine, conn, delay):
    await join(resting)
    job_id = await submit(resting, delay=delay)
    assert await resting.steer.cancel(ROOT, UUID(job_id), "not needed") is State.CANCELLED
    row = await look(resting, job_id)
    assert state_of(row) is State.CANCELLED
    assert msgspec.json.decode(row["error"])["message"] == "not needed"
    with pytest.raises(WrongState):
        await resting.steer.cancel(ROOT, UUID(job_id), "again")


async def test_a_running_job_is_asked_to_stop_and_its_worker_told(resting: Engine):
    worker = await join(resting)
    job_id = await submit(resting)
    grant = await take_one(resting, worker)
    assert await resting.steer.cancel(ROOT, UUID(job_id), "stop it") is State.RUNNING
    assert (await look(resting, job_id))["cancel_requested"]
    (order,) = await resting.fleet.orders(worker)
    assert (order.id, order.attempt, order.reason) == (job_id, grant.attempt, "stop it")
    await resting.complete.attempts(worker.worker_id, [done(grant, End.CANCELLED)])
    assert await state(resting, job_id) is State.CANCELLED


@pytest.mark.parametrize("end", [End.ERROR, End.TIMEOUT, End.CRASHED, End.UNDELIVERED])
async def test_a_job_asked_to_stop_is_not_tried_again(resting: Engine, end: End):
    worker = await join(resting)
    job_id = await submit(resting)
    grant = await take_one(resting, worker)
    await resting.steer.cancel(ROOT, UUID(job_id), "")
    await resting.complete.attempts(worker.worker_id, [done(grant, end)])
    assert await state(resting, job_id) is State.CANCELLED


async def test_a_job_that_succeeds_before_it_hears_of_the_cancel_has_succeeded(resting: Engine):
    worker = await join(resting)
    job_id = await submit(resting)
    grant = await take_one(resting, worker)
    await resting.steer.cancel(ROOT, UUID(job_id), "")
    await resting.complete.attempts(worker.worker_id, [done(grant)])
    assert await state(resting, job_id) is State.SUCCEEDED


async def test_a_retried_job_is_not_cancelled_by_the_old_request(resting: Engine):
    worker = await join(resting)
    job_id = await submit(resting)
    grant = await take_one(resting, worker)
    await resting.steer.cancel(ROOT, UUID(job_id), "")
    await resting.complete.attempts(worker.worker_id, [done(grant, End.CANCELLED)])
    await resting.steer.retry(ROOT, UUID(job_id), {})
    again = await take_one(resting, worker, 2)
    assert not (await look(resting, job_id))["cancel_requested"]
    await resting.complete.attempts(worker.worker_id, [done(again, End.ERROR, retry_after=60)])
    assert await state(resting, job_id) is State.SCHEDULED


async def test_a_cancel_that_races_with_a_retry_is_carried_out(resting: Engine, monkeypatch):
    """The worker reports an error; the facts say no request; the cancel is accepted; the job goes back to wait."""
    worker = await join(resting)
    job_id = await submit(resting, retry=RetryPolicy(first=600, jitter=False))
    grant = await take_one(resting, worker)
    jobs = resting.complete._jobs
    real = jobs.failure_facts

    async def then_cancelled(*args):
        facts = await real(*args)
        assert await resting.steer.cancel(ROOT, UUID(job_id), "now") is State.RUNNING
        return facts

    monkeypatch.setattr(jobs, "failure_facts", then_cancelled)
    await resting.complete.attempts(worker.worker_id, [done(grant, End.ERROR)])
    assert await state(resting, job_id) is State.CANCELLED


async def test_cancels_and_claims_at_the_same_time_never_both_win(resting: Engine, conn):
    worker = await join(resting)
    ids = [await submit(resting) for _ in range(40)]
    grants, *said = await asyncio.gather(
        resting.dispatch.take(worker, 1, 40), *(resting.steer.cancel(ROOT, UUID(job_id), "") for job_id in ids)
    )
    granted = {grant.id for grant in grants}
    for job_id, answer in zip(ids, said, strict=True):
        assert (job_id in granted) is (answer is State.RUNNING)
    assert await conn.fetchval("select count(*) from outcome") + len(granted) == 40


async def test_a_change_moves_lane_time_and_rank_together(resting: Engine, conn):
    worker = await join(resting, queues=["other"])
    job_id = await submit(resting)
    at = datetime.now(UTC) + timedelta(hours=1)
    changes = {"queue": "other", "run_at": at, "priority": 8, "params": {"a": 1}, "labels": {"k": "v"}}
    await resting.steer.change(ROOT, UUID(job_id), changes)
    row = await look(resting, job_id)
    assert state_of(row) is State.SCHEDULED
    assert (row["queue"], row["priority"], row["params"]) == ("other", 8, '{"a":1}')
    assert (row["rank"], row["timer_at"], options_of(row).labels) == (rank(at, at, 8), at, {"k": "v"})
    await resting.steer.change(ROOT, UUID(job_id), {"delay": 0})
    assert (await take_one(resting, worker)).id == job_id


async def test_a_change_is_checked_like_a_submit(resting: Engine):
    await join(resting)
    job_id = await submit(resting)
    for bad in ({"priority": 11}, {"queue": "a b"}, {"delay": -1}, {"max_attempts": 0}, {"labels": {"x": "\x00"}}):
        with pytest.raises(InvalidInput):
            await resting.steer.change(ROOT, UUID(job_id), bad)
    assert await state(resting, job_id) is State.READY


async def test_a_job_that_has_started_or_ended_cannot_be_changed(resting: Engine):
    worker = await join(resting)
    job_id = await submit(resting)
    grant = await take_one(resting, worker)
    with pytest.raises(WrongState):
        await resting.steer.change(ROOT, UUID(job_id), {"priority": 9})
    await resting.complete.attempts(worker.worker_id, [done(grant)])
    with pytest.raises(WrongState):
        await resting.steer.change(ROOT, UUID(job_id), {"priority": 9})


async def test_changes_at_the_same_time_lose_nothing(resting: Engine):
    """Two people edit different things of one scheduled job: each edit that was accepted is in the end."""
    await join(resting)
    job_id = UUID(await submit(resting, delay=3600))
    answers = await asyncio.gather(
        resting.steer.change(ROOT, job_id, {"priority": 9}),
        resting.steer.change(ROOT, job_id, {"labels": {"k": "v"}}),
        return_exceptions=True,
    )
    row = await resting.steer.get(ROOT, job_id)
    assert all(answer is None or isinstance(answer, WrongState) for answer in answers)
    assert (row["priority"] == 9) is (answers[0] is None)
    assert (options_of(row).labels == {"k": "v"}) is (answers[1] is None)


@pytest.mark.parametrize("end", [End.FATAL, End.CANCELLED])
async def test_a_failed_or_cancelled_job_runs_again_as_the_same_job(resting: Engine, end: End):
    worker = await join(resting)
    job_id = await submit(resting)
    await resting.complete.attempts(worker.worker_id, [done(await take_one(resting, worker), end)])
    await resting.steer.retry(ROOT, UUID(job_id), {"params": {"fixed": True}})
    again = await take_one(resting, worker, 2)
    assert (again.id, again.attempt, bytes(again.params)) == (job_id, 2, b'{"fixed":true}')
    await resting.complete.attempts(worker.worker_id, [done(again)])
    row = await look(resting, job_id)
    assert [(e["attempt"], e["ending"]) for e in await resting.steer.executions(row)] == [
        (1, end.value),
        (2, "succeeded"),
    ]


async def test_a_retry_by_a_person_gives_the_job_its_tries_again(resting: Engine):
    worker = await join(resting)
    job_id = await submit(resting, max_attempts=2, retry=RetryPolicy(first=0))
    for number in (1, 2):
        await resting.complete.attempts(worker.worker_id, [done(await take_one(resting, worker, number), End.ERROR)])
    assert await state(resting, job_id) is State.FAILED
    await resting.steer.retry(ROOT, UUID(job_id), {})
    await resting.complete.attempts(worker.worker_id, [done(await take_one(resting, worker, 3), End.ERROR)])
    assert await state(resting, job_id) is State.READY


async def test_only_failed_and_cancelled_jobs_are_retried(resting: Engine):
    worker = await join(resting)
    job_id = await submit(resting)
    with pytest.raises(WrongState):
        await resting.steer.retry(ROOT, UUID(job_id), {})
    grant = await take_one(resting, worker)
    with pytest.raises(WrongState):
        await resting.steer.retry(ROOT, UUID(job_id), {})
    await resting.complete.attempts(worker.worker_id, [done(grant)])
    with pytest.raises(WrongState):
        await resting.steer.retry(ROOT, UUID(job_id), {})


async def test_of_many_retries_at_once_one_wins(resting: Engine, conn):
    await join(resting)
    job_id = await submit(resting)
    await resting.steer.cancel(ROOT, UUID(job_id), "")
    answers = await asyncio.gather(
        *(resting.steer.retry(ROOT, UUID(job_id), {}) for _ in range(8)), return_exceptions=True
    )
    assert sum(answer is None for answer in answers) == 1
    assert await conn.fetchval("select count(*) from ready") == 1


async def test_a_clone_is_a_new_job_with_variations(resting: Engine):
    worker = await join(resting)
    job_id = await submit(resting, params={"a": 1}, priority=7, labels={"k": "v"}, timeout=30, concurrency_key="c")
    await resting.complete.attempts(worker.worker_id, [done(await take_one(resting, worker))])
    clone = await resting.steer.clone(ROOT, UUID(job_id), {"params": {"a": 2}, "delay": 60})
    row = await look(resting, clone.id)
    options = options_of(row)
    assert (clone.id != job_id, clone.state, row["params"]) == (True, State.SCHEDULED, '{"a":2}')
    assert (row["priority"], options.labels, options.timeout, row["concurrency_key"]) == (7, {"k": "v"}, 30.0, "c")
    assert options.cloned_from == job_id


async def test_a_job_cancelled_between_two_tries_shows_its_one_execution(resting: Engine):
    worker = await join(resting)
    job_id = await submit(resting)
    grant = await take_one(resting, worker)
    await resting.complete.attempts(worker.worker_id, [done(grant, End.ERROR, retry_after=600)])
    await resting.steer.cancel(ROOT, UUID(job_id), "")
    executions = await resting.steer.executions(await look(resting, job_id))
    assert [(e["attempt"], e["ending"]) for e in executions] == [(1, "error")]


async def test_what_does_not_exist_is_not_found(resting: Engine):
    nobody = UUID("00000000-0000-7000-8000-000000000000")
    for call in (resting.steer.cancel(ROOT, nobody, ""), resting.steer.change(ROOT, nobody, {}),
                 resting.steer.retry(ROOT, nobody, {}), resting.steer.clone(ROOT, nobody, {})):  # fmt: skip
        with pytest.raises(NotFound):
            await call


async def test_a_retry_that_comes_too_late_does_not_revive_a_job_that_succeeded(resting: Engine, monkeypatch):
    """Both see a failed job; the first retries it, it runs and succeeds; only then does the second one act."""
    worker = await join(resting)
    job_id = await submit(resting)
    await resting.complete.attempts(worker.worker_id, [done(await take_one(resting, worker), End.FATAL)])
    jobs = resting.steer._jobs
    real = jobs.outcome_retry

    async def too_late(change):
        monkeypatch.setattr(jobs, "outcome_retry", real)
        await resting.steer.retry(ROOT, UUID(job_id), {})
        await resting.complete.attempts(worker.worker_id, [done(await take_one(resting, worker, 2))])
        return await real(change)

    monkeypatch.setattr(jobs, "outcome_retry", too_late)
    with pytest.raises(WrongState):
        await resting.steer.retry(ROOT, UUID(job_id), {})
    assert await state(resting, job_id) is State.SUCCEEDED
