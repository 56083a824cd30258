"""horae.submit(): a job enqueued by SQL is like one that came over HTTP, and nonsense is refused in the transaction."""

import json
from datetime import UTC, datetime, timedelta
from itertools import product

import asyncpg
import msgspec
import pytest

from horae.model.ids import created_at
from horae.model.job import JobOptions, read_options
from horae.model.rank import EMERGENCY, LOWEST, rank
from horae.model.retry import RetryPolicy

SUBMIT = "select horae.submit($1, $2::text::jsonb, $3::text::jsonb)"


@pytest.fixture
async def sql(conn):
    await conn.execute("insert into tenant (name) values ('red')")
    await conn.execute("insert into task (tenant_id, name) values (0, 'work'), (2, 'ours')")
    return conn


async def submit(conn, task="work", params="{}", **options):
    return await conn.fetchval(SUBMIT, task, params, json.dumps(options))


def instant(days: float) -> datetime:
    return datetime.now(UTC).replace(microsecond=123_456) + timedelta(days=days)


async def test_the_rank_is_the_models(sql):
    times = (-3000, -1, -0.01, 0.01, 1, 3000)
    deadlines = (None, instant(-3000), instant(-0.03), instant(0.005), instant(1), instant(4000))
    for priority, days, deadline in product(range(LOWEST, EMERGENCY + 1), times, deadlines):
        at, more = instant(days), {} if deadline is None else {"deadline": deadline.isoformat()}
        before = await sql.fetchval("select clock_timestamp()")
        job_id = await submit(sql, run_at=at.isoformat(), priority=priority, **more)
        after = await sql.fetchval("select clock_timestamp()")
        stored = await sql.fetchval("select rank from job where id = $1", job_id)
        assert rank(at, before, priority, deadline) <= stored <= rank(at, after, priority, deadline)


async def test_a_job_of_now_is_ready_and_one_of_later_waits(sql):
    now, later = await submit(sql), await submit(sql, delay=60)
    assert await sql.fetchval("select id from ready") == now
    assert await sql.fetchval("select id from timer") == later
    row = await sql.fetchrow("select * from job where id = $1", now)
    assert (row["priority"], row["params"], row["options"], row["tenant_id"]) == (5, "{}", None, 1)
    assert abs(created_at(now) - row["run_at"]) < timedelta(seconds=5)


async def test_the_tasks_defaults_are_filled_in(sql):
    await sql.execute(
        "insert into task (tenant_id, name, queue, priority, max_attempts, timeout_seconds, retry) "
        """values (1, 'slow', 'nights', 3, 9, 60, '{"first":1}')"""
    )
    job_id = await submit(sql, "slow")
    row = await sql.fetchrow("select j.*, l.queue from job j join lane l on l.id = j.lane_id where j.id = $1", job_id)
    assert (row["queue"], row["priority"]) == ("nights", 3)
    assert read_options(row["options"]) == JobOptions(max_attempts=9, timeout=60, retry=RetryPolicy(first=1))
    job_id = await submit(sql, "slow", queue="days", priority=8, max_attempts=2, timeout=5, retry={"first": 3})
    row = await sql.fetchrow("select j.*, l.queue from job j join lane l on l.id = j.lane_id where j.id = $1", job_id)
    assert (row["queue"], row["priority"]) == ("days", 8)
    assert read_options(row["options"]) == JobOptions(max_attempts=2, timeout=5, retry=RetryPolicy(first=3))


async def test_all_that_is_stored_can_be_read_back(sql):
    at = instant(2)
    job_id = await submit(
        sql,
        params='{"a": "é\\n"}',
        labels={"k": "v"},
        deadline=at.isoformat(),
        concurrency_key="c",
        tenant="red",
        task="ours",
    )
    row = await sql.fetchrow("select * from job where id = $1", job_id)
    assert row["tenant_id"] == 2
    assert msgspec.json.decode(row["params"]) == {"a": "é\n"}
    assert read_options(row["options"]) == JobOptions(labels={"k": "v"}, deadline=at)


WRONG = {
    "colour": (1,),
    "priority": (0, 11, "high"),
    "delay": (-1, "NaN", 1e300),
    "run_at": ("tomorrowish", "9999-01-01T00:00:00Z", "infinity", "1900-01-01T00:00:00Z"),
    "deadline": ("infinity", "soon"),
    "max_attempts": (0, 1001),
    "timeout": (0, -1, 1e12, "NaN"),
    "labels": (5, {"a": 1}, ["a"], {"a b": "c"}),
    "retry": ("x", {"first": -1}, {"colour": 1}, {"first": "x"}),
    "queue": ("", "a b", "x" * 300),
    "concurrency_key": ("x" * 300,),
    "tenant": ("nobody",),
}


async def test_wrong_options_raise_and_leave_nothing(sql):
    accepted = []
    wrong = [{name: value} for name, values in WRONG.items() for value in values]
    for options in [*wrong, {"run_at": "2030-01-01T00:00:00Z", "delay": 5}]:
        try:
            await submit(sql, **options)
        except asyncpg.PostgresError:
            continue
        accepted.append(options)
    assert accepted == []
    for table in ("job", "ready", "timer"):
        assert await sql.fetchval(f"select count(*) from {table}") == 0


async def test_params_must_be_an_object(sql):
    for params in ("[]", "1", "null", '"x"'):
        with pytest.raises(asyncpg.RaiseError, match="params"):
            await submit(sql, params=params)


async def test_an_unknown_task_is_refused_and_the_message_names_it(sql):
    with pytest.raises(asyncpg.RaiseError, match="nosuch"):
        await submit(sql, "nosuch")
    with pytest.raises(asyncpg.RaiseError, match="ours"):
        await submit(sql, "ours")
    await submit(sql, "ours", tenant="red")


async def test_what_may_be_left_out_may_be_null(sql):
    await sql.fetchval(SUBMIT, "work", "{}", '{"labels": null, "retry": null, "queue": null, "timeout": null}')
    assert await sql.fetchval("select options from job") is None


async def test_two_transactions_that_need_the_same_new_lane_both_get_it(sql, database):
    other = await asyncpg.connect(database)
    async with sql.transaction():
        first = await submit(sql, queue="fresh")
    async with other.transaction():
        second = await submit(other, queue="fresh")
    await other.close()
    assert await sql.fetchval("select count(distinct lane_id) from ready where id in ($1, $2)", first, second) == 1


async def test_an_account_without_rights_on_the_tables_may_still_submit(sql):
    await sql.execute("create role guest_of_sql")
    await sql.execute("grant usage on schema horae to guest_of_sql")
    try:
        async with sql.transaction():
            await sql.execute("set local role guest_of_sql")
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                async with sql.transaction():
                    await sql.fetch("select * from job")
            await submit(sql)
    finally:
        await sql.execute("revoke usage on schema horae from guest_of_sql")
        await sql.execute("drop role guest_of_sql")
