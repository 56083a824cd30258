"""Uniqueness: of jobs that are the same there is one, for as long as its terms say."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from horae.engine.engine import Engine
from horae.model.errors import DuplicateJob, IdempotencyConflict, InvalidInput
from horae.model.job import JobRequest
from horae.model.states import State
from horae.model.task import TaskDefinition
from horae.model.unique import OnConflict, Unique, UniqueWhile

from .staging import ROOT, done, duty, engine_config, join, resting_engine, take_one


def request(unique: Unique | None = None, **more: Any) -> JobRequest:
    return JobRequest(task="work", params={"customer": 42, **more.pop("params", {})}, unique=unique, **more)


async def state_of(engine: Engine, job_id: str) -> State:
    row = await engine.steer.get(ROOT, UUID(job_id))
    return State(row["outcome"]) if row["outcome"] else State.SCHEDULED if row["timer_at"] else State.READY


async def test_a_second_submit_gives_back_the_job_that_waits(resting: Engine):
    await join(resting)
    first = await resting.submit.one(ROOT, request(Unique()))
    second = await resting.submit.one(ROOT, request(Unique()))
    assert (second.id, second.existing, second.state) == (first.id, True, State.READY)
    assert not first.existing


async def test_other_params_are_another_job_unless_they_do_not_count(resting: Engine):
    await join(resting)
    by = Unique(by=["customer"])
    first = await resting.submit.one(ROOT, request(by, params={"note": 1}))
    same = await resting.submit.one(ROOT, request(by, params={"note": 2}))
    other = await resting.submit.one(ROOT, request(by, params={"customer": 43}))
    whole = await resting.submit.one(ROOT, request(Unique(), params={"note": 1}))
    assert same.id == first.id
    assert len({first.id, other.id, whole.id}) == 3


async def test_a_name_that_is_no_parameter_is_refused(resting: Engine):
    await join(resting)
    with pytest.raises(InvalidInput, match="custmer"):
        await resting.submit.one(ROOT, request(Unique(by=["custmer"])))


async def test_a_job_that_ended_keeps_nobody_away(resting: Engine):
    session = await join(resting)
    first = await resting.submit.one(ROOT, request(Unique()))
    grant = await take_one(resting, session)
    assert (await resting.submit.one(ROOT, request(Unique()))).id == first.id
    await resting.complete.attempts(session.worker_id, [done(grant)])
    assert (await resting.submit.one(ROOT, request(Unique()))).id != first.id


async def test_a_period_keeps_others_away_whatever_became_of_the_job(resting: Engine, conn):
    session = await join(resting)
    hour = Unique(period="1h")
    first = await resting.submit.one(ROOT, request(hour))
    await resting.complete.attempts(session.worker_id, [done(await take_one(resting, session))])
    second = await resting.submit.one(ROOT, request(hour))
    assert (second.id, second.state) == (first.id, State.SUCCEEDED)
    await conn.execute("update unique_key set until = clock_timestamp()")
    assert (await resting.submit.one(ROOT, request(hour))).id != first.id


async def test_while_waiting_lets_another_wait_behind_one_that_runs(resting: Engine):
    session = await join(resting)
    waiting = Unique(during=UniqueWhile.WAITING)
    first = await resting.submit.one(ROOT, request(waiting))
    await take_one(resting, session)
    second = await resting.submit.one(ROOT, request(waiting))
    third = await resting.submit.one(ROOT, request(waiting))
    assert first.id != second.id == third.id


async def test_while_running_keeps_others_away_from_one_that_runs_though_others_wait(resting: Engine):
    session = await join(resting)
    running = Unique(during=UniqueWhile.RUNNING)
    first = await resting.submit.one(ROOT, request(running))
    second = await resting.submit.one(ROOT, request(running))
    assert first.id != second.id
    grant = await take_one(resting, session)
    third = await resting.submit.one(ROOT, request(running))
    assert (third.id, third.existing) == (grant.id, True)


async def test_reject_says_which_job_is_there(resting: Engine):
    await join(resting)
    first = await resting.submit.one(ROOT, request(Unique()))
    with pytest.raises(DuplicateJob) as refused:
        await resting.submit.one(ROOT, request(Unique(on_conflict=OnConflict.REJECT)))
    assert refused.value.extra["job_id"] == first.id


async def test_replace_cancels_the_one_that_waits(resting: Engine):
    await join(resting)
    terms = Unique(by=["customer"], on_conflict=OnConflict.REPLACE)
    first = await resting.submit.one(ROOT, request(terms, params={"n": 1}))
    second = await resting.submit.one(ROOT, request(terms, params={"n": 2}))
    assert (await state_of(resting, first.id), await state_of(resting, second.id)) == (State.CANCELLED, State.READY)
    assert not second.existing


@pytest.mark.parametrize("what", [OnConflict.REPLACE, OnConflict.DEBOUNCE])
async def test_one_that_runs_can_be_neither_replaced_nor_debounced(resting: Engine, what: OnConflict):
    session = await join(resting)
    await resting.submit.one(ROOT, request(Unique()))
    await take_one(resting, session)
    with pytest.raises(DuplicateJob, match="during = waiting"):
        await resting.submit.one(ROOT, request(Unique(on_conflict=what)))


async def test_debounce_keeps_one_job_with_the_latest_params_and_pushes_its_time(resting: Engine):
    await join(resting)
    terms = Unique(by=["customer"], on_conflict=OnConflict.DEBOUNCE)
    first = await resting.submit.one(ROOT, request(terms, params={"n": 1}, delay="30s"))
    due = (await resting.steer.get(ROOT, UUID(first.id)))["timer_at"]
    second = await resting.submit.one(ROOT, request(terms, params={"n": 2}, delay="60s"))
    row = await resting.steer.get(ROOT, UUID(first.id))
    assert (second.id, second.existing) == (first.id, True)
    assert row["timer_at"] - due > timedelta(seconds=29)
    assert '"n":2' in row["params"]


async def test_debounce_stops_pushing_at_its_maximum(resting: Engine):
    await join(resting)
    terms = Unique(by=[], on_conflict=OnConflict.DEBOUNCE, max_wait="60s")
    first = await resting.submit.one(ROOT, request(terms, delay="30s"))
    await resting.submit.one(ROOT, request(terms, delay="1h"))
    row = await resting.steer.get(ROOT, UUID(first.id))
    assert row["timer_at"] - resting.clock.now() < timedelta(seconds=61)


async def test_what_a_task_is_unique_by_holds_for_all_its_jobs(resting: Engine):
    tenant_id = await resting.access.tenant_for(ROOT, None)
    await resting.tasks.register(tenant_id, TaskDefinition(name="nightly", unique=Unique(by=[])))
    first = await resting.submit.one(ROOT, JobRequest(task="nightly", params={"a": 1}))
    second = await resting.submit.one(ROOT, JobRequest(task="nightly", params={"a": 2}))
    assert second.id == first.id


async def test_a_bulk_submit_answers_each_of_its_items(resting: Engine):
    await join(resting)
    reject = Unique(on_conflict=OnConflict.REJECT)
    items = [request(Unique()), request(), request(Unique()), request(reject)]
    one, plain, same, refused = await resting.submit.many(ROOT, items)
    assert same.id == one.id != plain.id
    assert (one.existing, same.existing) == (False, True)
    assert isinstance(refused, DuplicateJob)


async def test_an_idempotency_key_stands_for_the_job_that_uniqueness_gave(resting: Engine):
    await join(resting)
    first = await resting.submit.one(ROOT, request(Unique()))
    given = await resting.submit.once(ROOT, request(Unique()), "key", b"body")
    await resting.steer.cancel(ROOT, UUID(first.id), "")
    again = await resting.submit.once(ROOT, request(Unique()), "key", b"body")
    assert given.id == again.id == first.id
    with pytest.raises(IdempotencyConflict):
        await resting.submit.once(ROOT, request(Unique()), "key", b"another body")


async def test_a_refused_duplicate_leaves_its_idempotency_key_unused(resting: Engine):
    await join(resting)
    first = await resting.submit.one(ROOT, request(Unique()))
    reject = request(Unique(on_conflict=OnConflict.REJECT))
    with pytest.raises(DuplicateJob):
        await resting.submit.once(ROOT, reject, "key", b"body")
    await resting.steer.cancel(ROOT, UUID(first.id), "")
    assert not (await resting.submit.once(ROOT, reject, "key", b"body")).existing


async def test_fifty_submits_at_once_on_two_servers_give_one_job(database: str, tmp_path: Path):
    config = engine_config(database, tmp_path)
    async with resting_engine(config) as here, resting_engine(config) as there:
        await join(here)
        answers = await asyncio.gather(
            *(engine.submit.one(ROOT, request(Unique())) for _ in range(25) for engine in (here, there))
        )
    assert len({answer.id for answer in answers}) == 1
    assert sum(not answer.existing for answer in answers) == 1


async def test_replacing_at_once_on_two_servers_leaves_one_that_waits(database: str, tmp_path: Path, conn):
    config = engine_config(database, tmp_path)
    terms = Unique(on_conflict=OnConflict.REPLACE)
    async with resting_engine(config) as here, resting_engine(config) as there:
        await join(here)
        await asyncio.gather(*(engine.submit.one(ROOT, request(terms)) for _ in range(10) for engine in (here, there)))
    assert await conn.fetchval("select count(*) from ready") == 1
    assert await conn.fetchval("select count(*) from outcome where state = 'cancelled'") == 19


async def test_keys_whose_jobs_have_ended_are_forgotten_and_no_others(resting: Engine, conn):
    session = await join(resting)
    for n in range(3):
        await resting.submit.one(ROOT, request(Unique(), params={"customer": n}))
    await resting.submit.one(ROOT, request(Unique(period="1h"), params={"customer": 9}))
    for number in range(4):
        grant = await take_one(resting, session, number + 1)
        if b'"customer":0' not in bytes(grant.params):
            await resting.complete.attempts(session.worker_id, [done(grant)])
    assert await duty(resting, "uniques").run_once() == {"forgotten": 2}
    assert await conn.fetchval("select count(*) from unique_key") == 2
