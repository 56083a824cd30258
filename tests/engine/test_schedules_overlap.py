"""Overlap and missed ticks: judged when a tick is due, decided by policy, recorded with the reason."""

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from horae.engine.duties.ticks import Ticks
from horae.engine.engine import Engine
from horae.engine.planning import AHEAD
from horae.model.overlap import Missed, Overlap
from horae.model.states import End
from horae.model.timing import Rule
from horae.testing.waiting import wait_for

from .staging import ROOT, done, duty, join, take_one
from .test_schedules import TENANT, make, rewind, states


async def due_now(engine: Engine, conn: Any, count: int = 1, name: str = "s") -> None:
    """Lets the next so many planned ticks be due, and judges them."""
    await conn.execute(
        """update tick set look_at = clock_timestamp(), run_at = clock_timestamp() where (schedule_id, at) in (
               select t.schedule_id, t.at from tick t join schedule s on s.id = t.schedule_id and s.name = $2
               where t.state = 'planned' order by t.at limit $1)""",
        count, name,
    )  # fmt: skip
    await engine.ticks.run_once()


async def plan(engine: Engine, conn: Any) -> None:
    """Plans ticks, and lets none of them be due but by `due_now`."""
    await engine.ticks.run_once()
    await conn.execute("update tick set look_at = look_at + interval '1 hour' where state = 'planned'")
    await conn.execute("update schedule set next_at = next_at + interval '1 hour'")


async def look_again(engine: Engine, conn: Any) -> None:
    await conn.execute("update tick set look_at = clock_timestamp() where state = 'waiting'")
    await engine.ticks.run_once()


async def decided(conn: Any) -> list[tuple[str, str | None]]:
    rows = await conn.fetch("select state, reason from tick where state <> 'planned' order by at")
    return [(row["state"], row["reason"]) for row in rows]


async def make_slow(engine: Engine, **given: Any) -> None:
    """Its first tick is due long after it was planned, on the slowest machine; later ones are planned with it.

    The anchor is past by any server's clock: if one is a little slow, the anchor would be the first tick, due at once.
    """
    await make(engine, rules=[Rule(every="10s", anchor=datetime.now(UTC) - timedelta(seconds=1))], **given)


async def start(engine: Engine, conn: Any, overlap: Overlap) -> tuple[Any, Any]:
    """A schedule of that overlap whose first run is going on."""
    worker = await join(engine)
    await make_slow(engine, overlap=overlap)
    await plan(engine, conn)
    await due_now(engine, conn)
    return worker, await take_one(engine, worker)


async def test_where_runs_must_not_overlap_no_job_is_made_ahead(resting: Engine, conn):
    await join(resting)
    await make_slow(resting, overlap=Overlap.SKIP)
    before = await conn.fetchval("select clock_timestamp()")
    await resting.ticks.run_once()
    after = await conn.fetchval("select clock_timestamp()")
    assert await conn.fetchval("select count(*) from job") == 0
    planned = [row["at"] for row in await conn.fetch("select at from tick where state = 'planned' order by at")]
    following = await conn.fetchval("select next_at from schedule")
    assert {later - earlier for earlier, later in pairwise([*planned, following])} == {timedelta(seconds=10)}
    assert planned[0] < before + timedelta(seconds=10)
    assert planned[-1] <= after + AHEAD
    assert following > before + AHEAD


async def test_skip_leaves_out_ticks_while_a_run_goes_on(resting: Engine, conn):
    worker, grant = await start(resting, conn, Overlap.SKIP)
    await due_now(resting, conn, 2)
    assert await decided(conn) == [("fired", None), ("skipped", "overlap"), ("skipped", "overlap")]
    await resting.complete.attempts(worker.worker_id, [done(grant)])
    await due_now(resting, conn)
    assert (await decided(conn))[-1] == ("fired", None)
    assert await conn.fetchval("select runs from schedule") == 2


async def test_a_run_that_waits_to_be_tried_again_goes_on(resting: Engine, conn):
    worker, grant = await start(resting, conn, Overlap.SKIP)
    await resting.complete.attempts(worker.worker_id, [done(grant, End.ERROR)])
    await due_now(resting, conn)
    assert (await decided(conn))[-1] == ("skipped", "overlap")


async def test_queue_lets_one_tick_wait(resting: Engine, conn):
    worker, grant = await start(resting, conn, Overlap.QUEUE)
    await due_now(resting, conn, 3)
    assert await decided(conn) == [("fired", None), ("waiting", None), ("skipped", "overlap"), ("skipped", "overlap")]
    await look_again(resting, conn)
    assert (await decided(conn))[1] == ("waiting", None)
    await resting.complete.attempts(worker.worker_id, [done(grant)])
    await look_again(resting, conn)
    assert (await decided(conn))[1] == ("fired", None)
    assert await conn.fetchval("select count(*) from ready") == 1


async def test_replace_cancels_the_run_and_starts_when_it_is_gone(resting: Engine, conn):
    worker, grant = await start(resting, conn, Overlap.REPLACE)
    await due_now(resting, conn, 2)
    assert await decided(conn) == [("fired", None), ("skipped", "overlap"), ("waiting", None)]
    assert [str(row["id"]) for row in await conn.fetch("select id from cancel_request")] == [grant.id]
    await due_now(resting, conn)
    assert (await decided(conn))[2:] == [("skipped", "overlap"), ("waiting", None)]
    await resting.complete.attempts(worker.worker_id, [done(grant, End.CANCELLED)])
    await look_again(resting, conn)
    assert (await decided(conn))[2:] == [("skipped", "overlap"), ("fired", None)]
    assert (await take_one(resting, worker, 2)).id != grant.id


async def test_replace_takes_away_a_run_that_has_not_started(resting: Engine, conn):
    await join(resting)
    await make_slow(resting, overlap=Overlap.REPLACE)
    await plan(resting, conn)
    await due_now(resting, conn)
    await due_now(resting, conn)
    await look_again(resting, conn)
    assert await conn.fetchval("select count(*) from outcome where state = 'cancelled'") == 1
    assert await conn.fetchval("select count(*) from ready") == 1


async def test_a_waiting_tick_starts_by_itself_when_the_run_ends(engine: Engine):
    worker = await join(engine)
    await make(engine, every="1s", overlap=Overlap.QUEUE)
    for number in range(1, 4):
        waiter = engine.dispatch.wait(worker, number, 5)
        grants = await asyncio.wait_for(waiter.answer, 20)
        assert len(grants) == 1
        await engine.complete.attempts(worker.worker_id, [done(grants[0])])


async def test_a_judged_tick_is_punctual(start_engine, conn, monkeypatch: pytest.MonkeyPatch):
    """With an hour between its rounds, the duty is there in time only because it wakes for the tick."""
    monkeypatch.setattr(Ticks, "interval", 3600.0)
    engine = await start_engine()
    worker = await join(engine)
    at = engine.clock.now() + timedelta(seconds=5)
    await make(engine, rules=[Rule(every="1h", anchor=at)], overlap=Overlap.SKIP)
    waiter = engine.dispatch.wait(worker, 1, 1)
    await asyncio.wait_for(waiter.answer, 60)
    assert await conn.fetchval("select granted_at >= $1 from lease", at)


async def test_two_servers_judge_a_tick_once(start_engine, conn):
    engines = [await start_engine() for _ in range(2)]
    await join(engines[0])
    for number in range(20):
        await make(engines[0], f"s{number}", every="1s", overlap=Overlap.SKIP)

    async def judged() -> bool:
        # Those that the engines' own duties hold are being judged anyway; to wait for them could be a deadlock.
        await conn.execute(
            "update tick set look_at = clock_timestamp() where ctid = any (array("
            "select ctid from tick where state = 'planned' for update skip locked))"
        )
        await asyncio.gather(*(engine.ticks.run_once() for engine in engines * 3))
        return await conn.fetchval("select count(distinct schedule_id) from tick where state = 'skipped'") == 20

    await wait_for(judged, 60)
    assert await conn.fetchval("select count(*) from job") == 20


async def test_a_pause_takes_back_ticks_that_wait(resting: Engine, conn):
    await start(resting, conn, Overlap.QUEUE)
    await due_now(resting, conn)
    await resting.scheduling.pause(ROOT, TENANT, "s", "")
    assert await conn.fetchval("select count(*) from tick where look_at is not null") == 0


async def test_max_runs_counts_judged_ticks(resting: Engine, conn):
    worker = await join(resting)
    await make_slow(resting, overlap=Overlap.SKIP, max_runs=2)
    await plan(resting, conn)
    for number in range(1, 3):
        await due_now(resting, conn)
        grant = await take_one(resting, worker, number)
        await resting.complete.attempts(worker.worker_id, [done(grant)])
    await due_now(resting, conn, 2)
    assert (await decided(conn))[-2:] == [("skipped", "max_runs")] * 2


MINUTES = 30


@pytest.mark.parametrize("overlap", [Overlap.ALLOW, Overlap.SKIP])
@pytest.mark.parametrize(
    ("policy", "fired"),
    [
        ({"missed": Missed.SKIP}, 0),
        ({"missed": Missed.LATEST}, 1),
        ({"missed": Missed.ALL, "missed_limit": 5}, 5),
        ({"missed": Missed.ALL, "missed_limit": 100}, MINUTES - 1),
        ({"missed": Missed.WINDOW, "missed_window": "10m"}, 9),
    ],
    ids=str,
)
async def test_missed_ticks_are_caught_up_with_by_policy(
    resting: Engine, conn, policy: dict[str, Any], fired: int, overlap: Overlap
):
    """Half an hour passed in which nobody looked."""
    await join(resting)
    anchor = datetime.now(UTC) - timedelta(minutes=MINUTES, seconds=30)
    await make(resting, rules=[Rule(every="1m", anchor=anchor)], overlap=overlap, **policy)
    await rewind(conn, MINUTES * 60)
    await resting.ticks.run_once()
    late = await conn.fetch("select reason, count from tick where at < clock_timestamp() - interval '1 minute'")
    taken = [row for row in late if row["reason"] != "missed"]
    assert len(taken) == fired
    total = sum(row["count"] for row in late)
    assert total == MINUTES - 1
    if overlap is Overlap.ALLOW:
        assert await conn.fetchval("select count(*) from ready") == fired + 1  # and the one that is just due


async def test_a_tick_that_is_a_little_late_is_not_missed(resting: Engine, conn):
    await join(resting)
    await make(resting, every="1s", missed=Missed.SKIP)
    began = await conn.fetchval("select clock_timestamp()")
    await rewind(conn, 30)
    await resting.ticks.run_once()
    assert {state for state, _, _ in await states(conn)} == {"fired"}
    meanwhile = (await conn.fetchval("select clock_timestamp()") - began).total_seconds()
    assert 29 <= await conn.fetchval("select count(*) from ready") <= 31 + meanwhile


async def test_a_very_long_absence_is_caught_up_with_piece_by_piece(resting: Engine, conn):
    await join(resting)
    await make(resting, every="1s", missed=Missed.ALL, missed_limit=7)
    began = await conn.fetchval("select clock_timestamp()")
    await rewind(conn, 3600)
    await resting.ticks.run_once()
    ended = await conn.fetchval("select clock_timestamp()")
    # Those up to a minute late when they were planned, which was some time between the two, are not late.
    early = "select count(*) from job where run_at < $1::timestamptz - interval '1 minute'"
    assert await conn.fetchval(early, began) <= 7 <= await conn.fetchval(early, ended)
    for _ in range(20):
        await resting.ticks.run_once()
    skipped = sum(count for state, _, count in await states(conn) if state == "skipped")
    assert 3520 <= skipped <= 3545 + (ended - began).total_seconds()


async def test_jobs_made_ahead_are_judged_by_policy_when_no_server_ran(resting: Engine, conn):
    """The server stopped a moment after it had planned, and starts again an hour later."""
    await join(resting)
    await make(resting, every="1s", missed=Missed.SKIP)
    await resting.ticks.run_once()
    fired = [row["id"] for row in await conn.fetch("select id from ready")]
    for change in (
        "update timer set run_at = run_at - interval '1 hour'",
        "update job set run_at = run_at - interval '1 hour'",
        "update tick set run_at = run_at - interval '1 hour', at = at - interval '1 hour'",
        "update schedule set cursor_at = cursor_at - interval '1 hour', next_at = next_at - interval '1 hour'",
    ):
        await conn.execute(change)
    assert await resting.ticks.recall() == 1
    assert await conn.fetchval("select count(*) from timer") == 0
    for _ in range(20):
        await resting.ticks.run_once()
    late = "select id from job where run_at < clock_timestamp() - interval '5 minutes'"
    assert [row["id"] for row in await conn.fetch(late)] == fired  # on a slow machine, one before it all
    assert ("skipped", "missed") in {(state, reason) for state, reason, _ in await states(conn)}


async def test_a_clock_set_forward_and_back_fires_nothing_twice(resting: Engine, conn):
    """What the database's clock says is only seen through the schedules' own times: those are moved instead."""
    await join(resting)
    await make(resting, every="1m", missed=Missed.LATEST)
    await rewind(conn, 7200)  # the clock was set forward by two hours
    await resting.ticks.run_once()
    jobs = {row["id"] for row in await conn.fetch("select id from job")}
    assert len(jobs) in {2, 3}  # the latest of the missed, one just due, one ahead
    await conn.execute(
        "update schedule set cursor_at = cursor_at + interval '2 hours', next_at = next_at + interval '2 hours'"
    )
    for _ in range(3):  # and back: what lies ahead was dealt with already
        await resting.ticks.run_once()
    assert {row["id"] for row in await conn.fetch("select id from job")} == jobs


async def test_the_duty_is_one_of_those_that_readiness_watches(resting: Engine):
    assert duty(resting, "ticks") is resting.ticks
