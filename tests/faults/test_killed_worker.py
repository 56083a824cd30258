"""Workers, and parts of them, die while they run jobs."""

import asyncio
import time

from horae.client.client import Client
from horae.client.handles import Job
from horae.model.job import JobRequest
from horae.model.states import End
from horae.testing.processes import alive
from horae.testing.stack import Stack
from horae.testing.waiting import wait_for

from .conftest import SHORT_LEASE
from .effects import COROUTINES, JOBS
from .jobs import app
from .load import outcomes, skip_pause
from .processes import children_of, keepers_of, kill

MUST_SECONDS = 20
NOISE_SECONDS = 60
"""Allowed on top, because the machine that runs the tests may be busy with others."""


async def test_the_jobs_of_a_killed_worker_run_elsewhere_within_20_s_and_never_twice_at_once(stack, effects):
    await stack.server()
    doomed = await stack.worker("doomed", COROUTINES)
    await stack.until_joined("doomed")
    with stack.client() as client:
        jobs = client.submit_many([JobRequest(task="hold_async")] * 100).items
        first = await effects.running(100)
        await stack.worker("heir", COROUTINES)
        await stack.until_joined("heir")
        children = children_of(doomed)
        assert {run.pid for run in first} <= set(children)
        await doomed.kill()
        killed_at = time.monotonic()
        second = await effects.running(100, attempt=2, timeout=100)
        seconds = max(run.first for run in second) - killed_at
        print(f"the last of 100 jobs ran elsewhere {seconds:.1f} s after the kill")
        assert seconds < MUST_SECONDS + NOISE_SECONDS
        assert not any(alive(pid) for pid in children)
        effects.end_all()
        assert [Job(client, job.id).result(60) for job in jobs] == [2] * 100
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


async def supervise(stack: Stack, client: Client, job: str) -> int:
    """Starts a worker, and another whenever it has died, until the job has ended. How many died."""
    for deaths in range(10):
        worker = await stack.worker("brave", JOBS)
        while alive(worker.pid):
            if client.job(job).state.ended:
                return deaths
            await skip_pause(stack, job)
            await asyncio.sleep(0.2)
    raise AssertionError("ten workers died, and the job goes on")


async def test_a_job_that_kills_its_worker_is_failed_after_three_and_spares_the_others(stack, effects):
    await stack.server(**SHORT_LEASE)
    with stack.client() as client:
        for task in app.tasks.values():
            client.put_task(task.definition)
        poison = client.submit(JobRequest(task="poison")).id
        others = client.submit_many([JobRequest(task="short", params={"seconds": 0.3})] * 20).items
        deaths = await supervise(stack, client, poison)
        for job in others:
            await skip_pause(stack, job.id)
        assert await outcomes(stack) == {"succeeded": 20, "failed": 1}
        assert client.job(poison).error.kind == "worker_lost"
        assert [execution.end for execution in client.executions(poison).items] == [End.LOST] * 3
    assert deaths == 3
    assert effects.overlaps() == []
