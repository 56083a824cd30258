"""horae.submit() under service levels: the same level, promise and off-peak hours as over HTTP."""

import json
import random
from datetime import UTC, datetime, timedelta

import pytest

from horae.model.job import promise_of
from horae.model.offpeak import off_peak_start, week_ranges
from horae.model.promise import at_risk_from
from horae.model.timing import OffPeak, Window

LEVEL = ("insert into service_level (tenant_id, name, task, start_within, target, priority, off_peak_zone, "
         "off_peak_minutes, made_by) values ($1, $2, $3, $4, 0.99, $5, $6, $7::text::int4multirange, 'me') "
         "returning id")  # fmt: skip
SUBMIT = "select horae.submit($1, '{}', $2::text::jsonb)"
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu")


def multirange(off_peak: OffPeak) -> str:
    return "{" + ",".join(f"[{since},{until})" for since, until in week_ranges(off_peak)) + "}"


@pytest.fixture
async def sql(conn):
    await conn.execute("insert into task (tenant_id, name, priority) values (0, 'work', null), (0, 'urgent', 6)")
    return conn


async def put(sql, name="gold", tenant=None, task=None, within=600.0, priority=None, off_peak=None):
    hours = (None, None) if off_peak is None else (off_peak.tz, multirange(off_peak))
    return await sql.fetchval(LEVEL, tenant, name, task, within, priority, *hours)


async def submit(sql, task="work", **options):
    job_id = await sql.fetchval(SUBMIT, task, json.dumps(options))
    return await sql.fetchrow("select * from job where id = $1", job_id)


async def test_the_promise_is_the_models(sql):
    level_id = await put(sql)
    job = await submit(sql, delay=3600)
    promise = promise_of(job["options"])
    assert (promise.level, promise.level_id, promise.within, promise.off_peak) == ("gold", level_id, 600.0, False)
    assert promise.start_by == job["run_at"] + timedelta(minutes=10)
    row = await sql.fetchrow("select * from promise")
    assert (row["id"], row["due_at"]) == (job["id"], promise.start_by)
    assert row["look_at"] == at_risk_from(promise.start_by, 600.0)


async def test_the_most_specific_level_counts(sql):
    found = []
    for name, tenant, task in (("all", None, None), ("mine", 1, None), ("task", None, "work"), ("both", 1, "work")):
        await put(sql, name, tenant, task)
        found.append(promise_of((await submit(sql))["options"]).level)
    await put(sql, "others", 2, "work")
    assert found == ["all", "mine", "task", "both"]
    assert promise_of((await submit(sql))["options"]).level == "both"


async def test_without_a_level_nothing_is_written(sql):
    await put(sql, task="urgent")
    assert (await submit(sql))["options"] is None
    assert await sql.fetchval("select count(*) from promise") == 0


async def test_its_priority_is_for_jobs_that_have_none_and_its_promise_caps_the_rank(sql):
    await put(sql, priority=2, within=30.0)
    jobs = [await submit(sql), await submit(sql, "urgent"), await submit(sql, priority=9)]
    assert [job["priority"] for job in jobs] == [2, 6, 9]
    job = await submit(sql, priority=1)
    promise = promise_of(job["options"])
    assert job["rank"] == (promise.start_by - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


async def test_work_that_can_wait_goes_off_peak_unless_it_says_otherwise(sql):
    opens = datetime.now(UTC) + timedelta(hours=2)
    hours = OffPeak(windows=(Window(start=f"{opens:%H}:00", end=f"{opens + timedelta(hours=1):%H}:00"),))
    await put(sql, off_peak=hours)
    job = await submit(sql, expires_in=60)
    assert job["run_at"] == off_peak_start(hours, datetime.now(UTC)) == opens.replace(minute=0, second=0, microsecond=0)
    assert promise_of(job["options"]).off_peak
    assert await sql.fetchval("select count(*) from timer") == 1
    assert await sql.fetchval("select expires_at from expiry") == job["run_at"] + timedelta(minutes=1)
    for said in ({"delay": 0}, {"priority": 10}, {"run_at": "2026-01-01T00:00:00Z"}):
        assert not promise_of((await submit(sql, **said))["options"]).off_peak
    assert await sql.fetchval("select count(*) from ready") == 3


CHANGES = ("2026-03-29T01:00Z", "2026-10-25T01:00Z", "2026-03-08T07:00Z", "2026-11-01T06:00Z", "2026-04-04T15:00Z",
           "2026-10-03T15:30Z", "2026-07-01T00:00Z")  # fmt: skip


def some_hours(draw: random.Random) -> OffPeak:
    def window() -> Window:
        start, end = (f"{draw.randrange(24):02}:{draw.choice((0, 30, 59)):02}" for _ in range(2))
        return Window(days=draw.choice((None, "SUN", "MON-FRI", "SAT")), start=start, end=end)

    return OffPeak(windows=tuple(window() for _ in range(draw.randint(1, 2))), tz=draw.choice(ZONES))


async def test_off_peak_begins_in_the_database_when_it_does_in_the_model(sql):
    draw, wrong = random.Random(16), []
    for _ in range(100):
        off_peak, change = some_hours(draw), datetime.fromisoformat(draw.choice(CHANGES))
        at = change + timedelta(minutes=draw.randint(-2000, 2000), seconds=7)
        found = await sql.fetchval("select off_peak_start($1::text::int4multirange, $2, $3)",
                                   multirange(off_peak), off_peak.tz, at)  # fmt: skip
        if found != off_peak_start(off_peak, at):
            wrong.append((off_peak, at, found))
    assert wrong == []
