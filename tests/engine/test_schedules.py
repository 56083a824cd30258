"""Schedules: every tick becomes one job, or a record of why not."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from horae.engine.engine import Engine
from horae.engine.gates import GateOrder
from horae.model.calendars import CalendarDefinition
from horae.model.definition import ScheduleDefinition
from horae.model.errors import (
    AlreadyExists,
    HoraeError,
    InvalidInput,
    InvalidParams,
    NotFound,
    Overloaded,
    StoreUnavailable,
    UnknownTask,
    WrongState,
)
from horae.model.gates import Action
from horae.model.overlap import Missed, Overlap
from horae.model.task import TaskDefinition
from horae.model.timing import Rule, Window
from horae.model.unique import Unique

from .staging import ROOT, join, take_one

TENANT = 1


def definition(name: str = "s", **given: Any) -> ScheduleDefinition:
    if not given.keys() & {"cron", "every", "rules"}:
        given["every"] = "1h"
    return ScheduleDefinition(**{"name": name, "task": "work"} | given)


async def make(engine: Engine, name: str = "s", **given: Any) -> Any:
    return await engine.scheduling.create(ROOT, TENANT, definition(name, **given), "")


async def rewind(conn: Any, seconds: float, name: str = "s") -> None:
    """As if the schedule had been seen to so long ago for the last time."""
    await conn.execute(
        "update schedule set cursor_at = clock_timestamp() - $1 * interval '1 second', "
        "next_at = clock_timestamp() - $1 * interval '1 second' where name = $2",
        seconds, name,
    )  # fmt: skip


async def states(conn: Any) -> list[tuple[str, str | None, int]]:
    rows = await conn.fetch("select state, reason, count from tick where origin = 'rule' order by at")
    return [(row["state"], row["reason"], row["count"]) for row in rows]


async def test_a_tick_becomes_a_job_ahead_of_its_time(resting: Engine, conn):
    await join(resting)
    at = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=20)
    await make(resting, rules=[Rule(every="1h", anchor=at)])
    await resting.ticks.run_once()
    (job,) = await conn.fetch("select * from job")
    assert job["run_at"] == at
    assert await conn.fetchval("select count(*) from timer") == 1
    row = await conn.fetchrow("select * from schedule")
    assert (row["cursor_at"], row["next_at"], row["runs"]) == (at, at + timedelta(hours=1), 1)


async def test_a_tick_far_ahead_is_left_alone(resting: Engine, conn):
    await join(resting)
    at = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=90)
    await make(resting, rules=[Rule(every="1h", anchor=at)])
    await resting.ticks.run_once()
    assert await conn.fetchval("select count(*) from job") == 0


async def test_a_tick_starts_at_its_time(engine: Engine, conn):
    worker = await join(engine)
    await make(engine, every="1s")
    waiter = engine.dispatch.wait(worker, 1, 1)
    (grant,) = await asyncio.wait_for(waiter.answer, 20)
    assert grant.task == "work"
    late = await conn.fetchval("select le.granted_at - j.run_at from lease le join job j using (id)")
    assert late >= timedelta(0)


async def test_the_same_tick_is_never_made_twice(resting: Engine, conn):
    await join(resting)
    await make(resting, every="1s")
    began = await conn.fetchval("select clock_timestamp()")
    await resting.ticks.run_once()
    jobs = await conn.fetchval("select count(*) from job")
    before = await conn.fetchrow("select cursor_at from schedule")
    await rewind(conn, 0)
    await conn.execute("update schedule set cursor_at = (select min(at) - interval '1 second' from tick)")
    await resting.ticks.run_once()
    meanwhile = (await conn.fetchval("select clock_timestamp()") - began).total_seconds()
    assert await conn.fetchval("select count(*) from job") - jobs <= meanwhile + 1  # what has come near
    assert await conn.fetchval("select runs from schedule") == await conn.fetchval("select count(*) from job")
    assert (await conn.fetchrow("select cursor_at from schedule"))["cursor_at"] >= before["cursor_at"]


async def test_several_servers_make_each_tick_once(start_engine, conn):
    engines = [await start_engine() for _ in range(3)]
    await join(engines[0])
    for number in range(20):
        await make(engines[0], f"s{number}", every="1s")
    for _ in range(5):
        await asyncio.gather(*(engine.ticks.run_once() for engine in engines))
    ticks = await conn.fetch("select schedule_id, at from tick")
    assert len(ticks) == len({(row["schedule_id"], row["at"]) for row in ticks})
    assert len(ticks) == await conn.fetchval("select count(*) from job")
    gaps = await conn.fetchval(
        """select count(*) from (
               select at - lag(at) over (partition by schedule_id order by at) as gap from tick) g
           where gap <> interval '1 second'"""
    )
    assert gaps == 0


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"task": "nobody"}, UnknownTask),
        ({"cron": "0 0 30 2 *"}, InvalidInput),
        ({"cron": "* * * * *", "tz": "Mars/Olympus"}, InvalidInput),
        ({"cron": "nonsense"}, InvalidInput),
        ({"every": "1s"}, InvalidInput),
        ({"params": {"n": "x"}}, InvalidParams),
        ({"job": {"run_at": "2030-01-01T00:00:00Z"}}, InvalidInput),
        ({"job": {"nosuch": 1}}, InvalidInput),
        ({"job": {"priority": 11}}, InvalidInput),
        ({"calendars": ["nowhere"]}, InvalidInput),
        ({"max_runs": 0}, InvalidInput),
        ({"missed": Missed.ALL, "missed_limit": 0}, InvalidInput),
        ({"rules": []}, InvalidInput),
    ],
    ids=lambda case: str(case)[:30],
)
async def test_what_cannot_work_is_refused(resting: Engine, wrong: dict[str, Any], error: type[Exception], conn):
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    await resting.tasks.register(TENANT, TaskDefinition(name="work", params_schema=schema))
    await resting.scheduling.set_shortest_interval(TENANT, 2)
    with pytest.raises(error):
        await make(resting, **wrong)
    assert await conn.fetchval("select count(*) from schedule") == 0


async def test_a_name_is_given_once(resting: Engine):
    await join(resting)
    await make(resting)
    with pytest.raises(AlreadyExists):
        await make(resting)


async def test_a_pause_takes_back_what_has_not_started(resting: Engine, conn):
    await join(resting)
    await make(resting, every="1s")
    await resting.ticks.run_once()
    assert await conn.fetchval("select count(*) from timer") > 50
    await resting.scheduling.pause(ROOT, TENANT, "s", "holiday")
    for table in ("job", "timer", "ready", "tick"):
        assert await conn.fetchval(f"select count(*) from {table}") == 0, table
    assert await conn.fetchval("select runs from schedule") == 0
    await resting.ticks.run_once()
    assert await conn.fetchval("select count(*) from job") == 0


async def test_a_running_tick_goes_on_when_its_schedule_is_deleted(resting: Engine, conn):
    worker = await join(resting)
    at = datetime.now(UTC) - timedelta(seconds=5)
    await make(resting, rules=[Rule(every="10s", anchor=at)])
    await rewind(conn, 8)
    await resting.ticks.run_once()
    grant = await take_one(resting, worker)
    await resting.scheduling.delete(ROOT, TENANT, "s", "")
    assert await conn.fetchval("select count(*) from lease") == 1
    assert [str(row["id"]) for row in await conn.fetch("select id from job")] == [grant.id]
    with pytest.raises(NotFound):
        await resting.scheduling.get(TENANT, "s")


async def test_ticks_that_fell_into_a_pause_are_missed(resting: Engine, conn):
    await join(resting)
    await make(resting, every="1m")
    await resting.scheduling.pause(ROOT, TENANT, "s", "")
    await rewind(conn, 600)
    await resting.scheduling.resume(ROOT, TENANT, "s", "")
    await resting.ticks.run_once()
    found = await states(conn)
    assert found[0] == ("skipped", "missed", found[0][2])
    assert 7 <= found[0][2] <= 9
    assert [state for state, _, _ in found[1:]] == ["fired"] * (len(found) - 1)
    with pytest.raises(WrongState):
        await resting.scheduling.resume(ROOT, TENANT, "s", "")


async def test_an_edit_replaces_what_has_not_started(resting: Engine, conn):
    await join(resting)
    await make(resting, every="1s", params={"n": 1})
    await resting.ticks.run_once()
    due = await conn.fetchrow(
        """with due as (delete from timer where id = (select id from timer order by run_at limit 1) returning *)
           insert into ready select rank, id, lane_id, attempt from due returning id"""
    )
    row, _ = await resting.scheduling.put(ROOT, TENANT, definition(every="1s", params={"n": 2}), "two")
    assert row["version"] == 2
    await conn.execute("update tick set run_at = clock_timestamp() where job_id = $1", due["id"])
    await resting.ticks.run_once()
    assert await conn.fetchval("select count(*) from job where params <> '{\"n\":2}'") == 0
    assert await conn.fetchval("select count(*) from job") > 50
    history = await resting.scheduling.history(TENANT, "s", 10)
    assert [(row["version"], row["action"], row["why"]) for row in history] == [
        (2, "changed", "two"),
        (1, "created", ""),
    ]


async def test_a_due_tick_that_waits_for_a_worker_runs_as_the_schedule_is_now(resting: Engine, conn):
    await join(resting)
    at = datetime.now(UTC) - timedelta(seconds=5)
    await make(resting, rules=[Rule(every="1h", anchor=at)], params={"n": 1})
    await rewind(conn, 8)
    await resting.ticks.run_once()
    (before,) = await conn.fetch("select id, params from job")
    await resting.scheduling.patch(ROOT, TENANT, "s", {"params": {"n": 2}}, "")
    (after,) = await conn.fetch("select id, params from job")
    assert (after["id"], after["params"]) == (before["id"], '{"n":2}')
    assert await conn.fetchval("select count(*) from ready") == 1
    assert await conn.fetchval("select runs from schedule") == 1


async def test_putting_the_same_again_changes_nothing(resting: Engine, conn):
    await join(resting)
    await make(resting)
    _, what = await resting.scheduling.put(ROOT, TENANT, definition(), "")
    assert what == "unchanged"
    assert await conn.fetchval("select version from schedule") == 1


async def test_an_edit_and_the_planning_of_ticks_do_not_cross(start_engine, conn):
    """Edits on one server while two others plan: whatever the order, each tick to come has one job, of one version."""
    engines = [await start_engine() for _ in range(3)]
    await join(engines[0])
    await make(engines[0], every="1s", params={"n": 0})

    async def edit() -> None:
        for number in range(1, 11):
            await engines[0].scheduling.patch(ROOT, TENANT, "s", {"params": {"n": number}}, "")

    async def plan(engine: Engine) -> None:
        for _ in range(20):
            await engine.ticks.run_once()

    await asyncio.gather(edit(), plan(engines[1]), plan(engines[2]))
    await engines[1].ticks.run_once()
    stale = await conn.fetchval(
        "select count(*) from job where params <> '{\"n\":10}' and run_at > clock_timestamp() + interval '2 seconds'"
    )
    assert stale == 0
    assert await conn.fetchval("select count(*) from job") == await conn.fetchval("select count(*) from tick")


async def test_a_schedule_ends_after_its_last_run(resting: Engine, conn):
    await join(resting)
    await make(resting, every="1s", max_runs=3)
    await resting.ticks.run_once()
    assert await conn.fetchval("select count(*) from job") == 3
    assert await conn.fetchval("select next_at from schedule") is None


async def test_a_task_that_vanished_is_told_by_its_ticks(resting: Engine, conn):
    await join(resting)
    await make(resting, every="1s")
    await conn.execute("delete from task")
    resting.tasks._known.clear()
    await resting.ticks.run_once()
    assert {(state, reason) for state, reason, _ in await states(conn)} == {("skipped", "unknown_task")}


async def test_a_trigger_runs_now_and_leaves_the_rule_alone(resting: Engine, conn):
    worker = await join(resting)
    before = await make(resting, every="1h", params={"n": 1})
    job_id = await resting.scheduling.trigger(ROOT, TENANT, "s", {"n": 7})
    grant = await take_one(resting, worker)
    assert grant.id == job_id
    assert bytes(grant.params) == b'{"n":7}'
    after = await resting.scheduling.get(TENANT, "s")
    assert (after["cursor_at"], after["next_at"], after["runs"]) == (before["cursor_at"], before["next_at"], 0)


async def test_a_tick_can_be_told_its_time(resting: Engine, conn):
    await join(resting)
    await make(resting, every="1s", tick_param="at", max_runs=1)
    await resting.scheduling.trigger(ROOT, TENANT, "s", {"at": "said"})
    assert await conn.fetchval("delete from job returning params") == '{"at":"said"}'
    await resting.ticks.run_once()
    tick = await conn.fetchrow("select at from tick where origin = 'rule'")
    job = await conn.fetchrow("select params from job")
    assert datetime.fromisoformat(job["params"][7:-2]) == tick["at"]


async def test_a_changed_calendar_moves_the_ticks_to_come(resting: Engine, conn):
    await join(resting)
    await resting.scheduling.put_calendar(ROOT, TENANT, CalendarDefinition(name="own"))
    await make(resting, every="1s", calendars=["own"])
    await resting.ticks.run_once()
    today = datetime.now(UTC).date()
    days = {day.isoformat(): "closed" for day in (today, today + timedelta(days=1))}
    await resting.scheduling.put_calendar(ROOT, TENANT, CalendarDefinition(name="own", days=days))
    await resting.ticks.run_once()
    assert await conn.fetchval("select count(*) from timer") == 0
    found = await conn.fetch("select distinct state, reason from tick where at > clock_timestamp()")
    assert [(row["state"], row["reason"]) for row in found] == [("skipped", "calendar")]
    with pytest.raises(WrongState):
        await resting.calendars.delete(TENANT, "own")


async def test_old_ticks_are_forgotten(resting: Engine, conn):
    await join(resting)
    await make(resting)
    await conn.execute("insert into tick select 1, clock_timestamp() - n * interval '1 day', 'rule', 1, now(), 'fired' "
                       "from generate_series(1, 40) n")  # fmt: skip
    await resting.ticks.run_once()
    assert await conn.fetchval("select count(*) from tick") in {29, 30}


async def test_a_schedule_that_cannot_be_read_does_not_stop_the_others(resting: Engine, conn):
    await join(resting)
    await make(resting, "broken", every="1s")
    await make(resting, "judged", every="1s", overlap=Overlap.SKIP)
    await resting.ticks.run_once()
    await make(resting, "whole", every="1s")
    await conn.execute("update schedule set definition = '{}', next_at = now() where name <> 'whole'")
    await conn.execute("update tick set look_at = now() where state = 'planned'")
    await resting.ticks.run_once()
    ran = await conn.fetchval("select runs from schedule where name = 'whole'")
    assert ran > 50
    assert {reason for state, reason, _ in await states(conn) if state == "skipped"} == {"broken"}


AWAY = StoreUnavailable("the database is away", retry_after=2)


def once(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, error: HoraeError = AWAY) -> None:
    """The next time this is asked for, it cannot be had."""
    real = getattr(owner, name)

    async def asked(*_args: Any) -> None:
        monkeypatch.setattr(owner, name, real)
        raise error

    monkeypatch.setattr(owner, name, asked)


@pytest.mark.parametrize(("part", "name"), [("_calendars", "blocked"), ("_submit", "prepare")])
async def test_a_tick_that_could_not_be_planned_while_the_database_was_away_is_still_owed(
    resting: Engine, conn, monkeypatch: pytest.MonkeyPatch, part: str, name: str
):
    await join(resting)
    await make(resting, rules=[Rule(every="1h", anchor=datetime.now(UTC) + timedelta(seconds=20))])
    once(monkeypatch, getattr(resting.ticks._planner, part), name)
    with pytest.raises(StoreUnavailable):
        await resting.ticks.run_once()
    await resting.ticks.run_once()
    assert await states(conn) == [("fired", None, 1)]


async def test_a_tick_that_could_not_be_judged_while_the_database_was_away_is_still_owed(
    resting: Engine, conn, monkeypatch: pytest.MonkeyPatch
):
    await join(resting)
    anchor = datetime.now(UTC) + timedelta(seconds=20)
    await make(resting, rules=[Rule(every="1h", anchor=anchor)], overlap=Overlap.SKIP)
    await resting.ticks.run_once()
    await conn.execute("update tick set look_at = now()")
    once(monkeypatch, resting.ticks._planner._submit, "prepare")
    with pytest.raises(StoreUnavailable):
        await resting.ticks.run_once()
    await resting.ticks.run_once()
    assert await states(conn) == [("fired", None, 1)]


@pytest.mark.parametrize("overlap", [Overlap.ALLOW, Overlap.SKIP])
async def test_a_tick_whose_tenant_asks_too_much_at_the_time_waits(
    resting: Engine, conn, monkeypatch: pytest.MonkeyPatch, overlap: Overlap
):
    await join(resting)
    anchor = datetime.now(UTC) + timedelta(seconds=20)
    await make(resting, rules=[Rule(every="1h", anchor=anchor)], overlap=overlap)
    once(monkeypatch, resting.ticks._planner._submit, "prepare", Overloaded("too many schemas", retry_after=1))
    for state in (("waiting", "overloaded", 1), ("fired", None, 1)):
        await resting.ticks.run_once()
        await conn.execute("update tick set look_at = now() where look_at is not null")
        if overlap is Overlap.SKIP:  # It is noted first, and judged when it is due.
            await resting.ticks.run_once()
        assert state in await states(conn)


async def test_the_job_of_a_tick_expires_so_long_after_its_time(resting: Engine, conn):
    await join(resting)
    await make(resting, every="1s", max_runs=1, job={"expires_in": "10m"})
    await resting.ticks.run_once()
    tick, expiry = await conn.fetchrow("select run_at from tick"), await conn.fetchrow("select expires_at from expiry")
    assert expiry["expires_at"] == tick["run_at"] + timedelta(minutes=10)


async def test_a_gate_that_rejects_a_task_rejects_its_ticks(resting: Engine, conn):
    await join(resting)
    await make(resting, every="1s", max_runs=1)
    await resting.gating.create(ROOT, GateOrder(reason="a test", task="work", action=Action.REJECT))
    await resting.policy.refresh()
    await resting.ticks.run_once()
    assert {(state, reason) for state, reason, _ in await states(conn)} == {("skipped", "gate_closed")}


async def test_a_preview_lets_others_have_the_loop_and_stops_at_its_end(resting: Engine):
    weekly = definition(
        rules=[Rule(every="5m")], windows=[Window(days="SUN", start="00:00", end="00:01")], outside="defer"
    )
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    others = asyncio.create_task(count_turns())
    since = datetime(2026, 1, 1, tzinfo=UTC)
    found = await resting.scheduling.preview(TENANT, weekly, since, since + timedelta(days=70), 10_000)
    others.cancel()
    assert len(found) == 10
    assert turns >= 5


async def test_a_preview_that_takes_too_long_is_refused(resting: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("horae.engine.schedules.PREVIEW_SECONDS", 0)
    with pytest.raises(InvalidInput, match="ask for fewer"):
        await resting.scheduling.preview(TENANT, definition(rules=[Rule(every="1h")]), None, None, 10)


async def test_a_task_whose_jobs_are_unique_cannot_be_scheduled(resting: Engine):
    await resting.tasks.register(TENANT, TaskDefinition(name="work", unique=Unique()), "tests")
    with pytest.raises(InvalidInput, match="`overlap`"):
        await make(resting)


async def test_ticks_and_triggers_of_a_task_that_became_unique_say_why_they_do_not_run(resting: Engine, conn):
    await join(resting)
    await make(resting, every="1s")
    await resting.tasks.register(TENANT, TaskDefinition(name="work", unique=Unique()), "tests")
    await resting.ticks.run_once()
    assert await conn.fetchval("select count(*) from job") == 0
    assert set(await states(conn)) == {("skipped", "invalid_input", 1)}
    with pytest.raises(InvalidInput, match="unique"):
        await resting.scheduling.trigger(ROOT, TENANT, "s", None)


async def test_calendars_of_a_tenant_are_remembered_whatever_expires_of_others(
    resting: Engine, monkeypatch: pytest.MonkeyPatch
):
    other = (await resting.access.create_tenant(None, "other")).id
    for tenant_id in (TENANT, other):
        await resting.calendars.put(tenant_id, CalendarDefinition(name="own"), "tests")
        await resting.calendars.blocked(tenant_id, ["own"])
    asked: list[int] = []
    load = resting.calendars.list_all
    monkeypatch.setattr(resting.calendars, "list_all", lambda tenant_id: (asked.append(tenant_id), load(tenant_id))[1])
    await resting.calendars.put(other, CalendarDefinition(name="own"), "tests")
    await resting.calendars.blocked(TENANT, ["own"])
    await resting.calendars.blocked(other, ["own"])
    assert asked == [other, other]
