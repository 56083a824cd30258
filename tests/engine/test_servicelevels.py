"""Service levels: what a job is promised, that it moves up when at risk, that each promise is counted once, and that
work which can wait goes off-peak."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from horae.engine.engine import Engine
from horae.engine.gates import GateOrder
from horae.engine.servicelevels import LevelSpec
from horae.engine.sessions import Session
from horae.model.definition import ScheduleDefinition
from horae.model.errors import AlreadyExists, InvalidInput
from horae.model.explanation import Code
from horae.model.job import JobOptions, JobRequest, read_options
from horae.model.promise import Promise
from horae.model.retry import RetryPolicy
from horae.model.states import End, State
from horae.model.task import TaskDefinition
from horae.model.timing import OffPeak, Rule, Window
from horae.model.unique import OnConflict, Unique
from horae.store.safety import Connection
from horae.testing.waiting import wait_for

from .staging import ROOT, done, duty, join, submit, take_one

MINUTE = timedelta(minutes=1)


async def put(engine: Engine, name: str = "gold", tenant: str | None = None, **spec: Any) -> None:
    await engine.service_levels.put(ROOT, tenant, LevelSpec(name=name, **{"start_within": "10m"} | spec))


async def options(conn: Connection, job_id: str) -> JobOptions:
    return read_options(await conn.fetchval("select options from job where id = $1", UUID(job_id)))


async def promise(conn: Connection, job_id: str) -> Promise:
    made = (await options(conn, job_id)).promise
    assert made is not None
    return made


async def left(conn: Connection, job_id: str, minutes: float) -> None:
    """Lets only so much be left of a promise's time, or lets it be over since then."""
    await conn.execute(
        "update promise set due_at = clock_timestamp() + $1 * interval '1 minute', look_at = clock_timestamp() "
        "where id = $2",
        minutes, UUID(job_id),
    )  # fmt: skip


async def watch(engine: Engine) -> tuple[int, int, int]:
    """Kept, broken and moved up, by one run of the duty."""
    did = await duty(engine, "service_levels").run_once()
    return did["kept"], did["broken"], did["raised"]


async def counted(conn: Connection) -> tuple[int, int]:
    row = await conn.fetchrow("select coalesce(sum(kept), 0), coalesce(sum(broken), 0) from attainment")
    return int(row[0]), int(row[1])


async def promises(conn: Connection) -> int:
    return int(await conn.fetchval("select count(*) from promise"))


@pytest.fixture
async def worker(resting: Engine) -> Session:
    return await join(resting, "work", "other")


@pytest.fixture
async def other(database: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(database, server_settings={"search_path": "horae"})
    yield connection
    await connection.close()


# What is promised.


async def test_a_job_is_promised_a_start_counted_from_its_due_time(resting: Engine, worker, conn):
    await put(resting)
    now, later = await submit(resting), await submit(resting, delay="1h")
    made = await promise(conn, later)
    run_at = await conn.fetchval("select run_at from job where id = $1", UUID(later))
    assert (made.level, made.within, made.start_by) == ("gold", 600.0, run_at + 10 * MINUTE)
    rows = {str(row["id"]): row for row in await conn.fetch("select * from promise")}
    assert rows[later]["due_at"] == made.start_by
    assert rows[later]["look_at"] == made.start_by - 2.5 * MINUTE
    assert rows.keys() == {now, later}


async def test_without_a_level_nothing_is_written(resting: Engine, worker, conn):
    await put(resting, task="other")
    job_id = await submit(resting)
    assert await conn.fetchval("select options from job where id = $1", UUID(job_id)) is None
    assert await promises(conn) == 0


async def test_every_way_of_submitting_makes_the_promise(resting: Engine, worker, conn):
    await put(resting)
    one = JobRequest(task="work")
    await resting.submit.many(ROOT, [one] * 3)
    await resting.submit.many(ROOT, [one] * 300)
    for _ in range(2):
        await resting.submit.once(ROOT, one, "key", b"body")
        await resting.submit.one(ROOT, JobRequest(task="work", unique=Unique()))
        await resting.submit.once(ROOT, JobRequest(task="other", unique=Unique()), "unique", b"body")
    assert await promises(conn) == await conn.fetchval("select count(*) from job") == 306


async def test_the_job_of_a_tick_is_promised_it_too_once(resting: Engine, worker, conn):
    await put(resting, off_peak=closed_now())
    at = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=20)
    rule = ScheduleDefinition(name="s", task="work", rules=[Rule(every="1h", anchor=at)])
    await resting.scheduling.create(ROOT, 1, rule, "")
    for _ in range(2):
        await resting.ticks.run_once()
    (row,) = await conn.fetch("select due_at from promise")
    assert row["due_at"] == at + 10 * MINUTE


async def test_the_promise_caps_the_rank_as_a_deadline_does(resting: Engine, worker, conn):
    await put(resting, task="other", start_within="1m")
    usual = await submit(resting, "work", priority=1)
    pulled = await submit(resting, "other", priority=1)
    own = await submit(resting, "other", priority=1, deadline=resting.clock.now() + timedelta(days=1))
    ranks = {str(row["id"]): row["rank"] for row in await conn.fetch("select id, rank from job")}
    assert ranks[pulled] < ranks[usual] < ranks[own]


async def test_the_levels_priority_is_for_jobs_that_have_none(resting: Engine, worker, conn):
    await resting.tasks.register(1, TaskDefinition(name="low", priority=2))
    await put(resting, priority=8)
    jobs = [await submit(resting), await submit(resting, priority=3), await submit(resting, "low")]
    found = [await conn.fetchval("select priority from job where id = $1", UUID(job)) for job in jobs]
    assert found == [8, 3, 2]


async def test_the_most_specific_level_counts_and_two_for_the_same_jobs_are_refused(resting: Engine, worker, conn):
    await put(resting, "all")
    await put(resting, "mine", tenant="default")
    assert (await promise(conn, await submit(resting))).level == "mine"
    await put(resting, "task", task="work")
    assert (await promise(conn, await submit(resting))).level == "task"
    await put(resting, "both", tenant="default", task="work")
    assert (await promise(conn, await submit(resting))).level == "both"
    assert (await promise(conn, await submit(resting, "other"))).level == "mine"
    for name, tenant, task in (("x", None, None), ("x", "default", None), ("x", None, "work"), ("task", None, None)):
        with pytest.raises(AlreadyExists, match="same jobs"):
            await put(resting, name, tenant, task=task)


async def test_a_changed_level_is_for_new_jobs_and_those_that_wait_keep_their_promise(resting: Engine, worker, conn):
    await put(resting)
    before = await submit(resting)
    was = await promise(conn, before)
    await put(resting, start_within="1h", tier="slower")
    assert await promise(conn, before) == was
    assert (await promise(conn, await submit(resting))).within == 3600.0
    await resting.service_levels.delete(ROOT, None, "gold")
    assert (await options(conn, await submit(resting))).promise is None
    assert await promises(conn) == 2
    await left(conn, before, -1)
    assert await watch(resting) == (0, 1, 1)


# Whether it is kept.


async def test_a_start_in_time_is_kept_and_a_late_one_broken(resting: Engine, worker, conn):
    await put(resting)
    jobs = [await submit(resting) for _ in range(2)]
    for grant in await resting.dispatch.take(worker, 1, 2):
        await resting.complete.attempts(worker.worker_id, [done(grant)])
    await left(conn, jobs[0], 1)
    await left(conn, jobs[1], -1)
    assert await watch(resting) == (1, 1, 0)
    assert await watch(resting) == (0, 0, 0)
    assert (await counted(conn), await promises(conn)) == ((1, 1), 0)


async def test_a_job_that_runs_is_judged_by_when_it_began(resting: Engine, worker, conn):
    await put(resting)
    job_id = await submit(resting)
    await take_one(resting, worker)
    await left(conn, job_id, 5)
    assert await watch(resting) == (1, 0, 0)


async def test_the_first_start_counts_whatever_becomes_of_the_attempt(resting: Engine, worker, conn):
    await put(resting)
    job_id = await submit(resting, retry=RetryPolicy(first=3600, jitter=False))
    await resting.complete.attempts(worker.worker_id, [done(await take_one(resting, worker), End.ERROR)])
    await left(conn, job_id, 5)
    assert await watch(resting) == (1, 0, 0)


async def test_a_grant_that_never_arrived_was_no_start(resting: Engine, worker, conn):
    await put(resting)
    job_id = await submit(resting)
    await take_one(resting, worker, 7)
    await resting.fleet.take_back(worker.worker_id, [7])
    await left(conn, job_id, -1)
    assert await watch(resting) == (0, 1, 1)


async def test_a_job_that_still_waits_is_broken_once_and_late_until_it_starts(resting: Engine, worker, conn):
    await put(resting)
    job_id = await submit(resting)
    await left(conn, job_id, -1)
    assert await watch(resting) == (0, 1, 1)
    view = await resting.service_levels.get(ROOT, None, "gold")
    assert (view.late, view.at_risk, [str(job.id) for job in view.latest]) == (1, 0, [job_id])
    await left(conn, job_id, -1)
    assert await watch(resting) == (0, 0, 0)
    await resting.complete.attempts(worker.worker_id, [done(await take_one(resting, worker))])
    assert (await resting.service_levels.get(ROOT, None, "gold")).late == 0
    await left(conn, job_id, -1)
    assert await watch(resting) == (0, 0, 0)
    assert (await counted(conn), await promises(conn)) == ((0, 1), 0)


async def test_jobs_that_ended_before_their_time_without_a_start_are_not_counted(resting: Engine, worker, conn):
    await put(resting)
    cancelled, late = await submit(resting), await submit(resting)
    await resting.steer.cancel(ROOT, UUID(cancelled), "")
    await left(conn, cancelled, 1)
    await left(conn, late, -1)
    await resting.steer.cancel(ROOT, UUID(late), "")
    assert await watch(resting) == (0, 1, 0)
    assert await promises(conn) == 0


async def test_a_job_that_is_gone_is_forgotten(resting: Engine, worker, conn):
    await put(resting)
    job_id = await submit(resting)
    await left(conn, job_id, -1)
    await conn.execute("delete from job")
    assert await watch(resting) == (0, 0, 0)
    assert await promises(conn) == 0


# At risk.


async def test_a_job_at_risk_moves_up(resting: Engine, worker, conn):
    await put(resting, task="other")
    await submit(resting, priority=9)
    slow = await submit(resting, "other", priority=1)
    await left(conn, slow, 2)
    assert await watch(resting) == (0, 0, 1)
    assert (await resting.service_levels.get(ROOT, None, "gold")).at_risk == 1
    row = await conn.fetchrow("select r.rank as ready, j.rank as job from ready r join job j on j.id = r.id "
                              "where j.id = $1", UUID(slow))  # fmt: skip
    assert row["ready"] == row["job"]
    assert (await take_one(resting, worker)).id == slow
    assert (await resting.service_levels.get(ROOT, None, "gold")).at_risk == 0


async def test_jobs_at_risk_go_by_their_promises_and_move_up_once(resting: Engine, worker, conn):
    await put(resting)
    jobs = [await submit(resting, priority=priority) for priority in (9, 5, 1)]
    for job_id, minutes in zip(jobs, (3, 2, 1), strict=True):
        await left(conn, job_id, minutes)
    assert await watch(resting) == (0, 0, 3)
    await conn.execute("update promise set look_at = clock_timestamp()")
    assert await watch(resting) == (0, 0, 0)
    assert await conn.fetchval("select min(look_at - due_at) from promise") == timedelta(seconds=1)
    assert [(await take_one(resting, worker, n)).id for n in range(1, 4)] == jobs[::-1]


async def test_a_job_behind_a_gate_is_looked_at_again(resting: Engine, worker, conn):
    await put(resting)
    job_id = await submit(resting, params={"held": True})
    await resting.gating.create(ROOT, GateOrder(task="work", condition="params.held", reason="because"))
    await duty(resting, "gates").run_once()
    assert await conn.fetchval("select count(*) from blocked") == 1
    await left(conn, job_id, 2)
    assert await watch(resting) == (0, 0, 0)
    assert await conn.fetchval("select look_at < due_at - interval '1 minute' from promise")
    assert (await resting.service_levels.get(ROOT, None, "gold")).at_risk == 1


async def test_whoever_waits_for_work_hears_of_a_job_that_moved_up(engine: Engine, conn):
    session = await join(engine, "work")
    await put(engine)
    job_id = await submit(engine, priority=1)
    await left(conn, job_id, 2)
    await wait_for(lambda: conn.fetchval("select stage = 1 from promise"), what="the look at it")
    assert (await take_one(engine, session)).id == job_id


async def test_a_job_at_risk_that_is_changed_moves_up_again(resting: Engine, worker, conn):
    await put(resting)
    job_id = await submit(resting)
    await left(conn, job_id, 2)
    await conn.execute(
        "update job set options = jsonb_set(options::jsonb, '{promise,start_by}', to_jsonb(due_at))::text from promise"
    )
    assert await watch(resting) == (0, 0, 1)
    await resting.steer.change(ROOT, UUID(job_id), {"priority": 7})
    assert await watch(resting) == (0, 0, 1)


async def test_a_late_job_moves_up_too(resting: Engine, worker, conn):
    await put(resting, task="other")
    await submit(resting, priority=9)
    late = await submit(resting, "other", priority=1)
    await left(conn, late, -1)
    assert await watch(resting) == (0, 1, 1)
    assert (await take_one(resting, worker)).id == late


# Changes of a job that waits.


async def test_another_due_time_is_another_promise(resting: Engine, worker, conn):
    await put(resting)
    job_id = await submit(resting, priority=1)
    await left(conn, job_id, -1)
    assert await watch(resting) == (0, 1, 1)
    await resting.steer.change(ROOT, UUID(job_id), {"delay": "1h"})
    made = await promise(conn, job_id)
    assert made.start_by is not None
    assert made.start_by > resting.clock.now() + 69 * MINUTE
    assert await conn.fetchval("select due_at from promise where stage = 0") == made.start_by


async def test_a_change_that_leaves_the_time_leaves_the_promise(resting: Engine, worker, conn):
    await put(resting)
    job_id = await submit(resting)
    await left(conn, job_id, -1)
    await watch(resting)
    was = await promise(conn, job_id)
    await resting.steer.change(ROOT, UUID(job_id), {"priority": 7})
    assert await promise(conn, job_id) == was


async def test_a_job_that_has_started_gets_no_second_promise_by_a_change(resting: Engine, worker, conn):
    await put(resting)
    job_id = await submit(resting, retry=RetryPolicy(first=3600, jitter=False))
    await resting.complete.attempts(worker.worker_id, [done(await take_one(resting, worker), End.ERROR)])
    await left(conn, job_id, 5)
    await watch(resting)
    await resting.steer.change(ROOT, UUID(job_id), {"delay": "1h"})
    assert await promises(conn) == 0


async def test_a_persons_retry_is_promised_anew(resting: Engine, worker, conn):
    await put(resting)
    job_id = await submit(resting, max_attempts=1)
    await resting.complete.attempts(worker.worker_id, [done(await take_one(resting, worker), End.ERROR)])
    await left(conn, job_id, 5)
    assert await watch(resting) == (1, 0, 0)
    await resting.steer.retry(ROOT, UUID(job_id), {})
    assert await conn.fetchval("select due_at > clock_timestamp() + interval '9 minutes' from promise")
    await left(conn, job_id, -1)
    assert await watch(resting) == (0, 1, 1)


async def test_a_debounced_job_is_promised_its_start_from_its_new_time(resting: Engine, worker, conn):
    await put(resting)
    terms = Unique(on_conflict=OnConflict.DEBOUNCE, max_wait="2h")
    for delay in ("1m", "1h"):
        job_id = await submit(resting, delay=delay, unique=terms)
    made = await promise(conn, job_id)
    assert made.start_by == await conn.fetchval("select run_at from job") + 10 * MINUTE
    assert await conn.fetchval("select due_at from promise") == made.start_by


# Several servers, and those that die.


async def test_two_servers_side_by_side_count_each_promise_once(start_engine, conn):
    first, second = await start_engine(), await start_engine()
    await join(first)
    await put(first)
    await first.submit.many(ROOT, [JobRequest(task="work")] * 2500)
    await conn.execute(
        "update promise set due_at = clock_timestamp() - interval '1 minute', look_at = clock_timestamp()"
    )
    by_hand = [duty(engine, "service_levels").run_once() for engine in (first, second) for _ in range(2)]
    await asyncio.gather(*by_hand)
    await wait_for(lambda: conn.fetchval("select bool_and(stage = 2) from promise"), what="all of them judged")
    assert await counted(conn) == (0, 2500)


async def test_a_server_that_dies_between_the_count_and_the_end_of_a_promise_counts_nothing(
    resting: Engine, worker, conn, other
):
    await put(resting)
    for _ in range(5):
        await submit(resting)
    await resting.dispatch.take(worker, 1, 5)
    await conn.execute("update promise set look_at = clock_timestamp()")
    waits = "select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    async with other.transaction():
        await other.execute("lock table attainment in exclusive mode")
        judging = asyncio.create_task(watch(resting))
        pid = await wait_for(lambda: conn.fetchval(waits), what="the judge at the counts")
        await conn.execute("select pg_terminate_backend($1)", pid)
        await wait_for(lambda: conn.fetchval(waits.replace("pid", "pid <> $1", 1), pid), what="the next try")
        assert await counted(conn) == (0, 0)
    assert await judging == (5, 0, 0)
    assert (await counted(conn), await promises(conn)) == ((5, 0), 0)


# Figures.


async def test_figures_are_of_spans_and_the_worst_are_named(resting: Engine, worker, conn):
    await put(resting, target=0.5)
    jobs = [await submit(resting, task) for task in ("work", "work", "other")]
    await resting.dispatch.take(worker, 1, 1)
    for job_id, minutes in zip(jobs, (1, -1, -1), strict=True):
        await left(conn, job_id, minutes)
    assert await watch(resting) == (1, 2, 2)
    await conn.execute("insert into attainment select bucket - interval '5 hours', level_id, tenant_id, 'other', 1, 7 "
                       "from attainment limit 1")  # fmt: skip
    await conn.execute("insert into attainment select bucket - interval '31 days', level_id, tenant_id, 'other', 9, 9 "
                       "from attainment limit 1")  # fmt: skip
    (view,) = await resting.service_levels.list_all(ROOT, None)
    assert {span: (sums.kept, sums.broken) for span, sums in view.spans.items()} == {
        "hour": (1, 2), "day": (2, 9), "month": (2, 9),
    }  # fmt: skip
    assert [(task.task, task.broken) for task in view.worst] == [("other", 8), ("work", 1)]


async def test_old_figures_are_forgotten(resting: Engine, worker, conn):
    await conn.execute("insert into attainment values (clock_timestamp() - interval '33 days', 1, 1, 'work', 1, 1)")
    assert (await duty(resting, "service_levels").run_once())["cleaned"] == 1


# Off-peak.


def closed_now(hours: float = 2) -> OffPeak:
    """Opens so many hours from now, for an hour, by UTC's clock."""
    opens = datetime.now(UTC) + timedelta(hours=hours)
    return OffPeak(windows=(Window(start=f"{opens:%H}:00", end=f"{opens + timedelta(hours=1):%H}:00"),))


async def test_work_that_can_wait_is_due_when_off_peak_begins(resting: Engine, worker, conn):
    await put(resting, "nightly", start_within="1h", off_peak=closed_now())
    answer = await resting.submit.one(ROOT, JobRequest(task="work", expires_in="30m"))
    row = await conn.fetchrow("select run_at, rank from job")
    assert answer.state is State.SCHEDULED
    assert (row["run_at"].minute, row["run_at"].second, row["run_at"].microsecond) == (0, 0, 0)
    assert row["run_at"] - resting.clock.now() > timedelta(hours=1) - MINUTE
    made = await options(conn, answer.id)
    assert made.promise is not None
    assert (made.promise.off_peak, made.promise.start_by) == (True, row["run_at"] + timedelta(hours=1))
    assert made.expires == row["run_at"] + 30 * MINUTE


@pytest.mark.parametrize("said", [{"delay": "0s"}, {"run_at": datetime(2026, 1, 1, tzinfo=UTC)}, {"priority": 10}])
async def test_a_job_that_says_when_or_is_an_emergency_does_not_wait_for_off_peak(resting: Engine, worker, conn, said):
    await put(resting, "nightly", off_peak=closed_now())
    answer = await resting.submit.one(ROOT, JobRequest(task="work", **said))
    assert answer.state is State.READY
    assert not (await promise(conn, answer.id)).off_peak


async def test_a_job_inside_the_hours_starts_at_once(resting: Engine, worker):
    await put(resting, "nightly", start_within=None, off_peak=OffPeak(windows=(Window(),), tz="Europe/Berlin"))
    assert (await resting.submit.one(ROOT, JobRequest(task="work"))).state is State.READY


async def test_a_job_that_waits_for_off_peak_can_be_run_now(resting: Engine, worker, conn):
    await put(resting, "nightly", off_peak=closed_now())
    job_id = await submit(resting)
    told = await resting.explain.of(ROOT, UUID(job_id))
    assert told.reasons[0].code is Code.OFF_PEAK
    assert "'nightly'" in told.reasons[0].summary
    assert told.reasons[0].until == await conn.fetchval("select run_at from job")
    await resting.steer.change(ROOT, UUID(job_id), {"delay": "0s"})
    assert (await promise(conn, job_id)).off_peak is False
    assert (await take_one(resting, worker)).id == job_id


async def test_a_zone_that_the_database_does_not_know_is_refused(resting: Engine):
    hours = OffPeak(windows=(Window(start="22:00", end="06:00"),), tz="Europe/Berlin")
    await put(resting, "there", off_peak=hours)
    with pytest.raises(InvalidInput) as refused:
        await put(resting, "gone", task="x", off_peak=OffPeak(windows=hours.windows, tz="Europe/Berlni"))
    assert refused.value.extra["field"] == "off_peak.tz"


# In words.


async def test_an_explanation_says_what_is_promised_and_how_that_stands(resting: Engine, worker, conn):
    await put(resting)
    job_id = await submit(resting)
    (note,) = (await resting.explain.of(ROOT, UUID(job_id))).notes
    assert "'gold' promises a start within 10m" in note
    assert "at risk in 7m" in note
    for ago, words in ((8.5, "at risk with 1m"), (12, "late by 2m")):
        made = await promise(conn, job_id)
        assert made.start_by is not None
        start_by = resting.clock.now() + (10 - ago) * MINUTE
        await conn.execute(
            "update job set options = jsonb_set(options::jsonb, '{promise,start_by}', to_jsonb($1::text))::text",
            start_by.isoformat(),
        )
        (note,) = (await resting.explain.of(ROOT, UUID(job_id))).notes
        assert words in note


async def test_a_level_that_promises_no_start_is_named(resting: Engine, worker):
    await put(resting, "low", start_within=None, priority=2)
    told = await resting.explain.of(ROOT, UUID(await submit(resting)))
    assert told.notes == ["it is under service level 'low', which promises no start"]
