"""Workers that go away: their leases, their jobs, and what is kept of it."""

import asyncio
from collections.abc import Mapping
from uuid import UUID

import msgspec
import pytest

from horae.engine.engine import Engine
from horae.engine.fleet import Load
from horae.engine.limits import LimitSpec
from horae.engine.rows import state_of
from horae.engine.sessions import Session
from horae.model.errors import WorkerGone
from horae.model.job import JobRequest
from horae.model.states import End, State
from horae.testing.waiting import wait_for

from .staging import ROOT, done, duty, join, submit, take_one

IDLE = Load(0, 0, None, None)


async def expire(conn, worker: Session) -> None:
    await conn.execute(
        "update worker set expires_at = clock_timestamp() - interval '1 s' where id = $1", worker.worker_id
    )


async def lose(engine: Engine, conn, worker: Session) -> dict[str, int]:
    await expire(conn, worker)
    return await duty(engine, "reclaim").run_once()


async def bring_forward(engine: Engine, conn) -> None:
    await conn.execute("update timer set run_at = clock_timestamp() - interval '1 second'")
    await engine.timers.run_once()


async def state(engine: Engine, job_id: str) -> State:
    return state_of(await engine.steer.get(ROOT, UUID(job_id)))


async def test_the_jobs_of_a_lost_worker_go_to_others(resting: Engine, conn):
    worker, other = await join(resting), await join(resting)
    job_id = await submit(resting)
    await take_one(resting, worker)
    assert await lose(resting, conn, worker) == {"workers_lost": 1, "jobs": 1}
    again = await take_one(resting, other)
    assert (again.id, again.attempt) == (job_id, 2)
    first = (await resting.steer.executions(await resting.steer.get(ROOT, UUID(job_id))))[0]
    assert (first["ending"], first["worker_id"]) == ("lost", worker.worker_id)
    assert f"worker {worker.worker_id}" in first["error"]


async def test_a_waiting_worker_hears_of_reclaimed_jobs_at_once(resting: Engine, conn):
    worker, other = await join(resting), await join(resting)
    job_id = await submit(resting)
    await take_one(resting, worker)
    waiter = resting.dispatch.wait(other, 1, 1)
    await lose(resting, conn, worker)
    (grant,) = await asyncio.wait_for(waiter.answer, 10)
    assert grant.id == job_id


async def test_the_slots_of_a_lost_worker_are_free_for_other_lanes_at_once(resting: Engine, conn):
    """A lane that a limit holds back would else be looked at again after two seconds."""
    await resting.limits.put(ROOT, None, LimitSpec(name="one", queue="q", max_running=1))
    worker, other = await join(resting), await join(resting, "other")
    await submit(resting, queue="q")
    await take_one(resting, worker)
    waits = await submit(resting, "other", queue="q", priority=9)
    assert await resting.dispatch.take(other, 1, 1) == []
    freed: list[Mapping[int, int]] = []
    resting.signals.on_freed.append(freed.append)
    await lose(resting, conn, worker)
    assert [sum(groups.values()) for groups in freed] == [1]
    assert (await take_one(resting, other, 2)).id == waits


async def test_the_third_loss_ends_the_job_with_evidence(resting: Engine, conn):
    await join(resting)
    job_id = await submit(resting)
    for _ in range(3):
        worker = await join(resting)
        await take_one(resting, worker)
        await lose(resting, conn, worker)
        await bring_forward(resting, conn)
    row = await resting.steer.get(ROOT, UUID(job_id))
    assert state_of(row) is State.FAILED
    assert msgspec.json.decode(row["error"])["kind"] == "worker_lost"
    assert [e["ending"] for e in await resting.steer.executions(row)] == ["lost"] * 3


async def test_a_job_asked_to_stop_whose_worker_is_lost_is_cancelled(resting: Engine, conn):
    worker = await join(resting)
    job_id = await submit(resting)
    await take_one(resting, worker)
    await resting.steer.cancel(ROOT, UUID(job_id), "")
    await lose(resting, conn, worker)
    assert await state(resting, job_id) is State.CANCELLED


async def test_losses_use_no_attempt_of_the_task(resting: Engine, conn):
    worker = await join(resting)
    job_id = await submit(resting, max_attempts=1)
    await take_one(resting, worker)
    await lose(resting, conn, worker)
    assert await state(resting, job_id) is State.READY


async def test_a_worker_that_lives_keeps_its_jobs(resting: Engine, conn):
    worker = await join(resting)
    await submit(resting)
    await take_one(resting, worker)
    assert await duty(resting, "reclaim").run_once() == {"workers_lost": 0, "jobs": 0}
    assert await conn.fetchval("select count(*) from lease") == 1


async def test_a_heartbeat_after_the_lease_has_ended_is_refused_even_before_the_reclaim(resting: Engine, conn):
    worker = await join(resting)
    await expire(conn, worker)
    with pytest.raises(WorkerGone):
        await resting.fleet.heartbeat(ROOT, worker.worker_id, IDLE)
    assert await conn.fetchval("select expires_at < clock_timestamp() from worker")


async def test_a_heartbeat_and_a_reclaim_at_once_never_both_win(resting: Engine, conn):
    """A worker at the very end of its lease: either it is renewed and keeps its job, or it is lost and loses it."""
    for _ in range(10):
        worker = await join(resting)
        await submit(resting)
        await take_one(resting, worker)
        await conn.execute(
            "update worker set expires_at = clock_timestamp() + interval '3 ms' where id = $1", worker.worker_id
        )
        renewed, _ = await asyncio.gather(
            resting.fleet.heartbeat(ROOT, worker.worker_id, IDLE),
            duty(resting, "reclaim").run_once(),
            return_exceptions=True,
        )
        await duty(resting, "reclaim").run_once()
        kept = await conn.fetchval("select count(*) from lease where worker_id = $1", worker.worker_id)
        assert kept == (0 if isinstance(renewed, WorkerGone) else 1)


async def test_a_late_success_of_a_lost_worker_is_stale(resting: Engine, conn):
    worker = await join(resting)
    await submit(resting)
    grant = await take_one(resting, worker)
    await lose(resting, conn, worker)
    assert await resting.complete.attempts(worker.worker_id, [done(grant)]) == [(grant.id, 1)]


async def test_a_lease_granted_while_its_worker_was_being_lost_is_found_later(resting: Engine, conn):
    worker = await join(resting)
    job_id = await submit(resting)
    await take_one(resting, worker)
    await conn.execute("update worker set state = 'lost', expires_at = clock_timestamp() - interval '5 s'")
    await duty(resting, "reclaim").run_once()
    assert await state(resting, job_id) is State.READY


async def test_jobs_of_a_worker_lost_before_a_long_outage_are_given_away_after_it(resting: Engine, conn):
    """A server said that the worker is lost and was gone before it gave the jobs away; none was there for an hour."""
    worker = await join(resting)
    job_id = await submit(resting)
    await take_one(resting, worker)
    await conn.execute("update worker set state = 'lost', expires_at = clock_timestamp() - interval '1 hour'")
    await duty(resting, "reclaim").run_once()
    assert await state(resting, job_id) is State.READY


async def test_a_job_that_cannot_be_given_away_keeps_no_job_of_another_worker(resting: Engine, conn, monkeypatch):
    broken, worker = await join(resting), await join(resting)
    await submit(resting)
    await take_one(resting, broken)
    job_id = await submit(resting)
    await take_one(resting, worker)
    workers = duty(resting, "reclaim")._workers
    real = workers.lease_of_lost

    async def unreadable(worker_id, batch):
        if worker_id == broken.worker_id:
            raise ValueError("options: not JSON")
        return await real(worker_id, batch)

    monkeypatch.setattr(workers, "lease_of_lost", unreadable)
    await expire(conn, broken)
    await expire(conn, worker)
    assert await duty(resting, "reclaim").run_once() == {"workers_lost": 2, "jobs": 1}
    assert await state(resting, job_id) is State.READY


async def test_a_cancel_that_comes_while_its_job_is_being_given_away_is_carried_out(resting: Engine, conn, monkeypatch):
    """Reclaim has read the leases; a cancel finds the lease and is answered; then the job goes back to ready."""
    worker = await join(resting)
    job_id = await submit(resting)
    await take_one(resting, worker)
    jobs = duty(resting, "reclaim")._jobs
    real = jobs.job_reschedule

    async def after_a_cancel(*args):
        await resting.steer.cancel(ROOT, UUID(job_id), "not needed")
        return await real(*args)

    monkeypatch.setattr(jobs, "job_reschedule", after_a_cancel)
    await lose(resting, conn, worker)
    assert await state(resting, job_id) is State.CANCELLED


async def test_a_cancel_on_the_way_is_carried_out_with_the_move_itself(resting: Engine, conn, monkeypatch):
    """As before, and the server dies as soon as the move is committed."""
    worker = await join(resting)
    job_id = await submit(resting)
    await take_one(resting, worker)
    jobs = duty(resting, "reclaim")._jobs
    real = jobs.job_reschedule

    async def after_a_cancel_and_then_death(*args):
        await resting.steer.cancel(ROOT, UUID(job_id), "not needed")
        await real(*args)
        raise RuntimeError("dead")

    monkeypatch.setattr(jobs, "job_reschedule", after_a_cancel_and_then_death)
    await lose(resting, conn, worker)
    assert await state(resting, job_id) is State.CANCELLED


async def test_a_job_retried_after_a_cancel_on_the_way_is_not_cancelled_again(resting: Engine, conn, monkeypatch):
    """As before, and the answer to the commit gets lost; somebody sees the end and retries; the move is tried again."""
    worker = await join(resting)
    job_id = await submit(resting)
    await take_one(resting, worker)
    jobs = duty(resting, "reclaim")._jobs
    real = jobs.job_reschedule

    async def twice_with_a_retry_between(*args):
        await resting.steer.cancel(ROOT, UUID(job_id), "not needed")
        await real(*args)
        await resting.steer.retry(ROOT, UUID(job_id), {})
        return await real(*args)

    monkeypatch.setattr(jobs, "job_reschedule", twice_with_a_retry_between)
    await lose(resting, conn, worker)
    assert await state(resting, job_id) is State.READY


async def test_a_worker_that_leaves_costs_its_jobs_nothing(resting: Engine, conn):
    worker = await join(resting)
    job_ids = [await submit(resting) for _ in range(3)]
    await resting.dispatch.take(worker, 1, 3)
    await resting.fleet.leave(ROOT, worker.worker_id)
    assert {await state(resting, job_id) for job_id in job_ids} == {State.READY}
    assert {row[0] for row in await conn.fetch("select distinct ending::text from attempt")} == {"undelivered"}


async def test_a_reclaim_that_meets_a_leaving_worker_counts_no_loss(resting: Engine, conn):
    """leave() has marked the worker and not yet given its jobs back when another server's reclaim comes by."""
    worker = await join(resting)
    job_id = await submit(resting)
    await take_one(resting, worker)
    await conn.execute("update worker set state = 'left'")
    await duty(resting, "reclaim").run_once()
    assert await state(resting, job_id) is State.READY
    assert await conn.fetchval("select count(*) from attempt where ending = 'lost'") == 0


async def test_waiters_hear_of_the_outcome_that_was_stored(resting: Engine, conn, monkeypatch):
    """Reclaim reads the leases; the worker's success is stored; reclaim's own end finds nothing: no word of failure."""
    worker = await join(resting)
    job_id = await submit(resting)
    grant = await take_one(resting, worker)
    await resting.steer.cancel(ROOT, UUID(job_id), "")
    jobs = duty(resting, "reclaim")._jobs
    real = jobs.job_complete

    async def too_late(*args):
        monkeypatch.setattr(jobs, "job_complete", real)
        assert await resting.complete.attempts(worker.worker_id, [done(grant)]) == []
        return await real(*args)

    waiting = asyncio.create_task(resting.output.result(1, UUID(job_id), 20))
    await wait_for(lambda: resting.watch.anybody)
    monkeypatch.setattr(jobs, "job_complete", too_late)
    await lose(resting, conn, worker)
    assert (await waiting).state is State.SUCCEEDED


async def test_grants_of_a_lost_answer_come_back_and_only_those(resting: Engine, conn):
    worker = await join(resting)
    await resting.submit.many(ROOT, [JobRequest(task="work")] * 6)
    lost = await resting.dispatch.take(worker, 7, 4)
    kept = await resting.dispatch.take(worker, 8, 2)
    assert await resting.fleet.take_back(worker.worker_id, [7, 99]) == 4
    assert await resting.fleet.take_back(worker.worker_id, [7, 99]) == 0
    held = {row["id"] for row in await conn.fetch("select id::text from lease")}
    assert held == {grant.id for grant in kept}
    again = await resting.dispatch.take(worker, 9, 10)
    assert {(g.id, g.attempt) for g in again} == {(g.id, 2) for g in lost}


async def test_a_lost_answer_costs_no_attempt_however_often(resting: Engine):
    worker = await join(resting)
    job_id = await submit(resting, max_attempts=1)
    for number in range(1, 6):
        await take_one(resting, worker, number)
        await resting.fleet.take_back(worker.worker_id, [number])
    grant = await take_one(resting, worker, 6)
    assert grant.attempt == 6
    await resting.complete.attempts(worker.worker_id, [done(grant, End.ERROR)])
    assert await state(resting, job_id) is State.FAILED


async def test_a_running_engine_reclaims_by_itself(engine: Engine, conn):
    worker, other = await join(engine), await join(engine)
    job_id = await submit(engine)
    await wait_for(lambda: engine.dispatch.take(worker, 1, 1))
    waiter = engine.dispatch.wait(other, 1, 1)
    await expire(conn, worker)
    (grant,) = await asyncio.wait_for(waiter.answer, 30)
    assert grant.id == job_id


async def test_thousands_of_leases_of_one_worker_are_given_away(resting: Engine, conn):
    worker = await join(resting)
    await resting.submit.many(ROOT, [JobRequest(task="work")] * 2500)
    for number in (1, 2, 3):
        await resting.dispatch.take(worker, number, 1000)
    assert (await lose(resting, conn, worker))["jobs"] == 2500
    assert await conn.fetchval("select count(*) from ready") == 2500


async def test_a_drained_worker_gets_nothing_and_goes_on_when_resumed(resting: Engine):
    worker = await join(resting)
    await resting.fleet.steer(ROOT, worker.worker_id, "draining")
    await submit(resting)
    assert worker.draining
    assert await resting.dispatch.take(worker, 1, 1) == []
    await resting.fleet.heartbeat(ROOT, worker.worker_id, IDLE)
    await resting.fleet.steer(ROOT, worker.worker_id, "active")
    resting.dispatch.note_ready({1: 0})
    assert len(await resting.dispatch.take(worker, 2, 1)) == 1
