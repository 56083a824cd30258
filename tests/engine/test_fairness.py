"""Who runs next, by the whole engine on a real database: shares, priorities, spread, probation, and who is served."""

import asyncio
from itertools import cycle

import pytest

from horae.engine.access import Caller
from horae.engine.duties.scout import Scout
from horae.engine.engine import Engine
from horae.engine.limits import LimitSpec
from horae.engine.record import FAILURES_IN_A_ROW
from horae.engine.sessions import Session
from horae.model.job import JobRequest
from horae.model.rank import HEAD_START_MICROS
from horae.model.roles import GRANTS, Role
from horae.model.states import End
from horae.model.work import Grant

from .staging import ROOT, done, join, submit, take_one


async def tenant(engine: Engine, name: str, weight: float = 1.0) -> Caller:
    made = await engine.access.create_tenant(None, name, weight)
    await engine.policy.refresh()
    return Caller(0, f"{name}-key", Role.ADMIN, made.id, name, GRANTS[Role.ADMIN])


async def flood(engine: Engine, by: Caller, count: int, **request: object) -> set[str]:
    made = await engine.submit.many(by, [JobRequest(task="work", **request)] * count)  # type: ignore[arg-type]
    return {job.id for job in made}


async def end(engine: Engine, worker: Session, *grants: Grant, took: float = 0.0, how: End = End.SUCCEEDED) -> None:
    await engine.complete.attempts(worker.worker_id, [done(grant, how, took=took) for grant in grants])


def tenant_of(engine: Engine, grant: Grant) -> int:
    key = engine.lanes.key(grant.lane)
    assert key is not None
    return key.tenant_id


async def test_worker_seconds_are_shared_by_weight(resting: Engine):
    took = {}
    workers = [await join(resting), await join(resting)]
    for weight, seconds in ((1.0, 0.005), (2.0, 0.02), (4.0, 0.01)):
        by = await tenant(resting, f"t{weight:g}", weight)
        assert by.tenant_id is not None
        took[by.tenant_id] = (weight, seconds)
        await flood(resting, by, 1000)
    used = dict.fromkeys(took, 0.0)
    for turn, worker, want in zip(range(120), cycle(workers), cycle((2, 9, 14)), strict=False):
        for grant in await resting.dispatch.take(worker, turn, want):
            seconds = took[tenant_of(resting, grant)][1]
            await end(resting, worker, grant, took=seconds)
            if turn >= 20:  # By then it is known how long each tenant's jobs take.
                used[tenant_of(resting, grant)] += seconds
    whole = sum(used.values())
    for number, (weight, _) in took.items():
        assert used[number] == pytest.approx(whole * weight / 7, rel=0.05)


async def test_a_quiet_tenants_job_is_the_next_whatever_floods(resting: Engine):
    loud, quiet = await tenant(resting, "loud"), await tenant(resting, "quiet")
    worker = await join(resting)
    await flood(resting, loud, 300)
    for turn in range(10):
        await end(resting, worker, *await resting.dispatch.take(worker, turn, 5), took=0.1)
    (mine,) = await flood(resting, quiet, 1)
    assert (await take_one(resting, worker, 99)).id == mine


async def test_priority_inversion_does_not_happen_across_lanes_of_a_tenant(resting: Engine):
    """Low priorities fill two lanes; the high ones are in a third, and in one of the two behind them."""
    worker = await join(resting)
    for queue in ("a", "b"):
        await flood(resting, ROOT, 30, queue=queue, priority=1)
    high = await flood(resting, ROOT, 5, queue="c", priority=9) | await flood(resting, ROOT, 5, queue="a", priority=9)
    first = await resting.dispatch.take(worker, 1, 3)
    second = await resting.dispatch.take(worker, 2, 7)
    assert {grant.id for grant in first + second} == high


async def test_nothing_starves_under_a_stream_of_urgent_jobs(resting: Engine, conn):
    """Aging by construction: after the difference of the head starts, the low job is before any that comes."""
    worker = await join(resting)
    low = await submit(resting, queue="low", priority=1)
    waited = HEAD_START_MICROS[9] - HEAD_START_MICROS[1]
    for _ in range(5):
        await submit(resting, priority=9)
        assert (await take_one(resting, worker)).id != low
    await conn.execute("update ready set rank = rank - $1", waited)
    await conn.execute("update job set rank = rank - $1 where id = $2::uuid", waited, low)
    await Scout(resting.upkeep, resting.dispatch).run_once()
    await submit(resting, priority=9)
    assert (await take_one(resting, worker, 2)).id == low


async def test_an_emergency_goes_first_though_its_tenant_has_had_most(resting: Engine):
    loud, quiet = await tenant(resting, "loud"), await tenant(resting, "quiet")
    worker = await join(resting)
    await flood(resting, loud, 50)
    await end(resting, worker, *await resting.dispatch.take(worker, 1, 10), took=60.0)
    await flood(resting, quiet, 50)
    urgent = await submit(resting, by=loud, priority=10)
    assert (await take_one(resting, worker, 2)).id == urgent
    assert tenant_of(resting, await take_one(resting, worker, 3)) == quiet.tenant_id


async def test_a_lane_is_spread_over_workers(resting: Engine):
    workers = [await join(resting), await join(resting)]
    await flood(resting, ROOT, 5, spread=1)
    first = [await resting.dispatch.take(worker, 1, 10) for worker in workers]
    assert [len(grants) for grants in first] == [1, 1]
    assert await resting.dispatch.take(workers[0], 2, 10) == []
    await end(resting, workers[0], *first[0])
    assert len(await resting.dispatch.take(workers[0], 3, 10)) == 1
    assert await resting.dispatch.take(workers[1], 2, 10) == []


async def test_jobs_of_a_sticky_key_go_to_one_worker(resting: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("horae.engine.choice.GRACE_SECONDS", 60.0)  # For so long they go to no other.
    workers = [await join(resting) for _ in range(3)]
    for worker in workers:
        assert await resting.dispatch.take(worker, 1, 1) == []
    homes = []
    for turn in range(2, 5):
        await submit(resting, sticky="session-42")
        got = {worker.worker_id: await resting.dispatch.take(worker, turn, 1) for worker in workers}
        homes += [worker_id for worker_id, grants in got.items() if grants]
    assert len(homes) == 3
    assert len(set(homes)) == 1


async def test_a_worker_on_which_everything_fails_gets_one_job_at_a_time_until_one_succeeds(resting: Engine):
    good, bad = await join(resting), await join(resting)
    await flood(resting, ROOT, 60, max_attempts=1)
    await end(resting, good, *await resting.dispatch.take(good, 1, 20), took=0.1)
    await end(resting, bad, *await resting.dispatch.take(bad, 1, FAILURES_IN_A_ROW), how=End.FATAL)
    assert bad.rating > good.rating
    (probe,) = await resting.dispatch.take(bad, 2, 10)
    assert await resting.dispatch.take(bad, 3, 10) == []
    await end(resting, bad, probe, how=End.FATAL)
    (probe,) = await resting.dispatch.take(bad, 4, 10)
    await end(resting, bad, probe, took=0.1)
    assert len(await resting.dispatch.take(bad, 5, 10)) == 10


async def test_a_worker_that_fails_alone_in_the_world_is_not_put_on_probation(resting: Engine):
    """There is nobody to do better."""
    worker = await join(resting)
    await flood(resting, ROOT, 30, max_attempts=1)
    await end(resting, worker, *await resting.dispatch.take(worker, 1, 10), how=End.FATAL)
    assert len(await resting.dispatch.take(worker, 2, 10)) == 10


async def test_the_best_rated_of_those_who_wait_is_served_first(resting: Engine):
    busy, idle = await join(resting), await join(resting)
    busy.load = 0.9
    waiters = [resting.dispatch.wait(busy, 1, 10), resting.dispatch.wait(idle, 1, 10)]
    job = await submit(resting)
    assert [grant.id for grant in await asyncio.wait_for(waiters[1].answer, 10)] == [job]
    assert not waiters[0].answer.done()


async def test_a_change_of_the_policy_wakes_those_who_wait(resting: Engine):
    worker = await join(resting)
    await resting.limits.put(ROOT, None, LimitSpec(name="none", task="work", max_running=0))
    job = await submit(resting)
    assert await resting.dispatch.take(worker, 1, 10) == []
    waiter = resting.dispatch.wait(worker, 2, 10)
    await resting.limits.remove(ROOT, None, "none")
    assert [grant.id for grant in await asyncio.wait_for(waiter.answer, 10)] == [job]
