"""Backfills and forecasts."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from horae.engine.engine import Engine
from horae.model.errors import DuplicateBackfill, InvalidInput, Overloaded, StoreUnavailable
from horae.model.states import End
from horae.model.timing import Rule

from .staging import ROOT, done, duty, join, take_one
from .test_schedules import TENANT, make, once

NOW = datetime.now(UTC).replace(microsecond=0)
SINCE, UNTIL = NOW - timedelta(hours=10, minutes=30), NOW - timedelta(minutes=30)


async def hourly(engine: Engine, **given: Any) -> None:
    await make(engine, rules=[Rule(every="1h", anchor=NOW)], **given)


async def fill(engine: Engine, concurrency: int = 3) -> Any:
    return await engine.backfilling.start(ROOT, TENANT, "s", SINCE, UNTIL, concurrency)


async def finish(engine: Engine, worker: Any, number: int, end: End = End.SUCCEEDED) -> str:
    grant = await take_one(engine, worker, number)
    await engine.complete.attempts(worker.worker_id, [done(grant, end)])
    return grant.id


async def test_a_backfill_is_shown_first(resting: Engine, conn):
    await join(resting)
    await hourly(resting)
    shown = await resting.backfilling.look(TENANT, "s", SINCE, UNTIL)
    assert [item.tick.at for item in shown] == [NOW - timedelta(hours=hours) for hours in range(10, 0, -1)]
    assert await conn.fetchval("select count(*) from backfill") == 0


async def test_a_backfill_keeps_to_its_concurrency_and_ends(resting: Engine, conn):
    worker = await join(resting)
    await hourly(resting, tick_param="at")
    await fill(resting)
    backfills = duty(resting, "backfills")
    ran = set()
    for number in range(1, 11):
        await backfills.run_once()
        assert await conn.fetchval("select count(*) from ready") == min(3, 11 - number)
        ran.add(await finish(resting, worker, number))
    await backfills.run_once()
    (row,) = await resting.backfilling.list_all(TENANT, "s")
    assert (row["state"], row["total"], row["fired"], row["succeeded"]) == ("done", 10, 10, 10)
    assert len(ran) == await conn.fetchval("select count(distinct params) from job") == 10


async def test_of_several_backfills_of_one_range_one_is_made_and_the_others_are_told_which(resting: Engine, conn):
    await join(resting)
    await hourly(resting)
    answers = await asyncio.gather(*(fill(resting) for _ in range(10)), return_exceptions=True)
    (made,) = (answer for answer in answers if not isinstance(answer, DuplicateBackfill))
    assert {answer.extra["backfill"] for answer in answers if isinstance(answer, DuplicateBackfill)} == {made["id"]}
    await resting.backfilling.cancel(TENANT, "s", made["id"])
    assert (await fill(resting))["id"] != made["id"]


async def test_what_succeeded_is_not_run_again(resting: Engine, conn):
    worker = await join(resting)
    await hourly(resting)
    await fill(resting, 10)
    await duty(resting, "backfills").run_once()
    for number in range(1, 5):
        await finish(resting, worker, number)
    with pytest.raises(InvalidInput, match="nothing to do"):
        await fill(resting)
    for number in range(5, 11):
        await finish(resting, worker, number, End.FATAL)
    await duty(resting, "backfills").run_once()
    shown = await resting.backfilling.look(TENANT, "s", SINCE, UNTIL)
    assert [item.left_out for item in shown] == ["it succeeded"] * 4 + [None] * 6
    assert (await fill(resting))["total"] == 6


async def test_a_cancelled_backfill_takes_back_what_has_not_started(resting: Engine, conn):
    worker = await join(resting)
    await hourly(resting)
    made = await fill(resting)
    await duty(resting, "backfills").run_once()
    grant = await take_one(resting, worker)
    row = await resting.backfilling.cancel(TENANT, "s", made["id"])
    assert row["state"] == "cancelled"
    assert [str(job["id"]) for job in await conn.fetch("select id from job")] == [grant.id]
    await duty(resting, "backfills").run_once()
    assert await conn.fetchval("select count(*) from job") == 1


async def test_a_backfill_goes_on_after_a_crash_between_commit_and_answer(resting: Engine, conn):
    """The cursor is put back: what was made already is not made again."""
    await join(resting)
    await hourly(resting)
    await fill(resting, 20)
    await duty(resting, "backfills").run_once()
    jobs = await conn.fetchval("select count(*) from job")
    await conn.execute("update backfill set cursor_at = since")
    await duty(resting, "backfills").run_once()
    assert await conn.fetchval("select count(*) from job") == jobs == 10


@pytest.mark.parametrize(
    "wrong", [{"until": NOW + timedelta(days=1)}, {"until": SINCE}, {"since": NOW - timedelta(days=3000)}]
)
async def test_a_range_that_will_not_do_is_refused(resting: Engine, wrong: dict[str, Any]):
    await join(resting)
    await hourly(resting)
    with pytest.raises(InvalidInput):
        await resting.backfilling.look(TENANT, "s", **({"since": SINCE, "until": UNTIL} | wrong))


async def test_until_now_by_a_clock_that_is_a_little_ahead_ends_now(resting: Engine):
    await join(resting)
    await make(resting, rules=[Rule(every="1s", anchor=NOW)])
    ahead = datetime.now(UTC) + timedelta(seconds=30)
    made = await resting.backfilling.start(ROOT, TENANT, "s", NOW - timedelta(seconds=5), ahead, 1)
    assert made["until"] <= datetime.now(UTC) + timedelta(seconds=5)


async def test_a_forecast_finds_collisions_and_spreads_them(resting: Engine):
    await join(resting)
    for number in range(20):
        await make(resting, f"report-{number}", cron="0 3 * * *")
    await make(resting, "often", every="10s")
    found = await resting.forecasting.forecast(TENANT, NOW, NOW + timedelta(days=1), 5)
    assert found.schedules == 21
    assert found.peak == 21
    assert found.collisions[0].ticks == 21
    assert found.collisions[0].at.hour == 3
    assert len(found.minutes) >= 1440
    assert {proposal.cron for proposal in found.proposals} == {"H 3 * * *"}
    assert found.peak_spread < 8


async def test_many_backfills_of_one_take_turns_with_those_of_others(
    resting: Engine, conn, monkeypatch: pytest.MonkeyPatch
):
    """The first two have no room and never end; the third comes after them."""
    monkeypatch.setattr("horae.engine.duties.backfills.BATCH", 2)
    await join(resting)
    for name in ("a", "b", "c"):
        await make(resting, name, rules=[Rule(every="1h", anchor=NOW)])
        await resting.backfilling.start(ROOT, TENANT, name, SINCE, UNTIL, 1)
    backfills = duty(resting, "backfills")
    assert [(await backfills.run_once())["jobs"] for _ in range(3)] == [2, 1, 0]


async def test_what_a_backfill_could_not_make_while_the_database_was_away_it_makes_later(
    resting: Engine, conn, monkeypatch: pytest.MonkeyPatch
):
    await join(resting)
    await hourly(resting)
    await fill(resting)
    once(monkeypatch, resting.backfilling._planner._submit, "prepare")
    with pytest.raises(StoreUnavailable):
        await duty(resting, "backfills").run_once()
    made = [(await duty(resting, "backfills").run_once())["jobs"] for _ in range(2)]
    assert made == [0, 3]  # The round ends, and its turn comes again.
    assert await conn.fetchval("select count(*) from tick where state = 'skipped'") == 0


async def test_what_a_backfill_could_not_make_as_its_tenant_asks_too_much_it_makes_later(
    resting: Engine, conn, monkeypatch: pytest.MonkeyPatch
):
    await join(resting)
    await hourly(resting)
    await fill(resting)
    once(monkeypatch, resting.backfilling._planner._submit, "prepare", Overloaded("too many schemas", retry_after=1))
    made = [(await duty(resting, "backfills").run_once())["jobs"] for _ in range(3)]
    assert (made[0], sum(made)) == (0, 3)
    assert await conn.fetchval("select count(*) from tick where state = 'skipped'") == 0


async def test_a_backfill_that_cannot_be_read_stops_no_other(resting: Engine, conn):
    await join(resting)
    for name in ("bad", "good"):
        await make(resting, name, rules=[Rule(every="1h", anchor=NOW)])
        await resting.backfilling.start(ROOT, TENANT, name, SINCE, UNTIL, 3)
    await conn.execute("update schedule set definition = '{}' where name = 'bad'")
    assert (await duty(resting, "backfills").run_once())["jobs"] == 3
