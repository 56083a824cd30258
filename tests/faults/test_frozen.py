"""Parts that stand still for a while and then go on as if nothing had happened."""

from horae.client.handles import Job
from horae.model.job import JobRequest
from horae.testing.processes import alive

from .conftest import A_WHILE, FIRM_LEASE, LONG_LEASE, fresh_heartbeat
from .effects import JOBS


async def test_a_worker_frozen_beyond_its_lease_has_stopped_before_another_starts_and_rejoins(stack, effects):
    """The agent freezes; the keeper kills; the lease ends; the heir runs; the agent thaws, and what its child had to
    say of `short`, which ended while nobody listened, must not count.

    With a heartbeat just before, `short` has time to begin before the freeze, and to end before the keeper kills.
    """
    await stack.server(**FIRM_LEASE)
    frozen = await stack.worker("frozen", JOBS, slots=2)
    old = await stack.until_joined("frozen")
    with stack.client() as client:
        hold = client.submit(JobRequest(task="hold")).id
        await effects.running(1)
        await fresh_heartbeat(client, old)
        short = client.submit(JobRequest(task="short", params={"seconds": 4})).id
        first = await effects.running(2)
        stack.freeze(frozen)
        await stack.worker("heir", JOBS, slots=2)
        await effects.running(1, attempt=2)
        assert not any(alive(run.pid) for run in first)
        stack.thaw(frozen)
        assert Job(client, short).result(100) == 2
        assert await stack.until_joined("frozen", besides=old) > old
        effects.end_all()
        assert Job(client, hold).result(60) == 2
    assert effects.overlaps() == []


async def test_a_server_frozen_for_less_than_a_lease_costs_nobody_anything(stack, effects):
    server = await stack.server(**LONG_LEASE)
    await stack.worker("one", JOBS, slots=2)
    worker = await stack.until_joined("one")
    with stack.client() as client:
        hold = client.submit(JobRequest(task="hold")).id
        await effects.running(1)
        await fresh_heartbeat(client, worker)
        stack.freeze(server)
        (run,) = effects.runs()
        await effects.beyond(run.last + A_WHILE)
        stack.thaw(server)
        quick = client.submit(JobRequest(task="quick", params={"number": 7})).id
        assert Job(client, quick).result(60) == 7
        effects.end_all()
        assert Job(client, hold).result(60) == 1
