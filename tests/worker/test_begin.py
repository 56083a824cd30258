"""Nothing begins in a child whose worker's lease is over, though whoever could end it is frozen."""

import asyncio
from typing import Any

import pytest

from horae.model.states import End
from horae.worker.board import LOOK_SECONDS
from horae.worker.clock import now


@pytest.mark.parametrize(("task", "params"), [("nothing", {}), ("meet", {"count": 1})])
async def test_what_waits_in_a_child_when_the_lease_is_over_does_not_begin(
    server, start, task: str, params: dict[str, Any]
):
    """As when a host thaws: the children are awake, and nobody has come to end them yet."""
    server.lease_seconds = server.heartbeat_seconds = 600.0
    running = await start()
    await server.run(task, **params)
    await server.until(lambda: server.beats)  # The next is far away: nobody extends the children's time but we.
    children = running.agent._dispatch.crew.children
    for child in children:
        child.extend(now() - 1)
    job = await server.submit(task, **params)
    await server.until(lambda: any(child.jobs for child in children))
    await asyncio.sleep(4 * LOOK_SECONDS)  # It would have begun and ended many times over.
    assert job not in server.finished
    for child in children:
        child.extend(now() + 600)
    (done,) = await server.done(job)
    assert done.end is End.SUCCEEDED
