"""What became of tasks' jobs over time."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from horae.store.statements import statements
from horae.testing.waiting import wait_for

from .house import House, end

FILL = """
insert into {table} (bucket, tenant_id, task, queue, submitted, started, succeeded, failed, runs, run_seconds,
                     run_squares, waits, wait_seconds)
select $1, id, 'work', 'default', 10, 9, 6, 2, 4, 8, 16, 8, 4 from tenant where name = 'red'
"""


async def fill(database: str, table: str, bucket: datetime) -> None:
    connection = await asyncpg.connect(database, server_settings={"search_path": "horae"})
    try:
        await connection.execute(FILL.format(table=table), bucket)
    finally:
        await connection.close()


async def sums(house: House, **query: Any) -> list[dict[str, Any]]:
    answer = await house.get("/v1/tasks/work/statistics", **query)
    assert answer.status == 200, answer
    return [item for item in answer.json["items"] if "submitted" in item]


async def test_what_has_just_happened_is_told(house: House):
    worker = await house.worker()
    for _ in range(2):
        await house.submit()
    grants = await worker.take(2)
    while len(grants) < 2:
        grants += await worker.take(2 - len(grants))
    await worker.finish(end(grants[0], took=0.5), end(grants[1], "fatal", took=1.5))
    since = (datetime.now(UTC) - timedelta(hours=1)).isoformat()

    async def told() -> dict[str, Any] | None:
        items = (await house.get("/v1/tasks/statistics", since=since)).json["items"]
        return items[0] if items and items[0].keys() >= {"failed", "succeeded", "wait"} else None

    work = await wait_for(told, 20, what="the sums")
    assert (work["task"], work["tenant"]) == ("work", "red")
    assert (work["submitted"], work["succeeded"], work["failed"]) == (2, 1, 1)
    assert work["mean"] == pytest.approx(1.0)
    assert work["p50"] < 1 < work["p95"]
    assert 0 < work["wait"] < 20
    assert (await house.get("/v1/tasks/statistics", since=since, who="blue")).json["items"] == []


async def test_the_time_is_cut_into_steps_and_empty_ones_are_there(house: House):
    answer = (await house.get("/v1/tasks/work/statistics")).json
    assert answer["step"] == 3600
    assert len(answer["items"]) in {24, 25}
    assert set(answer["items"][0]) == {"at"}
    now = datetime.now(UTC)
    for hours, step in ((0.25, 10), (1, 60), (6, 120), (7 * 24, 3600), (30 * 24, 6 * 3600), (365 * 24, 7 * 86400)):
        asked = {"since": (now - timedelta(hours=hours)).isoformat(), "until": now.isoformat()}
        answer = (await house.get("/v1/tasks/work/statistics", **asked)).json
        assert answer["step"] == step
        assert len(answer["items"]) <= 201


async def test_hours_that_are_summed_up_are_not_counted_twice(house: House, database: str):
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=2)
    await fill(database, "rollup_hour", hour)
    await fill(database, "rollup", hour + timedelta(minutes=5))  # is in the hour already
    await fill(database, "rollup", hour + timedelta(hours=1, minutes=5))
    first, second = await sums(house)
    assert (first["submitted"], second["submitted"]) == (10, 10)
    assert (first["mean"], first["p50"], first["p95"], first["wait"]) == (2, 2, 2, 0.5)
    assert [item["submitted"] for item in (await house.get("/v1/tasks/statistics")).json["items"]] == [20]


async def test_minutes_that_are_summed_up_are_not_counted_twice(house: House, database: str):
    minute = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=30)
    await fill(database, "rollup_minute", minute)
    await fill(database, "rollup", minute + timedelta(seconds=50))  # is in the minute already
    await fill(database, "rollup", minute + timedelta(minutes=1))
    since = (minute - timedelta(minutes=30)).isoformat()
    assert [item["submitted"] for item in await sums(house, since=since)] == [10, 10]
    (told,) = (await house.get("/v1/tasks/statistics", since=since)).json["items"]
    assert told["submitted"] == 20


async def test_a_short_time_long_ago_is_told_by_the_hour(house: House, database: str):
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(days=3)
    await fill(database, "rollup_hour", hour)
    asked = {"since": (hour + timedelta(minutes=10)).isoformat(), "until": (hour + timedelta(minutes=50)).isoformat()}
    (only,) = await sums(house, **asked)
    assert only["submitted"] == 10


@pytest.mark.parametrize(("since", "until"), [("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"),
                                              ("2020-01-01T00:00:00Z", "2026-01-01T00:00:00Z")])  # fmt: skip
async def test_a_time_that_makes_no_sense_is_refused(house: House, since: str, until: str):
    answer = await house.get("/v1/tasks/work/statistics", since=since, until=until)
    assert (answer.code, answer.json["field"]) == ("invalid_input", "since")


async def test_the_sums_of_all_tenants_are_those_of_each_together(house: House, database: str):
    """Whatever has been summed up into minutes and hours by now, and however often."""
    connection = await asyncpg.connect(database, server_settings={"search_path": "horae"})
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    chance = random.Random(7)
    try:
        async with connection.transaction():  # all at once: the server sums up too, and does not look back
            for minutes in chance.sample(range(3, 300), 60):
                await connection.execute(
                    "insert into rollup (bucket, tenant_id, task, queue, submitted, failed) "
                    "select $1, id, 'work', $2, $3, $4 from tenant where name = $5",
                    now - timedelta(minutes=minutes), chance.choice(["default", "other"]), chance.randrange(9),
                    chance.randrange(9), chance.choice(["red", "blue"]),
                )  # fmt: skip
        for name in ("rollup_fold_minutes", "rollup_fold_minutes", "rollup_fold_hours", "rollup_fold_hours"):
            await connection.execute(statements()[name])
        plain = await connection.fetchrow("select sum(submitted)::int, sum(failed)::int from rollup")
    finally:
        await connection.close()

    for hours in (5.9, 24):
        since = (now - timedelta(hours=hours)).isoformat()
        found = (await house.get("/v1/tasks/work/statistics", since=since, who="root")).json["items"]
        assert tuple(sum(step.get(name, 0) for step in found) for name in ("submitted", "failed")) == tuple(plain)
        each = (await house.get("/v1/tasks/statistics", since=since, who="root")).json["items"]
        assert sum(task["submitted"] for task in each) == plain[0]
