"""The circuit breaker: a failing task is held once, tried, and let go."""

from collections.abc import Awaitable, Callable
from typing import Any

from horae.engine.engine import Engine
from horae.engine.taskrows import SHARED
from horae.model.breaker import Breaker
from horae.model.states import End
from horae.model.task import TaskDefinition

from .staging import ROOT, done, duty, join, submit

BREAKER = Breaker(minimum=4, failure_rate=0.5, probes=2, pause="1m", release_rate="2/s")


async def fragile(engine: Engine) -> Any:
    """A worker for a task with a breaker, which the task's definition keeps when the worker joins."""
    worker = await join(engine)
    await engine.tasks.register(SHARED, TaskDefinition(name="work", breaker=BREAKER))
    return worker


async def run(engine: Engine, worker: Any, end: End, want: int) -> int:
    """Takes jobs and ends them so; then the counts are written down."""
    grants = await engine.dispatch.take(worker, 1, want)
    await engine.complete.attempts(worker.worker_id, [done(grant, end) for grant in grants])
    await duty(engine, "rollups").run_once()
    return len(grants)


async def gates(engine: Engine) -> list[Any]:
    return await engine.gating.list_all(ROOT, over=False)


async def pass_time(conn: Any, seconds: int = 60) -> None:
    """Moves everything that the breaker looks at into the past."""
    past = f"- interval '{seconds} seconds'"
    await conn.execute(f"update gate set made_at = made_at {past}, released_at = released_at {past}")
    await conn.execute(f"update bucket set at = at {past}")
    await conn.execute(f"update rollup set bucket = bucket {past}")


async def test_a_task_that_fails_too_often_is_held(resting: Engine) -> None:
    worker = await fragile(resting)
    for _ in range(9):
        await submit(resting, max_attempts=1)
    assert await run(resting, worker, End.SUCCEEDED, 1) == 1
    await duty(resting, "breaker").run_once()
    assert await gates(resting) == []
    assert await run(resting, worker, End.ERROR, 3) == 3
    assert (await duty(resting, "breaker").run_once())["closed"] == 1
    (gate,) = await gates(resting)
    assert (gate["task"], gate["kind"], gate["reason"]) == ("work", "breaker", "3 of 4 failed in the last 1m")
    # The first trial job has to wait for the pause as well.
    assert await run(resting, worker, End.SUCCEEDED, 5) == 0


async def test_trial_jobs_get_through_one_at_a_time_and_release_the_task(resting: Engine, conn: Any) -> None:
    worker = await fragile(resting)
    for _ in range(30):
        await submit(resting, max_attempts=1)
    await run(resting, worker, End.ERROR, 4)
    await duty(resting, "breaker").run_once()
    for end, note in ((End.SUCCEEDED, "1 of 2"), (End.ERROR, "0 of 2"), (End.SUCCEEDED, "1 of 2")):
        await pass_time(conn)
        assert await run(resting, worker, end, 5) == 1
        assert (await duty(resting, "breaker").run_once()) == {"closed": 0, "released": 0}
        assert (await gates(resting))[0]["note"].startswith(note)
    await pass_time(conn)
    assert await run(resting, worker, End.SUCCEEDED, 5) == 1
    assert (await duty(resting, "breaker").run_once())["released"] == 1
    (gate,) = await gates(resting)
    assert (gate["released_by"], gate["release_rate"]) == ("breaker", 2.0)
    assert await run(resting, worker, End.SUCCEEDED, 20) == 2


async def test_what_failed_before_the_release_does_not_hold_the_task_again(resting: Engine, conn: Any) -> None:
    worker = await fragile(resting)
    for _ in range(20):
        await submit(resting, max_attempts=1)
    await run(resting, worker, End.ERROR, 4)
    await duty(resting, "breaker").run_once()
    (gate,) = await gates(resting)
    await resting.gating.release(ROOT, gate["id"], "100/s")
    assert (await duty(resting, "breaker").run_once())["closed"] == 0
    await conn.execute("update gate set released_at = released_at - interval '10 seconds'")
    await run(resting, worker, End.ERROR, 4)
    assert (await duty(resting, "breaker").run_once())["closed"] == 1
    (again,) = await gates(resting)
    assert again["id"] != gate["id"]


async def test_several_servers_close_one_gate(start_engine: Callable[[], Awaitable[Engine]], conn: Any) -> None:
    first, second = await start_engine(), await start_engine()
    await fragile(first)
    await conn.execute(
        "insert into rollup (bucket, tenant_id, task, queue, failed) "
        "values (date_bin('10 seconds', clock_timestamp(), 'epoch'), 1, 'work', 'default', 10)"
    )
    for _ in range(3):
        await duty(first, "breaker").run_once()
        await duty(second, "breaker").run_once()
    assert await conn.fetchval("select count(*) from gate") == 1


async def test_a_task_without_its_breaker_is_let_go(resting: Engine) -> None:
    worker = await fragile(resting)
    for _ in range(5):
        await submit(resting, max_attempts=1)
    await run(resting, worker, End.ERROR, 4)
    await duty(resting, "breaker").run_once()
    await resting.tasks.register(SHARED, TaskDefinition(name="work"))
    assert (await duty(resting, "breaker").run_once())["released"] == 1
    assert await gates(resting) == []
