"""Parts that stand still for a while and then go on as if nothing had happened."""

from horae.client.handles import Job
from horae.model.job import JobRequest

from .conftest import SHORT_LEASE
from .effects import JOBS
from .processes import alive


async def test_a_worker_frozen_beyond_its_lease_has_stopped_before_another_starts_and_rejoins(stack, effects):
    """The agent freezes; the keeper kills; the lease ends; the heir runs; the agent thaws, and what its child had to
    say of `short`, which ended while nobody listened, must not count."""
    await stack.server(**SHORT_LEASE)
    frozen = await stack.worker("frozen", JOBS, slots=2)
    old = await stack.until_joined("frozen")
    with stack.client() as client:
        hold = client.submit(JobRequest(task="hold")).id
        short = client.submit(JobRequest(task="short", params={"seconds": 1.5})).id
        first = await effects.running(2)
        stack.freeze(frozen)
        await stack.worker("heir", JOBS, slots=2)
        await effects.running(1, attempt=2)
        assert not any(alive(run.pid) for run in first)
        stack.thaw(frozen)
        assert Job(client, short).result(60) == 2
        assert await stack.until_joined("frozen", besides=old) > old
        effects.end_all()
        assert Job(client, hold).result(30) == 2
    assert effects.overlaps() == []


async def test_a_server_frozen_for_less_than_a_lease_costs_nobody_anything(stack, effects):
    server = await stack.server()
    await stack.worker("one", JOBS, slots=2)
    await stack.until_joined("one")
    with stack.client() as client:
        hold = client.submit(JobRequest(task="hold")).id
        await effects.running(1)
        stack.freeze(server)
        (run,) = effects.runs()
        await effects.beyond(run.last + 4)
        stack.thaw(server)
        quick = client.submit(JobRequest(task="quick", params={"number": 7})).id
        assert Job(client, quick).result(30) == 7
        effects.end_all()
        assert Job(client, hold).result(30) == 1
