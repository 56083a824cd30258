"""A running job moves from one worker to another and goes on where it was."""

from pathlib import Path

import msgspec
import pytest

from horae.model.job import JobRequest
from horae.model.states import End, State
from horae.testing.stack import Stack
from horae.testing.waiting import wait_for

from .conftest import spec

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_moved_job_goes_on_from_its_checkpoint_at_another_worker(stack: Stack, tmp_path: Path):
    await stack.worker("first", spec("moving_app"), slots=1)
    first = await stack.until_joined("first")
    path = tmp_path / "nearly"
    with stack.client() as client:
        job = client.submit(JobRequest(task="count", params={"path": str(path), "upto": 5}, max_attempts=1))
        await wait_for(path.exists, what="the job's first attempt")
        await stack.worker("second", spec("moving_app"), slots=1)
        second = await stack.until_joined("second")
        client.move(job.id, "this host is needed")
        await wait_for(lambda: client.job(job.id).state.ended, what="the end of the job")
        ended, result = client.job(job.id), client.result(job.id)
        executions = client.executions(job.id).items
    assert (ended.state, msgspec.json.decode(result.result)) == (State.SUCCEEDED, [4, 5])
    assert [(one.end, one.worker_id) for one in executions] == [(End.MOVED, first), (End.SUCCEEDED, second)]
