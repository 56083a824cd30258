"""Moving running jobs, and steering workers: maintenance ends by itself, what runs goes elsewhere."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from horae.engine.engine import Engine
from horae.engine.fleet import Joining, Load, Steering
from horae.engine.rows import state_of
from horae.engine.sessions import Session
from horae.model.errors import InvalidInput, NowhereToRun, WrongState
from horae.model.placement import Requirements, read_placement
from horae.model.states import End, State
from horae.model.task import TaskDefinition

from .staging import ROOT, done, join, submit, take_one

IDLE = Load(0, 0, None, None)


async def join_as(engine: Engine, **facts: Any) -> Session:
    worker = Joining(**{"name": "w", "host": "h", "slots": 10, "tasks": [TaskDefinition(name="work")]} | facts)
    return await engine.fleet.session(ROOT, await engine.fleet.join(ROOT, worker))


async def look(engine: Engine, job_id: str):
    return await engine.steer.get(ROOT, UUID(job_id))


async def move(engine: Engine, job_id: str, *, force: bool = False) -> None:
    await engine.relocate.move(ROOT, UUID(job_id), "away with it", force=force)


async def test_a_moved_job_goes_on_at_another_worker_and_costs_no_attempt(resting: Engine):
    first, second = await join(resting), await join(resting)
    job_id = await submit(resting, max_attempts=1)
    grant = await take_one(resting, first)
    await move(resting, job_id)
    (order,) = await resting.fleet.orders(first)
    assert (order.id, order.attempt, order.reason, order.move) == (job_id, 1, "away with it", True)
    assert await resting.complete.attempts(first.worker_id, [done(grant, End.MOVED)]) == []
    row = await look(resting, job_id)
    assert state_of(row) is State.READY
    assert read_placement(row["requires"]).not_workers == (first.worker_id,)
    assert await resting.dispatch.take(first, 2, 1) == []
    again = await take_one(resting, second)
    assert (again.id, again.attempt) == (job_id, 2)
    await resting.complete.attempts(second.worker_id, [done(again)])
    ends = [row["ending"] for row in await resting.steer.executions(await look(resting, job_id))]
    assert ends == ["moved", "succeeded"]


async def test_a_moved_job_keeps_its_checkpoint(resting: Engine):
    first, second = await join(resting), await join(resting)
    job_id = await submit(resting)
    grant = await take_one(resting, first)
    await resting.output.save_checkpoint(first.worker_id, grant.lane, job_id, 1, b'{"page":7}')
    await move(resting, job_id)
    await resting.complete.attempts(first.worker_id, [done(grant, End.MOVED)])
    assert bytes((await take_one(resting, second)).checkpoint) == b'{"page":7}'


async def test_a_job_moved_twice_avoids_both_workers(resting: Engine):
    first, second, third = [await join(resting) for _ in range(3)]
    job_id = await submit(resting)
    for session in (first, second):
        grant = await take_one(resting, session)
        await move(resting, job_id)
        await resting.complete.attempts(session.worker_id, [done(grant, End.MOVED)])
    assert read_placement((await look(resting, job_id))["requires"]).not_workers == (first.worker_id, second.worker_id)
    assert (await take_one(resting, third)).id == job_id


async def test_a_move_reported_twice_moves_once(resting: Engine):
    first, _ = await join(resting), await join(resting)
    job_id = await submit(resting)
    grant = await take_one(resting, first)
    for _ in range(2):
        assert await resting.complete.attempts(first.worker_id, [done(grant, End.MOVED)]) == []
    assert state_of(await look(resting, job_id)) is State.READY


async def test_a_cancel_goes_before_a_move(resting: Engine):
    first, _ = await join(resting), await join(resting)
    job_id = await submit(resting)
    grant = await take_one(resting, first)
    await move(resting, job_id)
    await resting.steer.cancel(ROOT, UUID(job_id), "no more")
    (order,) = await resting.fleet.orders(first)
    assert (order.reason, order.move) == ("no more", False)
    await resting.complete.attempts(first.worker_id, [done(grant, End.MOVED)])
    assert state_of(await look(resting, job_id)) is State.CANCELLED


async def test_a_cancel_accepted_while_the_job_was_on_its_way_is_carried_out(resting: Engine, monkeypatch):
    """The worker reports `moved`; the cancel comes between the look at the requests and the move."""
    first, _ = await join(resting), await join(resting)
    job_id = await submit(resting)
    grant = await take_one(resting, first)
    jobs = resting.complete._jobs
    relocate = jobs.job_relocate

    async def late(*args: Any) -> Any:
        await resting.steer.cancel(ROOT, UUID(job_id), "too late?")
        return await relocate(*args)

    monkeypatch.setattr(jobs, "job_relocate", late)
    await resting.complete.attempts(first.worker_id, [done(grant, End.MOVED)])
    assert state_of(await look(resting, job_id)) is State.CANCELLED


async def test_nothing_is_moved_that_could_run_nowhere_else(resting: Engine):
    big = await join_as(resting, name="big", memory=2**30, labels={"os": "linux"})
    await join_as(resting, name="small", memory=2**20, labels={"os": "linux"})
    await join_as(resting, name="other", tasks=[TaskDefinition(name="other")])
    job_id = await submit(resting, requires=Requirements(memory="512MiB", labels={"os": "linux"}))
    grant = await take_one(resting, big)
    assert grant.memory == 2**29
    with pytest.raises(NowhereToRun, match=r"small.*512MiB of memory wanted, it has 1MiB"):
        await move(resting, job_id)
    assert await resting.fleet.orders(big) == []
    await move(resting, job_id, force=True)
    await resting.complete.attempts(big.worker_id, [done(grant, End.MOVED)])
    assert state_of(await look(resting, job_id)) is State.READY


@pytest.mark.parametrize("delay", [None, 3600])
async def test_only_a_running_job_can_be_moved(resting: Engine, delay):
    await join(resting)
    job_id = await submit(resting, delay=delay)
    with pytest.raises(WrongState, match="only a running job"):
        await move(resting, job_id)


async def test_a_worker_that_is_cleared_keeps_only_what_nobody_else_could_run(resting: Engine):
    first = await join_as(resting, tasks=[TaskDefinition(name="work"), TaskDefinition(name="own")])
    await join(resting)
    shared, own = await submit(resting), await submit(resting, "own")
    assert len(await resting.dispatch.take(first, 1, 10)) == 2
    cleared = await resting.relocate.clear(ROOT, first.worker_id, "disk change")
    assert cleared == (1, 1)
    assert {order.id: order.move for order in await resting.fleet.orders(first)} == {shared: True}
    assert state_of(await look(resting, own)) is State.RUNNING


async def test_maintenance_shows_who_why_and_until_when_and_ends_by_itself(resting: Engine, conn):
    worker = await join(resting)
    row = await resting.fleet.steer(ROOT, worker.worker_id, "draining", Steering(reason="new disk", lasts="2h"))
    assert (row["state"], row["steered_by"], row["steer_reason"]) == ("draining", "root", "new disk")
    assert timedelta(hours=1.9) < row["steer_until"] - row["now"] < timedelta(hours=2.1)
    assert (await resting.fleet.heartbeat(ROOT, worker.worker_id, IDLE)).draining
    await conn.execute("update horae.worker set steer_until = clock_timestamp() - interval '1 second'")
    assert not (await resting.fleet.heartbeat(ROOT, worker.worker_id, IDLE)).draining
    row = await resting.fleet.get(ROOT, worker.worker_id)
    assert (row["state"], row["steered_by"], row["steer_reason"], row["steer_until"]) == ("active", None, None, None)


async def test_a_drain_without_an_end_lasts_until_somebody_ends_it(resting: Engine):
    worker = await join(resting)
    await resting.fleet.steer(ROOT, worker.worker_id, "draining")
    assert (await resting.fleet.heartbeat(ROOT, worker.worker_id, IDLE)).draining
    row = await resting.fleet.steer(ROOT, worker.worker_id, "active")
    assert (row["state"], row["steered_by"]) == ("active", None)


@pytest.mark.parametrize(
    "facts",
    [{"memory": -1}, {"gpus": -0.5}, {"disk": 2**63}, {"widest": 11}, {"widest": 0}, {"region": "x" * 201},
     {"kinds": ["no name"]}],
)  # fmt: skip
async def test_a_worker_that_makes_no_sense_is_not_let_in(resting: Engine, facts):
    with pytest.raises(InvalidInput):
        await join_as(resting, **facts)


async def test_a_worker_is_what_it_says_it_is(resting: Engine):
    worker = await join_as(
        resting, slots=104, widest=4, cpus=8, memory=2**33, gpus=2, disk=2**40, kind="metal", region="eu", zone="a",
        labels={"os": "linux"}, kinds=["function"],
    )  # fmt: skip
    offer = worker.offer
    assert (offer.slots, offer.cpus, offer.memory, offer.gpus, offer.disk) == (4, 8, 2**33, 2, 2**40)
    assert (offer.kind, offer.region, offer.zone, offer.labels) == ("metal", "eu", "a", {"os": "linux"})
