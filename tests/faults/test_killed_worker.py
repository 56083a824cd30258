"""Workers, and parts of them, die while they run jobs."""

import time
from collections.abc import Callable

from horae.client.handles import Job
from horae.model.job import JobRequest
from horae.model.states import End, State
from horae.testing.stack import Stack
from horae.testing.waiting import wait_for

from .conftest import SHORT_LEASE
from .effects import COROUTINES, JOBS
from .jobs import app
from .load import outcomes
from .processes import alive, children_of, keepers_of, kill

MUST_SECONDS = 20
NOISE_SECONDS = 10
"""Allowed on top, because the machine that runs the tests may be busy with others."""


async def test_the_jobs_of_a_killed_worker_run_elsewhere_within_20_s_and_never_twice_at_once(durable_stack, effects):
    await durable_stack.server()
    doomed = await durable_stack.worker("doomed", COROUTINES)
    await durable_stack.until_joined("doomed")
    with durable_stack.client() as client:
        jobs = client.submit_many([JobRequest(task="hold_async")] * 100).items
        first = await effects.running(100)
        await durable_stack.worker("heir", COROUTINES)
        await durable_stack.until_joined("heir")
        children = children_of(doomed)
        assert {run.pid for run in first} <= set(children)
        await doomed.kill()
        killed_at = time.monotonic()
        second = await effects.running(100, attempt=2)
        seconds = max(run.first for run in second) - killed_at
        print(f"the last of 100 jobs ran elsewhere {seconds:.1f} s after the kill")
        assert seconds < MUST_SECONDS + NOISE_SECONDS
        assert not any(alive(pid) for pid in children)
        effects.end_all()
        assert [Job(client, job.id).result(30) for job in jobs] == [2] * 100
    assert effects.overlaps() == []


async def test_a_child_killed_in_a_batch_costs_one_attempt_of_one_job(stack, effects):
    await stack.server()
    worker = await stack.worker("one", JOBS, slots=1)
    await stack.until_joined("one")
    with stack.client() as client:
        client.submit_many([JobRequest(task="quick", params={"number": n}) for n in range(1000)])
        await wait_for(lambda: len(effects.runs()) > 100, interval=0.001)
        kill(children_of(worker)[0])
        assert await outcomes(stack) == {"succeeded": 1000}
        doubled = [job for job, runs in effects.by_job().items() if len(runs) > 1]
        assert len(doubled) <= 1
        ends = [execution.end for job in doubled for execution in client.executions(job).items]
    assert sorted(ends) == ([End.CRASHED, End.SUCCEEDED] if doubled else [])


async def test_a_killed_keeper_is_replaced_and_its_successor_guards_the_same_children(stack, effects):
    await stack.server(**SHORT_LEASE)
    worker = await stack.worker("one", JOBS, slots=1)
    await stack.until_joined("one")
    with stack.client() as client:
        client.submit(JobRequest(task="hold"))
        (run,) = await effects.running(1)
        (keeper,) = keepers_of(worker)
        kill(keeper)
        await wait_for(lambda: [pid for pid in keepers_of(worker) if pid != keeper])
        stack.freeze(worker)
        await wait_for(lambda: not alive(run.pid), what="the end of the child of a frozen agent")
        stack.thaw(worker)
        await effects.running(1, attempt=2)
    assert effects.overlaps() == []


async def supervise(stack: Stack, done: Callable[[], bool]) -> int:
    """Starts a worker, and another whenever it has died, until it is done. How many died."""
    deaths = 0
    while True:
        worker = await stack.worker("brave", JOBS)
        await wait_for(lambda pid=worker.pid: done() or not alive(pid), 90, interval=0.2)
        if alive(worker.pid):
            return deaths
        deaths += 1


async def test_a_job_that_kills_its_worker_is_failed_after_three_and_spares_the_others(stack, effects):
    await stack.server(**SHORT_LEASE)
    with stack.client() as client:
        for task in app.tasks.values():
            client.put_task(task.definition)
        poison = client.submit(JobRequest(task="poison")).id
        others = client.submit_many([JobRequest(task="short", params={"seconds": 0.3})] * 20).items
        deaths = await supervise(stack, lambda: client.job(poison).state.ended)
        failed = client.job(poison)
        states = [client.result(job.id).state for job in others]
        ends = [execution.end for execution in client.executions(poison).items]
    assert states == [State.SUCCEEDED] * 20
    assert (failed.state, failed.error.kind) == (State.FAILED, "worker_lost")
    assert ends == [End.LOST] * 3
    assert deaths == 3
    assert effects.overlaps() == []
