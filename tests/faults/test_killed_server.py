"""A server, or the database under it, dies while jobs are submitted and run."""

from horae.testing.waiting import wait_for

from .effects import JOBS
from .load import Load, all_ended_exactly_once


async def submitted_since(load: Load, before: int, count: int = 20) -> None:
    """Service is back when submits are acknowledged again."""
    await wait_for(lambda: len(load.jobs) >= before + count, 100, what=f"{count} more submits")


async def test_a_killed_server_loses_and_doubles_nothing(stack, effects):
    server = await stack.server()
    for name in ("one", "two"):
        await stack.worker(name, JOBS)
    await stack.until_joined("one")
    with Load(stack) as load:
        for _ in range(3):
            await submitted_since(load, len(load.jobs), 100)
            await server.kill()
            before = len(load.jobs)
            server = await stack.server()
            await submitted_since(load, before)
    assert load.doubtful, "the kill went unnoticed"
    load.settle()
    await all_ended_exactly_once(stack, effects, list(load.jobs.values()))


async def test_of_two_servers_one_is_killed_and_the_other_carries_on(stack, effects):
    await stack.server("a")
    doomed = await stack.server("b")
    await stack.worker("one", JOBS)
    await stack.worker("two", JOBS, url=stack.address("b"))
    await stack.until_joined("two")
    with Load(stack) as load:
        await submitted_since(load, 0, 100)
        await doomed.kill()
        await submitted_since(load, len(load.jobs), 100)
        await stack.server("b")
    load.settle()
    await all_ended_exactly_once(stack, effects, list(load.jobs.values()))


async def test_a_database_that_crashes_three_times_loses_and_doubles_nothing(durable_stack, durable_cluster, effects):
    await durable_stack.server()
    await durable_stack.worker("one", JOBS)
    await durable_stack.until_joined("one")
    with Load(durable_stack) as load:
        for _ in range(3):
            await submitted_since(load, len(load.jobs), 100)
            await durable_cluster.restart("immediate")
            await submitted_since(load, len(load.jobs))
    load.settle()
    await all_ended_exactly_once(durable_stack, effects, list(load.jobs.values()))
