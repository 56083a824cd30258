"""Bulk actions: previewed, carried out once for each job whatever crashes, stopped, undone."""

import asyncio
import time
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
import pytest

from horae.engine.actions import ActionRequest
from horae.engine.actionwork import BATCH, HORIZON
from horae.engine.engine import Engine
from horae.engine.lists import JobFilter, states_of
from horae.model.actions import ActionKind
from horae.model.errors import InvalidInput, NotFound, StoreUnavailable, WrongState
from horae.model.ids import JobIds
from horae.model.job import JobRequest
from horae.model.states import End, State
from horae.model.task import TaskDefinition
from horae.model.work import JobError
from horae.testing.waiting import wait_for

from .staging import ROOT, done, duty, engine_config, join, resting_engine, submit


def request(kind: ActionKind, status: str | None = None, **more: Any) -> ActionRequest:
    names = ("task", "queue", "cause", "ids", "labels", "since", "until")
    wanted = {name: more.pop(name) for name in names if name in more}
    states = states_of(status) if status else None
    return ActionRequest(kind=kind, wanted=JobFilter(states=states, **wanted), **more)


async def run(engine: Engine, kind: ActionKind, status: str | None = None, **more: Any) -> asyncpg.Record:
    """Makes an action and lets the duty work until nothing is left to do now."""
    made = await engine.actions.create(ROOT, request(kind, status, **more))
    await work(engine)
    return await engine.actions.get(ROOT, made["id"])


async def work(engine: Engine) -> None:
    while any((await duty(engine, "actions").run_once()).values()):
        pass


async def many(engine: Engine, count: int, **request: Any) -> list[str]:
    answers = await engine.submit.many(ROOT, [JobRequest(task="work", **request) for _ in range(count)])
    return [answer.id for answer in answers]


async def fail(engine: Engine, count: int, message: str = "it broke") -> list[str]:
    """Failed jobs."""
    session = await join(engine)
    await many(engine, count)
    grants = []
    while len(grants) < count:
        grants += await engine.dispatch.take(session, len(grants) + 1, count)
    error = JobError("Boom", message)
    assert await engine.complete.attempts(session.worker_id, [done(g, End.FATAL, error=error) for g in grants]) == []
    return [grant.id for grant in grants]


async def count(conn: asyncpg.Connection, table: str) -> int:
    return await conn.fetchval(f"select count(*) from {table}")


async def test_a_preview_counts_what_the_action_then_acts_on(resting: Engine, conn):
    await join(resting, "work", "other")
    await many(resting, BATCH + 50)
    await many(resting, 20, delay="1h")
    await submit(resting, "other")
    tenant, found = await resting.actions.preview(ROOT, request(ActionKind.CANCEL, "pending", task="work"))
    assert (tenant, found.count, found.more, len(found.sample)) == ("default", BATCH + 70, False, 10)
    assert await count(conn, "outcome") == 0
    action = await run(resting, ActionKind.CANCEL, "pending", task="work")
    assert (action["state"], action["done"], action["total"]) == ("done", found.count, found.count)
    assert await count(conn, "outcome") == found.count
    assert await count(conn, "ready") == 1


async def test_jobs_made_after_the_action_are_left_alone(resting: Engine, conn):
    await join(resting)
    await many(resting, 3)
    made = await resting.actions.create(ROOT, request(ActionKind.CANCEL, "pending"))
    made_in = made["id"].int >> 80
    await wait_for(lambda: resting.clock.unix() * 1000 >= made_in + 1, interval=0.001, what="an id of a later time")
    late = await submit(resting)
    await work(resting)
    assert (await resting.actions.get(ROOT, made["id"]))["done"] == 3
    assert [str(row["id"]) for row in await conn.fetch("select id from ready")] == [late]


async def test_running_jobs_are_asked_to_stop(resting: Engine, conn):
    session = await join(resting)
    await many(resting, 2)
    await resting.dispatch.take(session, 1, 1)
    action = await run(resting, ActionKind.CANCEL, task="work", reason="wrong input")
    assert action["done"] == 2
    assert "wrong input" in await conn.fetchval("select reason from cancel_request")


async def test_two_servers_share_the_work_and_act_on_each_job_once(database: str, tmp_path: Path, conn):
    config = engine_config(database, tmp_path)
    async with resting_engine(config) as here, resting_engine(config) as there:
        ids = await fail(here, BATCH + 100)
        made = await here.actions.create(ROOT, request(ActionKind.REDRIVE, rate=100_000))
        await asyncio.gather(work(here), work(there))
        action = await there.actions.get(ROOT, made["id"])
    assert (action["state"], action["seen"], action["done"]) == ("done", len(ids), len(ids))
    assert await count(conn, "outcome") == 0
    assert await count(conn, "attempt") == len(ids)


async def test_a_crash_in_the_middle_of_a_batch_loses_and_repeats_nothing(database: str, tmp_path: Path, conn):
    """The server dies after it has acted on jobs, before the commit: none of it happened, and another one goes on."""
    config = engine_config(database, tmp_path)
    async with resting_engine(config) as there:
        await join(there)
        await many(there, BATCH * 2 + 10)
        async with resting_engine(config) as here:
            made = await here.actions.create(ROOT, request(ActionKind.CANCEL, "pending"))
            step = duty(here, "actions")._work.step
            assert await step() is not None
            assert await step() is not None
            async with conn.transaction():
                await conn.execute("select from job order by id limit 1 for update")  # Of the last batch.
                dying = asyncio.create_task(step())
                await wait_for(lambda: conn.fetchval("select count(*) from pg_locks where not granted"))
                dying.cancel()
                await asyncio.gather(dying, return_exceptions=True)
        assert (await there.actions.get(ROOT, made["id"]))["done"] == BATCH * 2
        await work(there)
        action = await there.actions.get(ROOT, made["id"])
    total = BATCH * 2 + 10
    assert (action["state"], action["seen"], action["done"], action["skipped"]) == ("done", total, total, 0)
    assert await count(conn, "outcome") == total


async def test_a_cancel_of_waiting_jobs_can_be_undone(resting: Engine, conn):
    session = await join(resting)
    await many(resting, 5)
    later = await many(resting, 5, delay="1h")
    due = {row["id"]: row["run_at"] for row in await conn.fetch("select id, run_at from timer")}
    action = await run(resting, ActionKind.CANCEL, "pending")
    assert action["undo_until"] - action["finished_at"] == timedelta(hours=1)
    await resting.actions.undo(ROOT, action["id"])
    await work(resting)
    action = await resting.actions.get(ROOT, action["id"])
    assert (action["state"], action["undone"]) == ("undone", 10)
    assert await count(conn, "outcome") == 0
    assert {row["id"]: row["run_at"] for row in await conn.fetch("select id, run_at from timer")} == due
    assert {str(job) for job in due} == set(later)
    assert len(await resting.dispatch.take(session, 1, 10)) == 5


async def old_job(engine: Engine, conn: asyncpg.Connection) -> str:
    """A waiting job of a day past retention that is still there."""
    made = engine.clock.now() - timedelta(days=40)
    await conn.execute("select partition_create($1)", made.date())
    job = await engine.submit.prepare(ROOT, JobRequest(task="work"))
    await engine.submit.store(job._replace(id=JobIds().make(made.timestamp())))
    return job.id


async def test_an_undo_while_a_day_is_taken_out_revives_none_of_its_jobs(resting: Engine, conn, monkeypatch):
    """The duty reads who lives of the day; the action is undone; the day is detached with those who lived."""
    await join(resting)
    await old_job(resting, conn)
    await submit(resting)
    action = await run(resting, ActionKind.CANCEL, "pending")
    real = resting.database.fetch

    async def fetch(name: str, *args: Any, **more: Any) -> Any:
        rows = await real(name, *args, **more)
        if name == "alive_before":
            await resting.actions.undo(ROOT, action["id"])
            await work(resting)
        return rows

    monkeypatch.setattr(resting.database, "fetch", fetch)
    assert (await duty(resting, "partitions").run_once())["dropped"] == 1
    action = await resting.actions.get(ROOT, action["id"])
    assert (action["state"], action["undone"], action["failed"]) == ("undone", 1, 1)
    assert "retention" in action["note"]
    assert await conn.fetchval("select count(*) from ready join job using (id)") == await count(conn, "ready") == 1


async def test_a_job_that_has_outlived_its_day_is_brought_back_by_an_undo(resting: Engine, conn):
    await join(resting)
    await old_job(resting, conn)
    assert (await duty(resting, "partitions").run_once())["dropped"] == 1
    action = await run(resting, ActionKind.CANCEL, "pending")
    await resting.actions.undo(ROOT, action["id"])
    await work(resting)
    assert (await resting.actions.get(ROOT, action["id"]))["undone"] == 1
    assert await count(conn, "ready") == 1


async def test_undo_leaves_alone_what_has_happened_to_a_job_since(resting: Engine, conn):
    await join(resting)
    ids = await many(resting, 3)
    action = await run(resting, ActionKind.REPRIORITISE, "pending", changes={"priority": 2})
    await resting.steer.change(ROOT, UUID(ids[0]), {"priority": 9})
    await resting.actions.undo(ROOT, action["id"])
    await work(resting)
    assert (await resting.actions.get(ROOT, action["id"]))["undone"] == 2
    found = {str(row["id"]): row["priority"] for row in await conn.fetch("select id, priority from job")}
    assert found == {ids[0]: 9, ids[1]: 5, ids[2]: 5}


async def test_changes_of_every_kind_are_made_and_undone(resting: Engine, conn):
    await join(resting)
    await many(resting, 4, params={"a": 1}, expires_in="1h", labels={"team": "x"})
    before = await conn.fetch("select id, rank, lane_id, priority, params, options from job order by id")
    changes = {"priority": 8, "queue": "slow", "params": {"a": 2}, "delay": "1h", "labels": {"team": "y"}}
    action = await run(resting, ActionKind.CHANGE, labels=(("team", "x"),), changes=changes)
    assert action["done"] == 4
    changed = await conn.fetch("select priority, params, run_at > now() + interval '59m' as later from job")
    assert {tuple(row) for row in changed} == {(8, '{"a":2}', True)}
    assert await count(conn, "timer") == 4
    await resting.actions.undo(ROOT, action["id"])
    await work(resting)
    assert await conn.fetch("select id, rank, lane_id, priority, params, options from job order by id") == before
    assert await count(conn, "ready") == 4


async def test_a_reschedule_moves_the_time(resting: Engine, conn):
    await join(resting)
    await many(resting, 3)
    at = resting.clock.now() + timedelta(hours=3)
    await run(resting, ActionKind.RESCHEDULE, "ready", changes={"run_at": at})
    assert {row["run_at"] for row in await conn.fetch("select run_at from timer")} == {at}


async def test_discarded_dead_letters_are_gone_and_can_be_brought_back(resting: Engine):
    await fail(resting, 3)
    (cause,) = await resting.dead.causes([1], None, None, None)
    action = await run(resting, ActionKind.DISCARD, cause=cause.cause)
    assert action["done"] == 3
    assert await resting.dead.causes([1], None, None, None) == []
    assert (await run(resting, ActionKind.REDRIVE))["seen"] == 0
    await resting.actions.undo(ROOT, action["id"])
    await work(resting)
    assert [(c.count) for c in await resting.dead.causes([1], None, None, None)] == [3]


async def test_what_was_run_again_cannot_be_undone(resting: Engine):
    await fail(resting, 1)
    action = await run(resting, ActionKind.RETRY, "failed", rate=1000)
    with pytest.raises(WrongState, match="cannot be undone"):
        await resting.actions.undo(ROOT, action["id"])


async def test_an_hour_after_it_ended_an_action_can_no_longer_be_undone(resting: Engine, conn):
    await join(resting)
    await many(resting, 1)
    action = await run(resting, ActionKind.CANCEL, "pending")
    await conn.execute("update bulk_action set undo_until = clock_timestamp()")
    with pytest.raises(WrongState, match="more than an hour"):
        await resting.actions.undo(ROOT, action["id"])
    await resting.actions._store.action_clean(86_400.0, 100)
    assert await count(conn, "bulk_item") == 0


async def test_a_cancelled_action_stops_where_it_is(resting: Engine, conn):
    await fail(resting, 30)
    made = await resting.actions.create(ROOT, request(ActionKind.REDRIVE, rate=5))
    await work(resting)
    stopped = await resting.actions.cancel(ROOT, made["id"])
    later(resting, 60)
    await work(resting)
    action = await resting.actions.get(ROOT, made["id"])
    assert (action["state"], action["done"]) == ("cancelled", stopped["done"])
    assert 0 < stopped["done"] < 30
    with pytest.raises(WrongState):
        await resting.actions.cancel(ROOT, made["id"])


async def test_a_job_that_cannot_be_changed_so_is_counted_and_the_others_go_on(resting: Engine):
    tenant_id = await resting.access.tenant_for(ROOT, None)
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    await resting.tasks.register(tenant_id, TaskDefinition(name="strict", params_schema=schema))
    await join(resting)
    await submit(resting, "strict")
    await submit(resting)
    action = await run(resting, ActionKind.CHANGE, "pending", changes={"params": {"a": "no number"}})
    assert (action["state"], action["done"], action["failed"]) == ("done", 1, 1)
    assert "strict" in action["note"]


async def test_named_jobs_alone_are_acted_on(resting: Engine):
    await join(resting)
    ids = await many(resting, 4)
    chosen = tuple(UUID(job_id) for job_id in ids[:2])
    assert (await run(resting, ActionKind.CANCEL, ids=chosen))["done"] == 2


async def test_an_action_for_jobs_that_it_cannot_concern_is_refused(resting: Engine):
    for wrong in (
        request(ActionKind.CANCEL, "failed"),
        request(ActionKind.CANCEL, changes={"priority": 1}),
        request(ActionKind.REPRIORITISE, "pending"),
        request(ActionKind.REPRIORITISE, "pending", changes={"queue": "x"}),
        request(ActionKind.REPRIORITISE, "pending", changes={"priority": 11}),
        request(ActionKind.REDRIVE, rate=0),
    ):
        with pytest.raises(InvalidInput):
            await resting.actions.create(ROOT, wrong)


async def test_actions_of_other_tenants_are_not_seen(resting: Engine):
    await resting.access.create_tenant(None, "blue")
    await join(resting)
    made = await resting.actions.create(ROOT, request(ActionKind.CANCEL, "pending"))
    blue = msgspec.structs.replace(ROOT, tenant_id=2, tenant="blue")
    with pytest.raises(NotFound):
        await resting.actions.get(blue, made["id"])
    assert await resting.actions.list_all(blue, None, None, 10) == []


def later(engine: Engine, seconds: float) -> None:
    """Moves the engine's clock on."""
    now = asyncio.get_running_loop().time()
    engine.clock.observe(engine.clock.now() + timedelta(seconds=seconds), now, now)


async def test_a_thundering_redrive_is_spread_at_its_rate(resting: Engine, conn):
    """A hundred dead letters at ten a second: ten seconds of work, though the duty is quick, or comes late."""
    await fail(resting, 100)
    made = await resting.actions.create(ROOT, request(ActionKind.REDRIVE, rate=10))
    steps = 0
    while (await resting.actions.get(ROOT, made["id"]))["state"] == "running":
        await work(resting)
        # One pause of half a minute: what was missed is not caught up.
        later(resting, 30 if steps == 1 else HORIZON.total_seconds())
        steps += 1
        assert steps < 50
    due = [row["run_at"] for row in await conn.fetch("select run_at from job order by run_at")]
    gaps = [after - before for before, after in pairwise(due)]
    assert len(due) == 100
    assert min(gaps) >= timedelta(milliseconds=99)
    assert due[-1] - due[0] > timedelta(seconds=30)


async def test_without_a_rate_a_redrive_has_one_all_the_same(resting: Engine):
    await fail(resting, 1)
    made = await resting.actions.create(ROOT, request(ActionKind.REDRIVE))
    assert made["rate"] == 100.0


async def test_a_redriven_job_that_fails_again_is_not_redriven_twice(resting: Engine, conn):
    session = await join(resting)
    await fail(resting, 5)
    made = await resting.actions.create(ROOT, request(ActionKind.REDRIVE, rate=2))
    await work(resting)
    later(resting, 60)
    await conn.execute("update timer set run_at = clock_timestamp() - interval '1 second'")
    await resting.timers.run_once()
    for grant in await resting.dispatch.take(session, 99, 10):
        await resting.complete.attempts(session.worker_id, [done(grant, End.FATAL)])
    await work(resting)
    action = await resting.actions.get(ROOT, made["id"])
    assert (action["state"], action["done"]) == ("done", 5)
    assert await conn.fetchval("select max(attempt) from outcome") == 2


async def test_three_thousand_failures_of_four_causes_read_as_four_lines(resting: Engine, conn):
    messages = ["no route to host {}", "user {} not found", "'{}' is no date", "it broke"]
    for number, message in enumerate(messages):
        session = await join(resting)
        size = 750
        await many(resting, size)
        grants = []
        while len(grants) < size:
            grants += await resting.dispatch.take(session, len(grants) + 1, size)
        ends = [
            done(g, End.FATAL, error=JobError("Boom", message.format(n * 7 + number))) for n, g in enumerate(grants)
        ]
        assert await resting.complete.attempts(session.worker_id, ends) == []
    causes = await resting.dead.causes([1], None, None, None)
    assert [cause.count for cause in causes] == [750] * 4
    assert {tuple(cause.tasks) for cause in causes} == {("work",)}
    wanted = JobFilter(cause=causes[0].cause)
    page = await resting.dead.jobs([1], wanted, None, 500)
    rest = await resting.dead.jobs([1], wanted, page.cursor, 500)
    assert (len(page.rows), len(rest.rows), rest.cursor) == (500, 250, None)
    assert State(page.rows[0]["outcome"]) is State.FAILED


async def test_a_successful_job_has_no_cause(resting: Engine, conn):
    session = await join(resting)
    await many(resting, 1)
    (grant,) = await resting.dispatch.take(session, 1, 1)
    await resting.complete.attempts(session.worker_id, [done(grant, cpu=0.1)])
    assert await conn.fetchval("select count(*) from outcome where cause is not null") == 0


async def test_an_action_that_the_database_refuses_fails_and_lets_the_others_go_on(resting: Engine, conn):
    await join(resting)
    await many(resting, 2)
    bad = await resting.actions.create(ROOT, request(ActionKind.REPRIORITISE, "pending", changes={"priority": 2}))
    await conn.execute("alter table job add constraint odd check (priority <> 2) not valid")
    good = await resting.actions.create(ROOT, request(ActionKind.REPRIORITISE, "pending", changes={"priority": 3}))
    await work(resting)
    await work(resting)
    states = [(await resting.actions.get(ROOT, made["id"]))["state"] for made in (bad, good)]
    assert states == ["failed", "done"]
    assert "odd" in (await resting.actions.get(ROOT, bad["id"]))["note"]
    assert await count(conn, "ready") == 2


async def two_actions(engine: Engine) -> list[UUID]:
    """The first of them is spoilt by the test."""
    await join(engine)
    await many(engine, 2)
    made = [
        await engine.actions.create(ROOT, request(ActionKind.REPRIORITISE, "pending", changes={"priority": priority}))
        for priority in (2, 3)
    ]
    return [action["id"] for action in made]


async def test_an_action_that_nobody_can_read_fails_and_lets_the_others_go_on(resting: Engine, conn):
    bad, good = await two_actions(resting)
    await conn.execute("update bulk_action set filter = '{\"states\": 7}' where id = $1", bad)
    await work(resting)
    await work(resting)
    rows = [await resting.actions.get(ROOT, action_id) for action_id in (bad, good)]
    assert [row["state"] for row in rows] == ["failed", "done"]
    assert "a batch failed" in rows[0]["note"]


async def test_an_action_whose_pages_take_too_long_lets_the_others_have_their_turn(
    resting: Engine, conn, monkeypatch: pytest.MonkeyPatch
):
    bad, good = await two_actions(resting)
    jobs = resting.lists.jobs
    asked: list[object] = []

    async def slow(*args: Any) -> Any:
        asked.append(args)
        if len(asked) == 1:
            raise StoreUnavailable("it took longer than 10 s", retry_after=2)
        return await jobs(*args)

    monkeypatch.setattr(resting.lists, "jobs", slow)
    actions = duty(resting, "actions")
    assert await actions._work.step() is not None
    while await actions._work.step() is not None:
        pass
    rows = [await resting.actions.get(ROOT, action_id) for action_id in (bad, good)]
    assert [row["state"] for row in rows] == ["running", "done"]
    await conn.execute("update bulk_action set paced_until = clock_timestamp() where id = $1", bad)
    await work(resting)
    assert (await resting.actions.get(ROOT, bad))["state"] == "done"


@pytest.mark.parametrize(("named", "behind"), [(True, timedelta(seconds=30)), (False, timedelta(milliseconds=50))])
async def test_what_a_server_whose_clock_is_ahead_has_accepted_is_acted_on(
    resting: Engine, named: bool, behind: timedelta
):
    """One server takes the jobs; another, whose reading of the clock is behind, the action on them a moment later."""
    await join(resting)
    jobs = await many(resting, 3, delay=600)
    moment = time.monotonic()
    resting.clock.observe(resting.clock.now() - behind, moment, moment)
    which: dict[str, Any] = {"ids": tuple(map(UUID, jobs))} if named else {"task": "work"}
    assert (await run(resting, ActionKind.CANCEL, "scheduled", **which))["done"] == 3
