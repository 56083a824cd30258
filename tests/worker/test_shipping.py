"""The shipper of output ends when it is told to, whatever happens at the same moment."""

import asyncio

import msgspec
import pytest

from horae.model.work import Finished, Grant
from horae.worker.config import Connection
from horae.worker.link import Link
from horae.worker.logs import JobLog
from horae.worker.shipping import Shipper


@pytest.mark.parametrize("steps", range(6))
async def test_it_ends_though_a_job_ends_at_the_same_moment(steps: int) -> None:
    """A lease that is over ends jobs and shipper alike. A shipper that went on would keep the agent from joining again.

    The end of the job wakes the shipper some steps of the loop before it is cancelled.
    """
    link = Link(Connection("http://127.0.0.1:9", "key"))
    shipper = Shipper(link, lambda finished: None)
    running = asyncio.create_task(shipper.run())
    grant = Grant(id="job", lane=1, attempt=1, task="quick", params=msgspec.Raw(b"{}"))
    job_log = JobLog(grant, 1000)
    shipper.wrote(job_log, "stdout", b"")
    await asyncio.sleep(0.02)
    shipper.ended(Finished(id="job", lane=1, attempt=1), job_log)
    for _ in range(steps):
        await asyncio.sleep(0)
    running.cancel()
    done, _ = await asyncio.wait({running}, timeout=60)
    await link.close()
    assert done
    assert running.cancelled()
