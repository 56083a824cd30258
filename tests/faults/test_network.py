"""The network between a worker and the server goes away for a while."""

import asyncio
import time

from horae.client.handles import Job
from horae.model.job import JobRequest
from horae.testing.processes import alive
from horae.testing.proxy import proxy_to, to_url
from horae.worker.courier import LONG_POLL

from .conftest import A_WHILE, FIRM_LEASE, LONG_LEASE, fresh_heartbeat
from .effects import JOBS


async def test_a_worker_cut_off_beyond_its_lease_stops_what_it_runs_and_rejoins(stack, effects):
    await stack.server(**FIRM_LEASE)
    with proxy_to(to_url(stack.url)) as proxy, stack.client() as client:
        await stack.worker("remote", JOBS, url=proxy.url)
        old = await stack.until_joined("remote")
        job = client.submit(JobRequest(task="hold")).id
        (first,) = await effects.running(1)
        proxy.black_hole()
        await stack.worker("heir", JOBS)
        await effects.running(1, attempt=2)
        assert not alive(first.pid)
        proxy.heal()
        assert await stack.until_joined("remote", besides=old) > old
        effects.end_all()
        assert Job(client, job).result(60) == 2
        await stack.stop()
    assert effects.overlaps() == []


async def test_a_network_that_is_back_within_the_lease_costs_nobody_anything(stack, effects):
    await stack.server(**LONG_LEASE)
    with proxy_to(to_url(stack.url)) as proxy, stack.client() as client:
        await stack.worker("remote", JOBS, url=proxy.url)
        worker = await stack.until_joined("remote")
        job = client.submit(JobRequest(task="hold")).id
        await effects.running(1)
        await fresh_heartbeat(client, worker)
        proxy.black_hole()
        await asyncio.sleep(A_WHILE)  # The silence is what is tested.
        proxy.heal()
        proxy.reset_all()
        effects.end_all()
        assert Job(client, job).result(60) == 1
        assert client.worker(worker).state == "active"
        await stack.stop()


async def test_a_worker_whose_server_vanished_without_a_word_turns_to_its_successor_within_seconds(stack, effects):
    """As when a host loses its power: nothing answers on the old connections. What was granted by the long poll, and
    the completion of what ran, must find another way."""
    await stack.server()
    with proxy_to(to_url(stack.url)) as proxy, stack.client() as client:
        await stack.worker("remote", JOBS, url=proxy.url)
        await stack.until_joined("remote")
        running = client.submit(JobRequest(task="short", params={"seconds": 1})).id
        await effects.running(1)
        proxy.forsake_all()
        fresh = client.submit(JobRequest(task="quick", params={"number": 8})).id
        began = time.monotonic()
        assert [Job(client, job).result(100) for job in (fresh, running)] == [8, 1]
        seconds = time.monotonic() - began
        print(f"both had ended {seconds:.1f} s after the server had vanished")
        assert seconds < LONG_POLL, "it waited until the poll was over"
        proxy.reset_all()
        await stack.stop()
    assert len(effects.runs()) == 2
