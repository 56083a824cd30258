"""Dispatch: which jobs a worker gets, in which order, and how soon."""

import asyncio
import itertools

import msgspec
import pytest

from horae.engine.access import Caller
from horae.engine.dispatch import Waiter
from horae.engine.duties.scout import Scout
from horae.engine.engine import Engine
from horae.model.errors import StoreUnavailable
from horae.model.job import JobRequest
from horae.model.roles import GRANTS, Role
from horae.model.states import End
from horae.model.work import Grant

from .staging import ROOT, done, join, submit, take_one


async def answer(waiter: Waiter, seconds: float = 20) -> list[Grant]:
    return await asyncio.wait_for(asyncio.shield(waiter.answer), seconds)


async def tenant_caller(engine: Engine, name: str) -> Caller:
    tenant = await engine.access.create_tenant(None, name)
    return Caller(0, f"{name}-key", Role.ADMIN, tenant.id, name, GRANTS[Role.ADMIN])


async def test_jobs_of_one_priority_come_in_the_order_of_their_submission(resting: Engine):
    worker = await join(resting)
    ids = [await submit(resting) for _ in range(20)]
    grants = await resting.dispatch.take(worker, 1, 50)
    assert [grant.id for grant in grants] == ids


async def test_a_higher_priority_goes_first_and_a_later_emergency_overtakes_all(resting: Engine):
    worker = await join(resting)
    by_priority = {p: await submit(resting, priority=p) for p in (1, 5, 3, 8, 10)}
    grants = await resting.dispatch.take(worker, 1, 50)
    assert [grant.id for grant in grants] == [by_priority[p] for p in (10, 8, 5, 3, 1)]


async def test_a_waiter_is_answered_by_the_submit_itself(resting: Engine):
    """No duty runs on a resting engine, so nothing but the submit can have woken it."""
    worker = await join(resting)
    waiter = resting.dispatch.wait(worker, 1, 10)
    job_id = await submit(resting)
    assert [grant.id for grant in await answer(waiter)] == [job_id]


async def test_all_waiters_are_served_from_one_announcement(resting: Engine):
    waiters = [resting.dispatch.wait(await join(resting), 1, 1) for _ in range(4)]
    made = await resting.submit.many(ROOT, [JobRequest(task="work")] * 4)
    grants = [grant for waiter in waiters for grant in await answer(waiter, 5)]
    assert sorted(grant.id for grant in grants) == sorted(job.id for job in made)


async def test_a_worker_that_asks_while_another_claims_need_not_wait_for_the_scout(resting: Engine, monkeypatch):
    """W1's claim is under way: the lane counts as empty; W2 asks and stands in line; the claim leaves work behind."""
    first, second = await join(resting), await join(resting)
    await resting.submit.many(ROOT, [JobRequest(task="work")] * 2)
    jobs, go = resting.dispatch._claims._jobs, asyncio.Event()
    real = jobs.job_claim

    async def slow(*args):
        await go.wait()
        return await real(*args)

    monkeypatch.setattr(jobs, "job_claim", slow)
    taking = asyncio.create_task(resting.dispatch.take(first, 1, 1))
    await asyncio.sleep(0)
    waiter = resting.dispatch.wait(second, 1, 1)
    go.set()
    assert len(await taking) == 1
    assert len(await answer(waiter, 5)) == 1


async def test_a_worker_gets_only_tasks_it_has(resting: Engine):
    await join(resting, "other")
    worker = await join(resting, "work")
    await submit(resting, "other")
    mine = await submit(resting, "work")
    assert [grant.id for grant in await resting.dispatch.take(worker, 1, 10)] == [mine]


async def test_a_worker_gets_only_queues_it_serves(resting: Engine):
    worker = await join(resting, queues=["a", "b"])
    ids = {queue: await submit(resting, queue=queue) for queue in ("a", "b", "c")}
    assert {grant.id for grant in await resting.dispatch.take(worker, 1, 10)} == {ids["a"], ids["b"]}


async def test_a_worker_of_a_tenant_gets_only_its_tenants_jobs(resting: Engine):
    red, blue = await tenant_caller(resting, "red"), await tenant_caller(resting, "blue")
    worker, everybodys = await join(resting, by=red), await join(resting)
    await join(resting, by=blue)
    theirs, mine = await submit(resting, by=blue), await submit(resting, by=red)
    assert [grant.id for grant in await resting.dispatch.take(worker, 1, 10)] == [mine]
    assert [grant.id for grant in await resting.dispatch.take(everybodys, 1, 10)] == [theirs]


async def test_a_flood_in_one_lane_leaves_room_for_others_in_one_claim(resting: Engine):
    worker = await join(resting)
    await resting.submit.many(ROOT, [JobRequest(task="work", queue="flood")] * 500)
    few = {await submit(resting, queue=f"q{n}") for n in range(5)}
    grants = await resting.dispatch.take(worker, 1, 60)
    assert len(grants) == 60
    assert few <= {grant.id for grant in grants}


async def test_a_worker_gets_all_it_wants_over_several_claims(resting: Engine):
    """One lane is empty before its share is used up: the rest of the want comes from the other."""
    worker = await join(resting)
    await submit(resting, queue="few")
    await resting.submit.many(ROOT, [JobRequest(task="work", queue="many")] * 100)
    assert len(await resting.dispatch.take(worker, 1, 50)) == 50


async def test_a_job_with_a_smaller_rank_lowers_the_floor(resting: Engine):
    worker = await join(resting)
    await resting.submit.many(ROOT, [JobRequest(task="work")] * 20)
    await resting.dispatch.take(worker, 1, 10)
    urgent = await submit(resting, priority=10)
    assert (await take_one(resting, worker, 2)).id == urgent


async def test_a_job_inserted_below_the_floor_behind_our_back_is_found_when_the_floor_is_forgotten(
    resting: Engine, conn
):
    worker = await join(resting)
    await resting.submit.many(ROOT, [JobRequest(task="work")] * 20)
    await resting.dispatch.take(worker, 1, 10)
    urgent = str(await conn.fetchval("""select horae.submit('work', '{}', '{"priority": 9}')"""))
    await Scout(resting.upkeep, resting.dispatch).run_once()
    assert (await take_one(resting, worker, 2)).id == urgent


async def test_each_job_is_granted_once_however_many_ask(resting: Engine):
    workers = [await join(resting) for _ in range(8)]
    made = await resting.submit.many(ROOT, [JobRequest(task="work", queue=f"q{n % 3}") for n in range(300)])
    scout = Scout(resting.upkeep, resting.dispatch)
    granted: list[str] = []

    async def work(worker) -> None:
        for number in itertools.count(1):
            if len(granted) == len(made):
                return
            await scout.run_once()
            granted.extend(grant.id for grant in await resting.dispatch.take(worker, number, 7))

    await asyncio.gather(*(work(worker) for worker in workers))
    assert sorted(granted) == sorted(job.id for job in made)


async def test_the_scout_finds_what_was_inserted_behind_our_back(engine: Engine, conn):
    worker = await join(engine)
    waiter = engine.dispatch.wait(worker, 1, 1)
    job_id = str(await conn.fetchval("select horae.submit('work')"))
    assert [grant.id for grant in await answer(waiter)] == [job_id]


async def test_a_worker_whose_lease_has_ended_is_granted_nothing(resting: Engine, conn):
    worker = await join(resting)
    await submit(resting)
    await conn.execute("update worker set expires_at = clock_timestamp() - interval '1 ms'")
    assert await resting.dispatch.take(worker, 1, 1) == []
    assert await conn.fetchval("select count(*) from ready") == 1


@pytest.mark.parametrize("state", ["draining", "left", "lost"])
async def test_a_worker_that_is_not_active_is_granted_nothing(resting: Engine, conn, state: str):
    worker = await join(resting)
    await submit(resting)
    await conn.execute("update worker set state = $1", state)
    assert await resting.dispatch.take(worker, 1, 1) == []


async def test_a_grant_carries_what_the_worker_needs(resting: Engine):
    worker = await join(resting)
    await submit(resting, params={"a": [1, "x"]}, timeout="90s", max_attempts=3)
    grant = await take_one(resting, worker)
    assert (bytes(grant.params), grant.timeout, grant.max_attempts, grant.attempt) == (b'{"a":[1,"x"]}', 90.0, 3, 1)
    assert (grant.task, grant.checkpoint) == ("work", msgspec.UNSET)


async def test_a_later_attempt_gets_the_checkpoint(resting: Engine):
    worker = await join(resting)
    job_id = await submit(resting)
    grant = await take_one(resting, worker)
    await resting.output.save_checkpoint(worker.worker_id, grant.lane, job_id, 1, b'{"page":7}')
    await resting.complete.attempts(worker.worker_id, [done(grant, End.ERROR, retry_after=0)])
    again = await take_one(resting, worker, 2)
    assert (again.attempt, bytes(again.checkpoint)) == (2, b'{"page":7}')


async def test_a_job_with_unreadable_options_does_not_keep_others_from_running(resting: Engine, conn):
    worker = await join(resting)
    spoilt, good = await submit(resting), await submit(resting)
    await conn.execute("update job set options = '{\"labels\": 5}' where id = $1::uuid", spoilt)
    grants = await resting.dispatch.take(worker, 1, 10)
    assert {grant.id for grant in grants} == {spoilt, good}
    assert await resting.complete.attempts(worker.worker_id, [done(grant, End.ERROR) for grant in grants]) == []


async def test_a_lane_whose_claim_broke_off_after_it_found_nothing_is_served_again(resting: Engine, monkeypatch):
    """The claim is through and empty-handed; then the database is away when the policy is asked for."""
    worker = await join(resting)
    job_id = await submit(resting)
    grant = await take_one(resting, worker)
    resting.dispatch.note_ready({grant.lane: 0})
    real = resting.policy.differs

    async def away(version):
        monkeypatch.setattr(resting.policy, "differs", real)
        raise StoreUnavailable("the database is away")

    monkeypatch.setattr(resting.policy, "differs", away)
    with pytest.raises(StoreUnavailable):
        await resting.dispatch.take(worker, 2, 1)
    assert grant.id == job_id
    again = await submit(resting)
    assert (await take_one(resting, worker, 3)).id == again
