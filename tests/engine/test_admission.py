"""Admission: quotas and overload, before anything is stored; and shedding, which is told to everybody."""

import asyncio
from itertools import product
from pathlib import Path
from uuid import UUID

import msgspec
import pytest

from horae.engine.access import Caller
from horae.engine.admission import Admission
from horae.engine.engine import Engine
from horae.model.errors import Forbidden, InvalidInput, NotFound, Overloaded, QuotaExceeded
from horae.model.job import JobRequest
from horae.model.quota import Quota, Scope
from horae.model.roles import Role
from horae.model.states import State
from horae.testing.waiting import wait_for

from .staging import ROOT, duty, engine_config, join, resting_engine, submit


async def caller(engine: Engine, name: str, tenant: str | None = None, role: Role = Role.ADMIN) -> Caller:
    _, secret = await engine.access.create_key(None, name, role, tenant, None)
    return await engine.access.caller(secret)


@pytest.fixture
async def quotas(resting: Engine) -> Engine:
    await join(resting, "work")
    await resting.access.create_tenant(None, "red")
    return resting


async def set_quota(engine: Engine, scope: str, name: str, tenant: str | None = None, **limits) -> None:
    await engine.quotas.put(ROOT, scope, name, tenant, **limits)
    await duty(engine, "quotas").run_once()


async def stored(conn) -> int:
    return await conn.fetchval("select count(*) from job")


async def accepted(engine: Engine, by: Caller, count: int, **request) -> int:
    answers = await engine.submit.many(by, [JobRequest(task="work", **request)] * count)
    refused = [answer for answer in answers if isinstance(answer, Exception)]
    assert all(isinstance(error, QuotaExceeded) for error in refused)
    first = next((i for i, answer in enumerate(answers) if isinstance(answer, Exception)), count)
    assert first == count - len(refused), "what is left goes to the first"
    return count - len(refused)


async def test_without_quotas_admission_is_never_asked(quotas: Engine, monkeypatch):
    asked = []
    monkeypatch.setattr(Admission, "admit", lambda *args, **more: asked.append(args))
    await duty(quotas, "quotas").run_once()
    await submit(quotas)
    await quotas.submit.many(ROOT, [JobRequest(task="work")] * 500)
    await quotas.submit.once(ROOT, JobRequest(task="work"), "k", b"")
    assert asked == []
    assert not quotas.admission.active


async def test_a_bulk_of_a_caller_whom_no_quota_concerns_is_not_asked_item_by_item(quotas: Engine, monkeypatch):
    red = await caller(quotas, "ci", "red")
    await set_quota(quotas, "tenant", "default", submit_rate=1)
    await set_quota(quotas, "queue", "busy", "default", max_pending=5)
    asked = []
    real = Admission.admit
    monkeypatch.setattr(Admission, "admit", lambda *args, **more: asked.append(args) or real(*args, **more))
    assert await accepted(quotas, red, 300) == 300
    assert asked == []
    assert await accepted(quotas, ROOT, 3) == 1


@pytest.mark.parametrize(
    ("scope", "name", "tenant"), [("tenant", "red", None), ("user", "ci", "red"), ("queue", "mail", "red"),
                                  ("queue", "mail", None)]
)  # fmt: skip
async def test_a_rate_lets_its_burst_through_and_no_more(quotas: Engine, conn, scope, name, tenant):
    red = await caller(quotas, "ci", "red")
    await set_quota(quotas, scope, name, tenant, submit_rate="60/h", burst=4)
    for _ in range(3):
        await submit(quotas, by=red, queue="mail")
    assert await accepted(quotas, red, 5, queue="mail") == 1
    with pytest.raises(QuotaExceeded) as refused:
        await submit(quotas, by=red, queue="mail")
    extra = refused.value.extra
    assert (extra["scope"], extra["limit"], extra["window"], extra["remaining"]) == (scope, 1, 60, 0)
    assert 50 < extra["retry_after"] <= 60
    assert await stored(conn) == 4
    # Others are not concerned.
    await submit(quotas, queue="elsewhere")


async def test_a_rate_comes_back_with_time(quotas: Engine):
    await set_quota(quotas, "tenant", "default", submit_rate=20, burst=1)
    await submit(quotas)
    for _ in range(500):
        try:
            await submit(quotas)
            break
        except QuotaExceeded:
            await asyncio.sleep(0.01)  # The bucket has a clock of its own.
    else:
        pytest.fail("no token came back")


async def test_all_quotas_of_a_job_hold_and_a_refusal_by_one_costs_the_others_nothing(quotas: Engine):
    red = await caller(quotas, "ci", "red")
    await set_quota(quotas, "tenant", "red", submit_rate="1/h", burst=10)
    await set_quota(quotas, "user", "ci", "red", submit_rate="1/h", burst=3)
    assert await accepted(quotas, red, 20) == 3
    other = await caller(quotas, "ci-2", "red")
    assert await accepted(quotas, other, 20) == 7


async def test_keys_of_one_name_share_their_users_quota(quotas: Engine):
    old, new = await caller(quotas, "ci", "red"), await caller(quotas, "ci", "red")
    await set_quota(quotas, "user", "ci", "red", submit_rate="1/h", burst=5)
    assert await accepted(quotas, old, 3) + await accepted(quotas, new, 9) == 5


async def test_each_of_several_servers_gives_its_share(quotas: Engine, start_engine):
    await set_quota(quotas, "tenant", "default", submit_rate="1/h", burst=10)
    other = await start_engine()
    await duty(other, "presence").run_once()
    await duty(quotas, "presence").run_once()
    assert await accepted(quotas, ROOT, 20) == 5
    await other._presence.leave()
    await duty(quotas, "presence").run_once()
    assert quotas.admission._servers == 1


async def test_a_server_that_says_nothing_for_a_while_no_longer_counts(quotas: Engine, conn):
    await conn.execute(
        "insert into server (id, host, pid, version, seen_at) values "
        "(gen_random_uuid(), 'h', 1, '0', now() - interval '16 seconds'), (gen_random_uuid(), 'h', 2, '0', now())"
    )
    await duty(quotas, "presence").run_once()
    assert quotas.admission._servers == 2


async def test_a_changed_quota_keeps_nothing_of_the_old_and_an_unchanged_one_keeps_its_tokens(quotas: Engine):
    await set_quota(quotas, "tenant", "default", submit_rate="1/h", burst=5)
    assert await accepted(quotas, ROOT, 3) == 3
    await duty(quotas, "quotas").run_once()
    assert await accepted(quotas, ROOT, 9) == 2
    await set_quota(quotas, "tenant", "default", submit_rate="1/h", burst=2)
    assert await accepted(quotas, ROOT, 9) == 2
    await quotas.quotas.remove(ROOT, "tenant", "default", None)
    await duty(quotas, "quotas").run_once()
    assert await accepted(quotas, ROOT, 9) == 9
    assert not quotas.admission.active


@pytest.mark.parametrize(("scope", "name", "tenant"), [("tenant", "red", None), ("queue", "mail", "red"),
                                                       ("queue", "mail", None), ("user", "ci", "red")])  # fmt: skip
async def test_no_more_jobs_wait_than_may(quotas: Engine, conn, scope, name, tenant):
    red = await caller(quotas, "ci", "red")
    await set_quota(quotas, scope, name, tenant, max_pending=5)
    assert await accepted(quotas, red, 3, queue="mail") == 3
    await duty(quotas, "quotas").run_once()
    assert await accepted(quotas, red, 9, queue="mail", delay=60) == 2
    await duty(quotas, "quotas").run_once()
    with pytest.raises(QuotaExceeded, match="pending"):
        await submit(quotas, by=red, queue="mail")
    # Two are taken by a worker.
    lane_id = await conn.fetchval("select max(lane_id) from ready")
    await conn.execute("delete from ready where id in (select id from ready limit 2)")
    quotas.tally.started(lane_id, 2)
    duty(quotas, "quotas")._clean_at = 0.0
    await duty(quotas, "quotas").run_once()
    assert await accepted(quotas, red, 9, queue="mail") == 2
    assert await stored(conn) == 7


async def test_only_a_key_of_no_tenant_sets_a_tenants_quota(quotas: Engine):
    red = await caller(quotas, "boss", "red")
    with pytest.raises(Forbidden):
        await quotas.quotas.put(red, "tenant", "red", None, submit_rate=1e6)
    with pytest.raises(Forbidden):
        await quotas.quotas.remove(red, "tenant", "red", None)
    with pytest.raises(Forbidden):
        await quotas.quotas.put(red, "queue", "mail", "default", max_pending=1)
    await quotas.quotas.put(red, "queue", "mail", None, max_pending=1)
    (row,) = await quotas.quotas.list_all(red.tenant_id)
    assert (row["scope"], row["tenant"], row["name"], row["updated_by"]) == ("queue", "red", "mail", "boss")


@pytest.mark.parametrize(
    "wrong",
    [{}, {"submit_rate": 0}, {"submit_rate": -1}, {"submit_rate": "fast"}, {"submit_rate": 1, "burst": 0},
     {"burst": 5}, {"max_pending": -1}, {"submit_rate": float("inf")}],
)  # fmt: skip
async def test_a_quota_that_makes_no_sense_is_refused(quotas: Engine, wrong):
    with pytest.raises(InvalidInput):
        await quotas.quotas.put(ROOT, "queue", "mail", None, **wrong)


async def test_what_is_not_there_cannot_be_limited_or_removed(quotas: Engine):
    with pytest.raises(InvalidInput, match="scope"):
        await quotas.quotas.put(ROOT, "planet", "earth", None, max_pending=1)
    with pytest.raises(NotFound):
        await quotas.quotas.put(ROOT, "tenant", "nobody", None, max_pending=1)
    with pytest.raises(NotFound):
        await quotas.quotas.remove(ROOT, "queue", "nowhere", None)


# Overload.


async def overloaded_at(engine: Engine) -> list[int]:
    refused = []
    for priority in range(1, 11):
        try:
            await submit(engine, priority=priority)
        except Overloaded as error:
            refused.append((priority, error.extra["retry_after"]))
    assert all(wait >= 1 for _, wait in refused)
    return [priority for priority, _ in refused]


def limited(database: str, folder: Path, **more):
    return resting_engine(msgspec.structs.replace(engine_config(database, folder), **more))


async def test_the_fuller_the_house_the_higher_the_priorities_that_are_refused(database, tmp_path):
    async with limited(database, tmp_path, max_pending=100) as engine:
        await join(engine, "work")
        await engine.submit.many(ROOT, [JobRequest(task="work")] * 75)
        await duty(engine, "quotas").run_once()
        assert await overloaded_at(engine) == []
        await duty(engine, "quotas").run_once()
        assert await overloaded_at(engine) == [1, 2, 3, 4]
        await engine.submit.many(ROOT, [JobRequest(task="work", priority=9)] * 20)
        await duty(engine, "quotas").run_once()
        assert await overloaded_at(engine) == list(range(1, 11))


async def test_submits_that_pile_up_are_refused_by_priority_too(quotas: Engine, monkeypatch):
    under_way, go, real = asyncio.Event(), asyncio.Event(), quotas.submit._jobs.job_submit

    async def held_up(batch):
        under_way.set()
        await go.wait()
        await real(batch)

    monkeypatch.setattr(quotas.submit._jobs, "job_submit", held_up)
    monkeypatch.setattr("horae.engine.groupcommit.MAX_WAITING", 20)
    monkeypatch.setattr("horae.engine.groupcommit.STRAINED_WAITING", 16)
    first = asyncio.create_task(submit(quotas))
    await under_way.wait()
    waiting = [asyncio.create_task(submit(quotas)) for _ in range(17)]
    await wait_for(lambda: len(quotas.submit._commits._waiting) == 17)
    with pytest.raises(Overloaded):
        await submit(quotas, priority=4)
    urgent = asyncio.create_task(submit(quotas, priority=8))
    await wait_for(lambda: len(quotas.submit._commits._waiting) == 18)
    go.set()
    assert len(set(await asyncio.gather(first, urgent, *waiting))) == 19


def test_slow_storing_strains_for_a_moment_and_never_refuses_the_highest():
    admission = Admission()
    admission.flushed(0.5)
    assert not admission.active
    admission.flushed(60.0)
    assert admission.active
    with pytest.raises(Overloaded):
        admission.admit(1, "default", None, 8)
    admission.admit(1, "default", None, 9)


async def test_shedding_takes_the_lowest_priorities_first_and_leaves_word_of_each(database, tmp_path, conn):
    async with limited(database, tmp_path, max_pending=10, shed=True) as engine:
        await join(engine, "work", "other")
        ids: dict[int, list[str]] = {2: [], 4: [], 10: []}
        for task, priority in product(("work", "other"), ids):
            ids[priority] += [await submit(engine, task, priority=priority) for _ in range(4)]
        engine.admission.max_pending = 13
        await duty(engine, "quotas").run_once()
        assert (await duty(engine, "shedding").run_once())["shed"] == 11
        left = {str(row["id"]) for row in await conn.fetch("select id from ready")}
        assert left.isdisjoint(ids[2])
        assert len(left & set(ids[4])) == 5
        assert left >= set(ids[10])
        row = await engine.steer.get(ROOT, UUID(ids[2][0]))
        assert row["outcome"] == State.DROPPED
        assert msgspec.json.decode(row["error"])["kind"] == "shed"
        await duty(engine, "quotas").run_once()
        assert engine.admission.total_pending == 13
        assert await duty(engine, "shedding").run_once() == {}
        await engine.steer.retry(ROOT, UUID(ids[2][0]), {})
        assert await conn.fetchval("select count(*) from ready where id = $1", ids[2][0]) == 1


async def test_of_two_servers_that_see_the_same_excess_one_sheds_it(database, tmp_path, conn):
    """Both look; A sheds and lets go; B comes to it with what it saw before."""
    over = {"max_pending": 100, "shed": True}
    async with limited(database, tmp_path, **over) as first, limited(database, tmp_path, **over) as second:
        await join(first, "work")
        for _ in range(12):
            await submit(first, priority=2)
        for engine in (first, second):
            await duty(engine, "quotas").run_once()
            engine.admission.max_pending = 8
        await duty(second, "quotas").run_once()
        assert second.admission.total_pending == 12
        assert (await duty(first, "shedding").run_once())["shed"] == 4
        assert await duty(second, "shedding").run_once() == {}
        await conn.execute("delete from sole_duty")
        assert (await duty(second, "shedding").run_once())["shed"] == 0
        assert await conn.fetchval("select count(*) from ready") == 8


async def test_nothing_is_shed_unless_the_operator_allowed_it(database, tmp_path, conn):
    async with limited(database, tmp_path, max_pending=10) as engine:
        await join(engine, "work")
        for _ in range(8):
            await submit(engine, priority=9)
        engine.admission.max_pending = 2
        await duty(engine, "quotas").run_once()
        assert await duty(engine, "shedding").run_once() == {}
        assert await conn.fetchval("select count(*) from ready") == 8


async def test_the_highest_priorities_are_never_shed(database, tmp_path, conn):
    async with limited(database, tmp_path, max_pending=100, shed=True) as engine:
        await join(engine, "work")
        for _ in range(6):
            await submit(engine, priority=9)
        engine.admission.max_pending = 2
        await duty(engine, "quotas").run_once()
        assert (await duty(engine, "shedding").run_once())["shed"] == 0
        assert await conn.fetchval("select count(*) from ready") == 6


def test_a_quota_counts_for_its_scope_alone():
    admission = Admission()
    admission.set_quotas([(Quota(scope=Scope.QUEUE, tenant_id=2, name="mail", submit_rate=0.001, burst=1), [])])
    assert admission.concerns(1, 2)
    assert not admission.concerns(1, 3)
    assert admission.concerns(1, None), "a key of no tenant may submit to any"
    admission.admit(2, "mail", 1, 5)
    admission.admit(2, "other", 1, 5)
    with pytest.raises(QuotaExceeded):
        admission.admit(2, "mail", 1, 5)
