"""Scripts through the real server and the real agent: mixed with functions, and under agents that are killed."""

import random
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio

from horae.client.client import Client
from horae.model.job import JobRequest
from horae.model.kinds import Script
from horae.model.states import End, State
from horae.model.task import TaskDefinition
from horae.testing.database import cloned_database
from horae.testing.stack import Stack, running_stack
from horae.testing.waiting import wait_for
from horae.worker import tree
from horae.worker.errands.quarters import MARK

from .conftest import spec

pytestmark = pytest.mark.asyncio(loop_scope="module")

SHELL = "#!/bin/sh\n"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(cluster_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    """With two servers, of which one gives up on a dead worker soon: only who is to die has so short a lease."""
    async with cloned_database(cluster_dsn) as dsn, running_stack(dsn, tmp_path_factory.mktemp("stack")) as stack:
        await stack.server()
        await stack.server("impatient", HORAE_LEASE_SECONDS="6")
        yield stack


async def test_functions_and_scripts_run_on_one_worker(stack: Stack):
    mixed = await stack.worker("mixed", spec("sdk_app"), kinds="script")
    await stack.until_joined("mixed")
    with stack.client() as client:
        client.put_task(TaskDefinition(name="shell", script=Script(source=f"{SHELL}echo out; echo '{{\"n\": 1}}'")))
        jobs = [client.submit(JobRequest(task="shell")) for _ in range(3)]
        jobs += [client.submit(JobRequest(task="double", params={"number": n})) for n in range(3)]
        results = [client.result(job.id, wait=100).result for job in jobs]
        (execution,) = client.executions(jobs[0].id).items
        (function,) = client.executions(jobs[-1].id).items
        worker = next(worker for worker in client.workers().items if worker.name == "mixed")
    await mixed.stop()
    assert [msgspec.json.decode(result) for result in results] == [{"n": 1}] * 3 + [0, 2, 4]
    assert (execution.end, execution.task_version) == (End.SUCCEEDED, 1)
    assert "bubblewrap" in (execution.isolation or "")
    assert execution.cpu is not None
    assert execution.peak_memory
    assert (function.isolation, function.task_version) == (None, None)
    assert worker.kinds == ["function", "script"]


async def test_an_agent_that_is_killed_loses_no_script_and_leaves_nothing(stack: Stack):
    """A script whose agent dies runs again under the next; in the end no process and no folder of either is left."""
    chance = random.Random()
    with stack.client() as client:
        source = f"{SHELL}(sleep 600 &) > /dev/null 2>&1; sleep 0.5; echo 1"
        client.put_task(TaskDefinition(name="slow", script=Script(source=source)))
        jobs = [str(client.submit(JobRequest(task="slow")).id) for _ in range(4)]
        victim = await stack.worker("victim", kinds="script", url=stack.address("impatient"))
        await stack.until_joined("victim")
        lives = agents(stack.folder)
        await wait_for(lambda: running(client, jobs), 100, what="a running script")
        await wait_for(lambda: chance.random() < 0.2, what="any moment")
        await victim.kill()
        survivor = await stack.worker("survivor", kinds="script", slots=4)
        await wait_for(lambda: all(client.job(job).state is State.SUCCEEDED for job in jobs), 100, what="all ends")
        await survivor.stop()
    assert agents(stack.folder) == set()
    assert [tree.marked(f"{MARK}={life}/") for life in lives] == [[]]


def running(client: Client, jobs: list[str]) -> bool:
    return any(client.job(job).state is State.RUNNING for job in jobs)


def agents(folder: Path) -> set[str]:
    return {life.name for life in (folder / "state" / "agents").iterdir()}
