"""Everything dies between the sink and the completion."""

import base64
from pathlib import Path

import asyncpg

from engine.doorway import door
from horae.client.handles import Job
from horae.model.job import JobRequest
from horae.testing.waiting import wait_for

from .conftest import FIRM_LEASE

SINKING = f"{Path(__file__).with_name('sinking.py')}:app"


async def test_rows_are_there_once_though_worker_and_server_die_between_sink_and_completion(stack, database):
    """The rows are committed; the answer is held back; worker and server are killed; the second attempt succeeds."""
    keys = {"HORAE_SECRETS_KEY": base64.b64encode(b"k" * 32).decode(), "HORAE_ALLOW_NETWORKS": "127.0.0.1"}
    keys |= FIRM_LEASE
    target = await asyncpg.connect(database)
    await target.execute("create table public.sunk (attempt int, number int)")
    try:
        async with door(database) as (address, way):
            server = await stack.server(**keys)
            with stack.client() as client:
                client.set_secret("TARGET", address)
                doomed = await stack.worker("doomed", SINKING)
                await stack.until_joined("doomed")
                way.shut_after_commit = True
                job = Job(client, client.submit(JobRequest(task="report")).id)
                await wait_for(way.committed.is_set, 60, what="the commit of the rows")
                assert not job.status().ended
                await doomed.kill()
                await server.kill()
                way.shut_after_commit = False
                way.opened.set()
                await stack.server(**keys)
                await stack.worker("heir", SINKING)
                await stack.until_joined("heir")
                result = await wait_for(lambda: (found := client.result(job.id, 1)).state.ended and found, 100)
                assert result.result is not None
                assert job.refresh().attempt == 2
        rows = await target.fetch("select attempt, number from public.sunk order by number")
        assert [tuple(row) for row in rows] == [(1, 0), (1, 1), (1, 2)]
    finally:
        await target.close()
