"""Submitting: group commit, bulk, idempotency."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from horae.engine.engine import Engine
from horae.model.errors import HoraeError, IdempotencyConflict, InvalidInput, InvalidParams, OutcomeUnknown, UnknownTask
from horae.model.job import MAX_PARAMS_BYTES, JobRequest, PlainRequest
from horae.model.states import State
from horae.model.task import TaskDefinition
from horae.model.unique import Unique

from .staging import ROOT, engine_config, join, resting_engine, submit


@pytest.fixture
async def ready_to_submit(resting: Engine) -> Engine:
    await join(resting, "work")
    await submit(resting)
    return resting


async def stored(conn) -> set[str]:
    return {row["id"] for row in await conn.fetch("select id::text from job")}


async def test_submits_that_arrive_together_share_their_commits(ready_to_submit: Engine, conn, monkeypatch):
    jobs, calls = ready_to_submit.submit._jobs, []
    real = jobs.job_submit

    async def counted(batch):
        calls.append(len(batch))
        await real(batch)

    monkeypatch.setattr(jobs, "job_submit", counted)
    ids = await asyncio.gather(*(submit(ready_to_submit) for _ in range(500)))
    assert len(set(ids)) == 500
    assert set(ids) <= await stored(conn)
    assert sum(calls) == 500
    assert len(calls) <= 5


async def test_an_answer_comes_only_after_the_commit(ready_to_submit: Engine, conn, monkeypatch):
    jobs, go = ready_to_submit.submit._jobs, asyncio.Event()
    real = jobs.job_submit

    async def held_up(batch):
        await go.wait()
        await real(batch)

    monkeypatch.setattr(jobs, "job_submit", held_up)
    submitting = asyncio.create_task(submit(ready_to_submit))
    done, _ = await asyncio.wait({submitting}, timeout=0.2)
    assert not done
    go.set()
    assert await submitting in await stored(conn)


async def test_a_job_that_the_database_refuses_does_not_fail_its_neighbours(ready_to_submit: Engine, conn):
    taken = await ready_to_submit.submit.prepare(ROOT, JobRequest(task="work"))
    await ready_to_submit.submit.store(taken)
    good = [await ready_to_submit.submit.prepare(ROOT, JobRequest(task="work")) for _ in range(20)]
    answers = await asyncio.gather(
        *(ready_to_submit.submit.store(job) for job in [*good[:10], taken, *good[10:]]), return_exceptions=True
    )
    refused = [answer for answer in answers if isinstance(answer, BaseException)]
    assert [type(error) for error in refused] == [InvalidInput]
    assert {job.id for job in good} <= await stored(conn)


async def test_a_bulk_answers_each_item_for_itself(ready_to_submit: Engine, conn):
    await ready_to_submit.tasks.register(
        1, TaskDefinition(name="strict", params_schema={"type": "object", "required": ["to"]})
    )
    bad = [
        (JobRequest(task="nosuch"), UnknownTask),
        (JobRequest(task="strict"), InvalidParams),
        (JobRequest(task="work", priority=11), InvalidInput),
        (JobRequest(task="work", concurrency_key="a\x00b"), InvalidInput),
        (JobRequest(task="work", labels={"a": "\x00"}), InvalidInput),
        (JobRequest(task="work", run_at=None, delay=-1), InvalidInput),
        (InvalidInput("was not even JSON"), InvalidInput),
    ]
    requests: list[JobRequest | HoraeError] = [JobRequest(task="work", params={"n": n}) for n in range(1300)]
    for place, (request, _) in enumerate(bad):
        requests.insert(place * 200, request)
    answers = await ready_to_submit.submit.many(ROOT, requests)
    assert [type(a) for a in answers if isinstance(a, HoraeError)] == [kind for _, kind in bad]
    assert {a.id for a in answers if not isinstance(a, HoraeError)} <= await stored(conn)
    assert len(answers) == 1307


async def test_plain_jobs_are_stored_as_the_same_jobs_one_by_one(ready_to_submit: Engine, conn):
    await ready_to_submit.tasks.register(1, TaskDefinition(name="tall", max_attempts=9, priority=7, timeout="3m"))
    params = [{"text": "ä\u20ac\x00\n" * (n % 3), "n": n} for n in range(400)]
    for task in ("work", "tall"):
        await ready_to_submit.submit.many(ROOT, [JobRequest(task=task)])
        ready_to_submit.tasks.forget()
        plain = await ready_to_submit.submit.plain(ROOT, [PlainRequest(task, each) for each in params])
        other = await ready_to_submit.submit.many(ROOT, [JobRequest(task=task, params=each) for each in params])
        assert [answer.state for answer in plain] == [State.READY] * 400
        assert await rows(conn, plain) == await rows(conn, other)


async def rows(conn, answers) -> list[tuple[object, ...]]:
    """What is stored of jobs, in the order of their answers; instants only by how they lie to each other."""
    found = await conn.fetch(
        """
        select j.tenant_id, j.lane_id, j.key_id, j.priority, j.params, j.options, r.lane_id, r.attempt,
            round((j.rank / 1000000.0 - extract(epoch from j.run_at))::numeric, 3) as ahead, r.rank = j.rank as same,
            abs(extract(epoch from j.run_at - clock_timestamp())) < 600 as now
        from unnest($1::uuid[]) with ordinality as asked (id, place) join job j using (id) join ready r using (id)
        order by asked.place
        """,
        [answer.id for answer in answers],
    )
    assert len(found) == len(answers)
    return [tuple(row) for row in found]


async def test_a_plain_bulk_that_needs_a_closer_look_stores_nothing(ready_to_submit: Engine, conn):
    strict = {"type": "object", "properties": {"to": {"type": "string"}}}
    await ready_to_submit.tasks.register(1, TaskDefinition(name="strict", params_schema=strict))
    await ready_to_submit.tasks.register(1, TaskDefinition(name="brief", expires_in="1h"))
    await ready_to_submit.tasks.register(1, TaskDefinition(name="alone", unique=Unique()))
    await ready_to_submit.submit.many(ROOT, [JobRequest(task=task) for task in ("strict", "brief")])
    before = await stored(conn)
    for task, odd in (
        ("work", PlainRequest("strict")), ("strict", PlainRequest("strict", {"to": 1})),
        ("nosuch", PlainRequest("nosuch")), ("brief", PlainRequest("brief")), ("alone", PlainRequest("alone")),
        ("work", PlainRequest("work", {"text": "x" * MAX_PARAMS_BYTES})),
    ):  # fmt: skip
        requests = [*[PlainRequest(task)] * 300, odd]
        assert await ready_to_submit.submit.plain(ROOT, requests) is None
    assert await stored(conn) == before


async def test_of_a_plain_bulk_that_fails_half_way_the_first_half_is_accepted(
    ready_to_submit: Engine, conn, monkeypatch
):
    jobs, real = ready_to_submit.submit._jobs, ready_to_submit.submit._jobs.job_submit_plain
    batches = []

    async def once(batch):
        batches.append(batch)
        if len(batches) > 1:
            raise OutcomeUnknown("gone")
        await real(batch)

    monkeypatch.setattr(jobs, "job_submit_plain", once)
    monkeypatch.setattr("horae.engine.submit.PLAIN_BATCH", 200)
    answers = await ready_to_submit.submit.plain(ROOT, [PlainRequest("work")] * 400)
    assert {answer.id for answer in answers[:200]} <= await stored(conn)
    assert [type(answer) for answer in answers[200:]] == [OutcomeUnknown] * 200


async def test_a_bulk_of_later_and_present_jobs_fills_both_tables(ready_to_submit: Engine, conn):
    requests = [JobRequest(task="work", delay=3600 if n % 2 else None) for n in range(400)]
    answers = await ready_to_submit.submit.many(ROOT, requests)
    assert [a.state for a in answers] == [State.SCHEDULED if n % 2 else State.READY for n in range(400)]
    assert await conn.fetchval("select count(*) from timer") == 200
    assert await conn.fetchval("select count(*) from ready") == 201


async def test_one_idempotency_key_makes_one_job_however_many_ask(ready_to_submit: Engine, conn):
    before = await stored(conn)
    answers = await asyncio.gather(
        *(ready_to_submit.submit.once(ROOT, JobRequest(task="work"), "k", b"body") for _ in range(64))
    )
    assert len({answer.id for answer in answers}) == 1
    assert sum(not answer.existing for answer in answers) == 1
    assert await stored(conn) - before == {answers[0].id}
    assert await conn.fetchval("select count(*) from ready") == 2


async def test_an_idempotency_key_with_another_body_is_refused(ready_to_submit: Engine):
    await ready_to_submit.submit.once(ROOT, JobRequest(task="work"), "k", b"one")
    with pytest.raises(IdempotencyConflict):
        await ready_to_submit.submit.once(ROOT, JobRequest(task="work"), "k", b"two")


async def test_an_idempotent_answer_tells_the_present_state(ready_to_submit: Engine):
    request = JobRequest(task="work", delay=3600)
    first = await ready_to_submit.submit.once(ROOT, request, "k", b"body")
    again = await ready_to_submit.submit.once(ROOT, request, "k", b"body")
    assert (again.id, again.state, again.existing) == (first.id, State.SCHEDULED, True)


async def test_bad_idempotency_keys_are_refused(ready_to_submit: Engine):
    for key in ("", "x" * 201, "a\x00"):
        with pytest.raises(InvalidInput):
            await ready_to_submit.submit.once(ROOT, JobRequest(task="work"), key, b"")


async def test_a_lost_answer_is_asked_again_and_the_job_exists_once(ready_to_submit: Engine, conn, monkeypatch):
    """The statement commits, the answer is lost: the second insert hits the same ids and knows why."""
    database = ready_to_submit.database
    real, calls = database.once, []

    async def lossy(name, *args, **more):
        rows = await real(name, *args, **more)
        calls.append(name)
        if len(calls) == 1:
            raise ConnectionResetError
        return rows

    monkeypatch.setattr(database, "once", lossy)
    job_id = await submit(ready_to_submit)
    assert await conn.fetchval("select count(*) from job where id = $1::uuid", job_id) == 1
    assert await conn.fetchval("select count(*) from ready where id = $1::uuid", job_id) == 1


@pytest.fixture
async def impatient(database: str, tmp_path: Path) -> AsyncIterator[Engine]:
    async with resting_engine(engine_config(database, tmp_path, patience_seconds=0.5)) as engine:
        await join(engine, "work")
        await submit(engine)
        yield engine


async def test_a_store_that_cannot_be_written_is_not_the_jobs_fault(impatient: Engine, conn):
    """After a failover the old primary is read-only: the client must learn that it may try again."""
    name = await conn.fetchval("select current_database()")
    await conn.execute(f"alter database {name} set default_transaction_read_only = on")
    await conn.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()", name
    )
    with pytest.raises(HoraeError) as refused:
        await submit(impatient)
    assert refused.value.status >= 500
    await conn.execute("set default_transaction_read_only = off")
    await conn.execute(f"alter database {name} set default_transaction_read_only = off")


async def test_what_comes_from_the_task_is_filled_in(resting: Engine):
    definition = TaskDefinition(name="slow", queue="nights", priority=2, max_attempts=7, timeout="90s")
    await resting.tasks.register(1, definition)
    job = await resting.submit.prepare(ROOT, JobRequest(task="slow"))
    assert job.priority == 2
    assert job.options == '{"max_attempts":7,"timeout":90.0}'
    assert resting.lanes.key(job.lane_id).queue == "nights"
    other = await resting.submit.prepare(ROOT, JobRequest(task="slow", queue="days", priority=9, max_attempts=1))
    assert (other.priority, other.options) == (9, '{"max_attempts":1,"timeout":90.0}')
    assert resting.lanes.key(other.lane_id).queue == "days"


async def test_a_bulk_of_many_tenants_asks_once_for_their_tasks(ready_to_submit: Engine, conn, monkeypatch):
    names = [f"guest-{n}" for n in range(20)]
    await conn.executemany("insert into tenant (name) values ($1)", [(name,) for name in names])
    await ready_to_submit.tasks.register(0, TaskDefinition(name="common"))
    await ready_to_submit.access.list_tenants(ROOT)
    requests = [JobRequest(task="common", tenant=name) for name in names for _ in range(2)]
    await ready_to_submit.submit.many(ROOT, requests)  # by now the tenants are known
    ready_to_submit.tasks.forget()
    asked = []
    for name in ("task_get", "task_get_many"):
        monkeypatch.setattr(ready_to_submit.tasks._control, name, _noted(ready_to_submit.tasks._control, name, asked))

    answers = await ready_to_submit.submit.many(ROOT, requests)

    assert asked == ["task_get_many"]
    assert not [answer for answer in answers if isinstance(answer, HoraeError)]
    counts = await conn.fetch(
        "select count(*) from job j join tenant t on t.id = j.tenant_id where t.name like 'guest%' group by t.id"
    )
    assert [row["count"] for row in counts] == [4] * 20


def _noted(control, name: str, asked: list[str]):
    ask = getattr(control, name)

    async def noted(*given):
        asked.append(name)
        return await ask(*given)

    return noted
