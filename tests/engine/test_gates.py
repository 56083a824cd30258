"""Gates: nothing starts behind one, nothing is lost by one."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from horae.engine.duties import gates
from horae.engine.engine import Engine
from horae.engine.gates import GateOrder
from horae.engine.sessions import Session
from horae.model.errors import InvalidInput, NotFound, WrongState
from horae.model.gates import Action, Running
from horae.model.placement import Requirements
from horae.store.statements import statements
from horae.testing.waiting import wait_for

from .staging import ROOT, done, duty, join, submit, take_one


async def close(engine: Engine, **order: Any) -> int:
    return (await engine.gating.create(ROOT, GateOrder(**{"reason": "a test"} | order)))["id"]


async def sweep(engine: Engine) -> dict[str, int]:
    """The duty, as if it had rested."""
    it = duty(engine, "gates")
    for walk in it._walks.values():
        walk.resting_until = 0.0
    return await it.run_once()


async def take_all(engine: Engine, session: Session, want: int = 100) -> set[str]:
    return {grant.id for grant in await engine.dispatch.take(session, 1, want)}


async def states(conn: Any) -> dict[str, str]:
    """The table that holds each job, of all jobs: one each."""
    rows = await conn.fetch(
        "select id::text, 'ready' as state from ready union all select id::text, 'timer' from timer union all "
        "select id::text, 'blocked' from blocked union all select id::text, 'running' from lease union all "
        "select id::text, state::text from outcome"
    )
    found = {row["id"]: row["state"] for row in rows}
    assert len(found) == len(rows) == await conn.fetchval("select count(*) from job")
    return found


async def test_nothing_starts_behind_a_gate_and_everything_after_its_release(resting: Engine) -> None:
    worker = await join(resting)
    job = await submit(resting)
    gate = await close(resting, task="work")
    assert await take_all(resting, worker) == set()
    assert (await resting.gating.get(ROOT, gate))["held"] == 1
    await resting.gating.release(ROOT, gate, None)
    assert await take_all(resting, worker) == {job}


@pytest.mark.parametrize("scope", [{"task": "other"}, {"queue": "other"}])
async def test_a_gate_concerns_only_the_jobs_it_names(resting: Engine, scope: dict[str, str]) -> None:
    worker = await join(resting, "work", "other")
    job = await submit(resting)
    held = await submit(resting, "other", queue="other")
    await close(resting, **scope)
    assert await take_all(resting, worker) == {job}
    assert held


async def test_a_gate_for_some_holds_exactly_those_that_a_claim_takes(resting: Engine, conn: Any) -> None:
    worker = await join(resting)
    ids = {n: await submit(resting, params={"n": n}) for n in range(20)}
    gate = await close(resting, task="work", condition="params.n % 2 == 0")
    assert await take_all(resting, worker) == {ids[n] for n in range(1, 20, 2)}
    found = await states(conn)
    assert {id_ for id_, state in found.items() if state == "blocked"} == {ids[n] for n in range(0, 20, 2)}
    assert await conn.fetchval("select count(*) from blocked where attempt <> 0 or gate_id <> $1", gate) == 0


async def test_jobs_behind_a_gate_run_after_its_release_as_if_never_claimed(resting: Engine, conn: Any) -> None:
    worker = await join(resting)
    job = await submit(resting, params={"n": 1})
    gate = await close(resting, condition="params.n == 1")
    assert await take_all(resting, worker) == set()
    await resting.gating.release(ROOT, gate, None)
    assert (await sweep(resting))["let_out"] == 1
    grant = await take_one(resting, worker, 2)
    assert (grant.id, grant.attempt) == (job, 1)
    assert (await resting.gating.get(ROOT, gate))["drained_at"] is not None


async def test_a_job_put_behind_a_gate_that_was_just_released_is_let_out(resting: Engine, conn: Any) -> None:
    # The claim, then the release with all that follows it, then what the claim still had to do.
    worker = await join(resting)
    job = await submit(resting)
    gate = await close(resting, condition="true")
    shut = resting.policy.gates
    claimed = await put_back_later(resting, worker)
    await resting.gating.release(ROOT, gate, None)
    await sweep(resting)
    await resting.gatekeeper.put_back(worker.worker_id, [held._replace(gate=shut[0]) for held in claimed])
    assert await states(conn) == {job: "blocked"}
    await sweep(resting)
    assert await states(conn) == {job: "ready"}


async def put_back_later(engine: Engine, worker: Session) -> list[Any]:
    """A claim whose jobs are leased; what must be put back is kept for later."""
    kept: list[Any] = []
    real = engine.gatekeeper.put_back

    async def keep(_worker_id: int, held: Any) -> None:
        kept.extend(held)

    engine.gatekeeper.put_back = keep  # type: ignore[method-assign]
    try:
        assert await engine.dispatch.take(worker, 1, 10) == []
    finally:
        engine.gatekeeper.put_back = real  # type: ignore[method-assign]
    return kept


async def test_a_server_that_dies_between_claim_and_gate_costs_no_job(resting: Engine, conn: Any) -> None:
    worker = await join(resting)
    job = await submit(resting)
    gate = await close(resting, condition="true")
    await put_back_later(resting, worker)
    await conn.execute("update worker set expires_at = clock_timestamp() - interval '1 s'")
    await duty(resting, "reclaim").run_once()
    assert await states(conn) == {job: "ready"}
    assert (await sweep(resting))["moved"] == 1
    await resting.gating.release(ROOT, gate, None)
    await sweep(resting)
    assert await take_all(resting, await join(resting)) == {job}


async def test_a_server_that_dies_after_a_release_leaves_the_rest_to_another(
    start_engine: Callable[[], Awaitable[Engine]], resting: Engine, conn: Any
) -> None:
    await join(resting)
    job = await submit(resting)
    gate = await close(resting, condition="true", expires_in="1h")
    await sweep(resting)
    await conn.execute("update gate set expires_at = clock_timestamp()")
    await resting.stores.gates.gate_expire()
    assert await states(conn) == {job: "blocked"}
    await start_engine()
    async with asyncio.timeout(30):
        while await states(conn) != {job: "ready"}:  # noqa: ASYNC110 - a duty does it, in its own time
            await asyncio.sleep(0.05)
    assert (await resting.gating.get(ROOT, gate))["released_by"] == "expiry"


async def test_a_cancel_between_claim_and_gate_is_not_lost(resting: Engine, conn: Any) -> None:
    worker = await join(resting)
    job = await submit(resting)
    await close(resting, condition="true")
    claimed = await put_back_later(resting, worker)
    await resting.steer.cancel(ROOT, UUID(claimed[0].id), "no more")
    await resting.gatekeeper.put_back(worker.worker_id, claimed)
    assert await states(conn) == {job: "cancelled"}


async def test_a_job_retried_after_a_cancel_between_claim_and_gate_is_not_cancelled_again(
    resting: Engine, conn: Any
) -> None:
    """The answer to putting it back gets lost; somebody sees the end and retries; it is put back again."""
    worker = await join(resting)
    job = await submit(resting)
    await close(resting, condition="true")
    claimed = await put_back_later(resting, worker)
    await resting.steer.cancel(ROOT, UUID(job), "no more")
    await resting.gatekeeper.put_back(worker.worker_id, claimed)
    await resting.steer.retry(ROOT, UUID(job), {})
    await resting.gatekeeper.put_back(worker.worker_id, claimed)
    assert await states(conn) == {job: "ready"}


async def test_jobs_put_back_leave_their_slots(resting: Engine, conn: Any) -> None:
    worker = await join(resting)
    await submit(resting, concurrency_key="k")
    await close(resting, condition="true")
    assert await take_all(resting, worker) == set()
    assert await conn.fetchval("select count(*) from slot") == 0


async def test_the_sweep_moves_matching_jobs_out_of_the_way(resting: Engine, conn: Any) -> None:
    await join(resting)
    ids = [await submit(resting, params={"n": n}, labels={"team": "red" if n else "blue"}) for n in range(3)]
    await close(resting, condition="labels.team == 'red'")
    assert (await sweep(resting))["moved"] == 2
    assert await states(conn) == {ids[0]: "ready", ids[1]: "blocked", ids[2]: "blocked"}


async def test_a_percentage_is_always_of_the_same_jobs(resting: Engine, conn: Any) -> None:
    await join(resting)
    for n in range(200):
        await submit(resting, params={"n": n})
    await close(resting, percent=30)
    first = (await sweep(resting))["moved"]
    assert 30 <= first <= 95
    assert (await sweep(resting))["moved"] == 0


async def test_a_condition_that_fails_on_a_job_lets_it_through_and_is_noted(resting: Engine) -> None:
    worker = await join(resting)
    job = await submit(resting)
    gate = await close(resting, condition="params.customer == 'acme'")
    assert await take_all(resting, worker) == {job}
    await sweep(resting)
    assert "there is no field 'customer'" in (await resting.gating.get(ROOT, gate))["note"]


@pytest.mark.parametrize("condition", [None, "params.n >= 0"])
async def test_drop_and_restore_gives_every_job_back(resting: Engine, conn: Any, condition: str | None) -> None:
    worker = await join(resting)
    waiting = {await submit(resting, params={"n": n}) for n in range(25)}
    later = {await submit(resting, params={"n": n}, delay=3600) for n in range(5)}
    behind = await close(resting, condition="params.n == 3")
    await sweep(resting)
    gate = await close(resting, task="work", action=Action.DROP, condition=condition)
    await sweep(resting)
    assert set((await states(conn)).values()) == {"dropped"}
    await resting.gating.release(ROOT, behind, None)
    with pytest.raises(WrongState, match="release it first"):
        await resting.gating.restore(ROOT, gate, None, None, None)
    await resting.gating.release(ROOT, gate, None)
    assert await resting.gating.restore(ROOT, gate, None, None, None) == (30, False)
    found = await states(conn)
    assert {id_ for id_, state in found.items() if state == "timer"} == later
    assert await take_all(resting, worker) == waiting


async def test_some_of_the_dropped_jobs_can_be_restored(resting: Engine, conn: Any) -> None:
    await join(resting, "work", "other")
    one, two, three = await submit(resting), await submit(resting), await submit(resting, "other")
    gate = await close(resting, action=Action.DROP)
    await sweep(resting)
    await resting.gating.release(ROOT, gate, None)
    assert await resting.gating.restore(ROOT, gate, None, "other", None) == (1, False)
    assert await resting.gating.restore(ROOT, gate, None, None, [one]) == (1, False)
    assert await states(conn) == {one: "ready", two: "dropped", three: "ready"}


async def test_a_job_that_a_claim_took_is_dropped_by_a_gate_for_some(resting: Engine, conn: Any) -> None:
    worker = await join(resting)
    job = await submit(resting, params={"n": 1})
    gate = await close(resting, action=Action.DROP, condition="params.n == 1")
    with resting.watch.watching(1, job) as ended:
        assert await take_all(resting, worker) == set()
        assert (await ended).state == "dropped"
    await resting.gating.release(ROOT, gate, None)
    await resting.gating.restore(ROOT, gate, None, None, None)
    assert (await take_one(resting, worker, 2)).attempt == 1


async def test_a_dropped_job_that_somebody_retried_is_not_restored_twice(resting: Engine, conn: Any) -> None:
    await join(resting)
    job = await submit(resting)
    gate = await close(resting, action=Action.DROP)
    await sweep(resting)
    await resting.gating.release(ROOT, gate, None)
    await resting.steer.retry(ROOT, UUID(job), {})  # type: ignore[arg-type]
    assert await resting.gating.restore(ROOT, gate, None, None, None) == (0, False)
    assert await states(conn) == {job: "ready"}


async def test_a_gate_opens_when_its_time_is_up(resting: Engine, conn: Any) -> None:
    worker = await join(resting)
    job = await submit(resting)
    gate = await close(resting, expires_in="1h")
    assert (await sweep(resting))["expired"] == 0
    await conn.execute("update gate set expires_at = clock_timestamp() where id = $1", gate)
    assert (await sweep(resting))["expired"] == 1
    assert (await resting.gating.get(ROOT, gate))["released_by"] == "expiry"
    assert await take_all(resting, worker) == {job}


async def test_a_whole_backlog_is_let_out_at_the_rate_until_it_is_gone(resting: Engine, conn: Any) -> None:
    worker = await join(resting)
    for _ in range(10):
        await submit(resting)
    gate = await close(resting)
    await resting.gating.release(ROOT, gate, "4/h")
    assert len(await take_all(resting, worker)) == 1
    assert await take_all(resting, worker) == set()
    await sweep(resting)
    assert (await resting.gating.get(ROOT, gate))["drained_at"] is None
    await resting.gating.release(ROOT, gate, 1000)
    taken = set[str]()

    async def all_are_out() -> bool:
        taken.update(await take_all(resting, worker))
        return len(taken) == 9

    await wait_for(all_are_out)
    await sweep(resting)
    assert (await resting.gating.get(ROOT, gate))["drained_at"] is not None
    assert resting.policy.gates == ()


async def test_jobs_behind_a_gate_for_some_are_let_out_one_by_one_at_the_rate(resting: Engine, conn: Any) -> None:
    await join(resting)
    for _ in range(60):
        await submit(resting)
    gate = await close(resting, condition="true")
    await sweep(resting)
    released = time.monotonic()
    await resting.gating.release(ROOT, gate, "2/s")
    first, second = [(await sweep(resting))["let_out"] for _ in range(2)]
    meanwhile = int(2 * (time.monotonic() - released))
    assert 20 <= first <= 21 + meanwhile
    assert first + second <= 22 + meanwhile
    gaps = await conn.fetch("select run_at - lag(run_at) over (order by run_at) as gap from timer offset 1")
    assert {round(row["gap"].total_seconds(), 2) for row in gaps if row["gap"] is not None} == {0.5}
    await resting.gating.release(ROOT, gate, None)
    assert (await sweep(resting))["let_out"] == 60 - first - second
    assert await conn.fetchval("select count(*) from blocked") == 0


@pytest.mark.parametrize(("running", "table"), [(Running.CANCEL, "cancel_request"), (Running.MOVE, "move_request")])
async def test_running_jobs_are_asked_to_stop_once(resting: Engine, conn: Any, running: Running, table: str) -> None:
    worker = await join(resting)
    jobs = [await submit(resting, params={"n": n}) for n in range(2)]
    assert len(await take_all(resting, worker)) == 2
    await close(resting, running=running, condition="params.n == 0")
    assert (await sweep(resting))["stopped"] == 1
    assert [str(row["id"]) for row in await conn.fetch(f"select id from {table}")] == [jobs[0]]
    assert (await sweep(resting))["stopped"] == 0


async def test_a_job_on_its_way_back_to_pending_is_not_asked_to_stop(resting: Engine, conn: Any) -> None:
    """A transaction gives up the lease; the gate sees it and wants to ask; the transaction commits."""
    for_us = "select count(*) from pg_stat_activity where pg_backend_pid() = any (pg_blocking_pids(pid))"
    worker = await join(resting)
    await submit(resting)
    assert len(await take_all(resting, worker)) == 1
    await close(resting, running=Running.CANCEL)
    async with conn.transaction():
        await conn.execute("delete from lease")
        asking = asyncio.create_task(sweep(resting))

        async def waits() -> bool:
            return asking.done() or await conn.fetchval(for_us) > 0

        await wait_for(waits)
    await asking
    assert await conn.fetchval("select count(*) from cancel_request") == 0


async def test_the_emergency_stop_stops_all_and_is_one(resting: Engine) -> None:
    worker = await join(resting, "work", "other")
    jobs = {await submit(resting), await submit(resting, "other", queue="other")}
    order = GateOrder(reason="fire")
    stops = await asyncio.gather(*(resting.gating.stop(ROOT, order) for _ in range(3)))
    assert len({stop["id"] for stop in stops}) == 1
    assert await take_all(resting, worker) == set()
    await resting.gating.release_stop(ROOT, None, None)
    with pytest.raises(NotFound):
        await resting.gating.release_stop(ROOT, None, None)
    assert await take_all(resting, worker) == jobs


async def test_a_job_that_nobody_could_run_does_not_keep_its_gate_releasing(resting: Engine, monkeypatch) -> None:
    worker = await join(resting)
    gate = await close(resting, task="work")
    job, stuck = await submit(resting), await submit(resting, requires=Requirements(labels={"place": "moon"}))
    await resting.gating.release(ROOT, gate, "100/s")
    await resting.prospects.refresh()
    monkeypatch.setattr(gates, "STUCK_SECONDS", 0.0)
    await sweep(resting)
    assert (await resting.gating.get(ROOT, gate))["drained_at"] is None, "the first can be run: the rate is for it"
    assert await take_all(resting, worker) == {job}
    monkeypatch.setattr(gates, "STUCK_SECONDS", 3600.0)
    await sweep(resting)
    assert (await resting.gating.get(ROOT, gate))["drained_at"] is None, "somebody may come yet"
    monkeypatch.setattr(gates, "STUCK_SECONDS", 0.0)
    await sweep(resting)
    assert (await resting.gating.get(ROOT, gate))["drained_at"] is not None
    assert stuck


async def test_a_stop_asked_for_again_has_the_last_reason_and_is_no_weaker(resting: Engine) -> None:
    first = await resting.gating.stop(ROOT, GateOrder(reason="smoke", expires_in="1m"))
    longer = await resting.gating.stop(ROOT, GateOrder(reason="fire", running=Running.CANCEL, expires_in="1h"))
    assert (longer["id"], longer["reason"], longer["running"]) == (first["id"], "fire", "cancel")
    assert longer["expires_at"] - first["expires_at"] > timedelta(minutes=50)
    shorter = await resting.gating.stop(ROOT, GateOrder(reason="still fire", expires_in="1m"))
    assert (shorter["reason"], shorter["running"], shorter["expires_at"]) == (
        "still fire",
        "cancel",
        longer["expires_at"],
    )
    endless = await resting.gating.stop(ROOT, GateOrder(reason="all is lost"))
    assert endless["expires_at"] is None
    assert (await resting.gating.stop(ROOT, GateOrder(reason="maybe not", expires_in="1m")))["expires_at"] is None


async def test_a_gate_can_be_extended_while_it_is_closed(resting: Engine) -> None:
    gate = await close(resting, expires_in="1m")
    longer = await resting.gating.change(ROOT, gate, "still broken", "2h")
    assert (longer["expires_at"] - longer["made_at"]).total_seconds() > 7000
    assert longer["reason"] == "still broken"
    assert (await resting.gating.change(ROOT, gate, None, "never"))["expires_at"] is None
    await resting.gating.release(ROOT, gate, None)
    with pytest.raises(WrongState):
        await resting.gating.change(ROOT, gate, None, "2h")


@pytest.mark.parametrize(
    "order",
    [
        {"reason": " "}, {"percent": 0}, {"percent": 100}, {"condition": "params."}, {"condition": "jobs.x == 1"},
        {"expires_in": "0s"}, {"expires_in": "soon"}, {"queue": "a b"}, {"task": ""},
        {"action": Action.REJECT, "running": Running.CANCEL}, {"action": Action.DROP, "running": Running.MOVE},
    ],
)  # fmt: skip
async def test_an_order_that_makes_no_sense_is_refused(resting: Engine, order: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        await close(resting, **order)


async def test_a_partial_gate_holds_on_every_server_from_its_commit_on(
    start_engine: Callable[[], Awaitable[Engine]], conn: Any
) -> None:
    first, second = await start_engine(), await start_engine()
    worker = await join(second)
    ids = {n: await submit(second, params={"n": n}) for n in range(30)}
    await close(first, condition="params.n < 10")
    got: set[str] = set()
    async with asyncio.timeout(30):
        while len(got) < 20:
            got |= await take_all(second, worker, 7)
            await asyncio.sleep(0.01)
    assert got == {ids[n] for n in range(10, 30)}
    assert await take_all(second, worker) == set()


async def test_gate_flapping_loses_nothing(start_engine: Callable[[], Awaitable[Engine]], conn: Any) -> None:
    # Two servers; jobs are submitted and run while gates of both kinds open and close over them.
    first, second = await start_engine(), await start_engine()
    workers = [(first, await join(first)), (second, await join(second))]
    submitted: list[str] = []
    finished: list[str] = []
    flapping = asyncio.Event()

    async def feed() -> None:
        while not flapping.is_set():
            submitted.append(await submit(first, params={"n": len(submitted)}))

    async def run(engine: Engine, session: Session) -> None:
        number = 0
        while not flapping.is_set() or len(finished) < len(submitted):
            number += 1
            grants = await engine.dispatch.take(session, number, 5)
            stale = await engine.complete.attempts(session.worker_id, [done(grant) for grant in grants])
            assert stale == []
            finished.extend(grant.id for grant in grants)
            await asyncio.sleep(0.01)

    async def flap() -> None:
        for turn in range(12):
            engine = (first, second)[turn % 2]
            gate = await close(engine, condition=None if turn % 3 else "params.n % 3 == 0")
            await asyncio.sleep(0.05)
            await engine.gating.release(ROOT, gate, None)
        flapping.set()

    async with asyncio.timeout(50):
        await asyncio.gather(feed(), flap(), *(run(*worker) for worker in workers))
    assert sorted(finished) == sorted(submitted)
    assert set((await states(conn)).values()) == {"succeeded"}
    assert await conn.fetchval("select count(*) from attempt") == 0


async def test_a_gate_whose_turns_another_server_gives_locks_nothing_of_its_backlog(
    resting: Engine, conn: Any, database: str
) -> None:
    await join(resting)
    gate = await close(resting, task="work")
    await submit(resting)
    await resting.gating.release(ROOT, gate, "4/h")
    await conn.execute("insert into blocked select rank, id, lane_id, attempt, $1 from ready", gate)
    other = await asyncpg.connect(database, server_settings={"search_path": "horae"})
    async with conn.transaction(), other.transaction():
        await conn.execute("select from gate where id = $1 for update", gate)
        assert (await other.fetchrow(statements()["gate_unblock_slowly"], gate, 2.0))["moved"] == 0
        assert len(await conn.fetch("select from blocked for update skip locked")) == 1
    await other.close()
