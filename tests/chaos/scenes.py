"""For each planted bug the shortest scene in which it shows, and in which a Horae without it does nothing wrong."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final
from uuid import UUID

from faults.processes import children_of
from horae.bench.program import Program
from horae.model.actions import ActionKind
from horae.testing.waiting import wait_for
from horae.wire.access import TenantCreate
from horae.wire.actions import ActionRequest, JobsFilter
from horae.wire.limits import LimitPut

from . import truth
from .menu import FLOOD, LIMITS, SCHEDULES, TENANTS
from .stage import PATIENCE, Stage, came_true

Scene = Callable[[Stage], Awaitable[None]]

SINGLES: Final = 20
FLOOD_JOBS: Final = 1300
STRICT: Final = "strict"
"""A tenant that may hardly submit anything."""
DOUBLED: Final = "select count(*) > count(distinct job.params) from job join outcome using (id)"
TICKED: Final = """
select count(*) > 1 from tick t join schedule s on s.id = t.schedule_id join outcome o on o.id = t.job_id
where s.name = $1
"""
OVERDUE: Final = "update timer set run_at = clock_timestamp() - interval '1 second'"
ACTED: Final = "select bool_and(state <> 'running') from bulk_action"
TAKEN_AWAY: Final = "select count(*) = 0 from lease"
SHORT_LEASE: Final = {"HORAE_LEASE_SECONDS": "4"}
LONG_AFTER: Final = 1.0
TAKEN_OVER: Final = 12.0
"""Seconds within which a job is with another worker when its own has gone."""


async def told_late(stage: Stage) -> None:
    """The end of an attempt that failed is reported once more, as a success, while the next attempt runs."""
    await stage.servers()
    puppet, client = await stage.puppet(), await stage.client()
    await client.submit(stage.job("quick"))
    [first] = await puppet.take()
    await puppet.fail(first)
    [second] = await puppet.take()
    await puppet.say(puppet.success(first))
    await puppet.succeed(second)
    await stage.drained(puppet)


async def failed_once(stage: Stage) -> None:
    await stage.servers()
    puppet, client = await stage.puppet(), await stage.client()
    await client.submit(stage.job("quick"))
    [first] = await puppet.take()
    await puppet.fail(first)
    await stage.drained(puppet)


async def killed_after_the_answer(stage: Stage) -> None:
    await stage.servers()
    await stage.puppet()  # Brings the tasks.
    client = await stage.client()
    await asyncio.gather(*(client.submit(stage.job("quick")) for _ in range(SINGLES)))
    await stage.server_again()
    await stage.drained(await stage.puppet())


async def planned_by_two(stage: Stage) -> None:
    await stage.servers(2)
    puppet, client = await stage.puppet(), await stage.client()
    schedule = SCHEDULES[0]
    await client.sdk.schedules.create(schedule)
    async with truth.connected(stage.stack.dsn) as connection:
        await wait_for(lambda: connection.fetchval("select count(*) > 0 from tick"), 30)

        async def doubled() -> bool:
            await puppet.run_some()
            return bool(await connection.fetchval(DOUBLED))

        await came_true(doubled, stage.observed)
    await client.sdk.schedules.pause(schedule.name)
    await stage.drained(puppet)


async def limited_on_two(stage: Stage) -> None:
    await stage.servers(2)
    puppets, client = [await stage.puppet(0), await stage.puppet(1)], await stage.client()
    for task, most in LIMITS.items():
        await client.sdk.put_limit(task, LimitPut(task=task, max_running=most))
    await client.submit_many([stage.job("limited") for _ in range(4 * LIMITS["limited"])])
    held = [(puppet, await puppet.take(SINGLES, stage.observed / 2)) for puppet in puppets]
    for puppet, grants in held:
        await puppet.succeed(*grants)
    await stage.drained(puppets[0])


async def held_by_the_living(stage: Stage) -> None:
    """A worker holds a job for longer than a heartbeat, and for less than its lease."""
    await stage.servers()
    puppet, client = await stage.puppet(), await stage.client()
    await client.submit(stage.job("quick"))
    grants = await puppet.take()
    async with truth.connected(stage.stack.dsn) as connection:
        if not await came_true(lambda: connection.fetchval(TAKEN_AWAY), stage.observed):
            await puppet.succeed(*grants)
    await stage.drained(await stage.puppet())


async def asked_twice(stage: Stage) -> None:
    await stage.servers()
    puppet, client = await stage.puppet(), await stage.client()
    job = stage.job("quick")
    await client.submit_raw(job, "once")
    await client.submit_raw(job, "once")
    await stage.drained(puppet)


async def claimed_by_two(stage: Stage) -> None:
    await stage.servers(2)
    puppets, client = [await stage.puppet(0), await stage.puppet(1)], await stage.client()
    await client.submit_many([stage.job("quick") for _ in range(SINGLES)])
    # The scout of the second server must have seen them too.
    held = await asyncio.gather(*(puppet.take(SINGLES // 2, stage.observed / 2) for puppet in puppets))
    for puppet, grants in zip(puppets, held, strict=True):
        await puppet.succeed(*grants)
    await stage.drained(puppets[0])


async def cancelled_while_it_ran(stage: Stage) -> None:
    await stage.servers()
    puppet, client = await stage.puppet(), await stage.client()
    job = await client.submit(stage.job("quick"))
    grants = await puppet.take()
    await client.cancel(job or "")
    await puppet.succeed(*grants)
    await stage.drained(puppet)


async def ended_together(stage: Stage) -> None:
    await stage.servers()
    puppet, client = await stage.puppet(), await stage.client()
    await client.submit_many([stage.job("quick") for _ in range(2)])
    await puppet.succeed(*(await puppet.take(2)))
    await stage.drained(puppet)


async def due_while_nobody_looked(stage: Stage) -> None:
    await stage.servers()
    await stage.puppet()
    client = await stage.client()
    await client.submit(stage.job("quick", delay=60.0))
    await stage.server_dies()
    async with truth.connected(stage.stack.dsn) as connection:
        await connection.execute(OVERDUE)  # As if that minute had passed.
    await stage.server_again()
    await stage.drained(await stage.puppet())


async def granted_and_never_heard_of(stage: Stage) -> None:
    await stage.servers()
    puppet, client = await stage.puppet(), await stage.client()
    await client.submit(stage.job("quick"))
    await puppet.granted()
    await puppet.succeed(*await puppet.take(wait=1.0, lost=True))
    await stage.drained(puppet)


async def flooded(stage: Stage) -> None:
    await stage.servers()
    puppet, client = await stage.puppet(), await stage.client()
    await client.sdk.create_tenant(TenantCreate(name=FLOOD))
    await client.submit_many([stage.job("quick", tenant=FLOOD) for _ in range(FLOOD_JOBS)])
    await client.submit_many([stage.job("quick") for _ in range(SINGLES)])
    await stage.drained(puppet, least=PATIENCE)


async def refused_for_now(stage: Stage) -> None:
    """More than a quota allows, one by one and in bulk, until some of either is refused."""
    await stage.servers()
    puppet, client = await stage.puppet(), await stage.client()
    await client.sdk.create_tenant(TenantCreate(name=STRICT))
    await client.sdk.set_quota("tenant", STRICT, submit_rate=1.0, burst=1)

    async def refused() -> bool:
        jobs = [stage.job("quick", tenant=STRICT) for _ in range(3)]
        return await client.submit_raw(jobs[0]) is None and None in await client.submit_many_raw(jobs[1:])

    await came_true(refused, PATIENCE)
    await stage.drained(puppet)


async def process_died(stage: Stage) -> None:
    await stage.servers()
    await stage.worker("worker")
    client = await stage.client()
    await client.submit(stage.job("crashing"))
    await stage.drained()


async def report_not_taken(stage: Stage) -> None:
    """The first report of a success ends in the middle, before anything of it is durable."""
    await stage.servers()
    await stage.server_again(HORAE_FAILPOINTS="succeed.before_commit=raise@1")
    await stage.worker("worker")
    client = await stage.client()
    await client.submit(stage.job("quick"))
    await stage.drained()


async def cut_off(stage: Stage) -> None:
    """An agent is frozen for longer than its lease, and another worker takes over what its children still run."""
    async with stage.frozen(await holding(stage, seconds=TAKEN_OVER)):
        await wait_for(lambda: stage.started(2), 60)
        await wait_for(lambda: stage.ended(1), 60)
    await stage.drained()


async def frozen_alone(stage: Stage) -> None:
    """An agent is frozen for longer than its lease, and whatever it runs has ended before it can go on."""
    async with stage.frozen(await holding(stage, seconds=1.0)):
        await asyncio.sleep(TAKEN_OVER)
    await stage.drained(least=TAKEN_OVER)


async def cancelled_with_others(stage: Stage) -> None:
    """By one action on many jobs, before they are due."""
    await stage.servers()
    puppet, client = await stage.puppet(), await stage.client()
    found = await client.submit_many([stage.job("quick", delay=2.0) for _ in range(3)])
    wanted = JobsFilter(tenant=TENANTS[0], ids=[UUID(job) for job in found if job])
    await client.cancel_all([job for job in found if job], ActionRequest(action=ActionKind.CANCEL, filter=wanted))
    async with truth.connected(stage.stack.dsn) as connection:
        await came_true(lambda: connection.fetchval(ACTED), PATIENCE)
    await asyncio.sleep(LONG_AFTER)  # As in `cancelled_in_time`.
    await stage.drained(puppet)


async def ticked(stage: Stage) -> None:
    await stage.servers()
    puppet, client = await stage.puppet(), await stage.client()
    schedule = SCHEDULES[1]
    await client.sdk.schedules.create(schedule)
    async with truth.connected(stage.stack.dsn) as connection:

        async def some_have_run() -> bool:
            await puppet.run_some()
            return await connection.fetchval(TICKED, schedule.name)

        await wait_for(some_have_run, 30)
    await client.sdk.schedules.pause(schedule.name)
    await stage.drained(puppet)


async def cancelled_in_time(stage: Stage) -> None:
    """Before anybody takes it: they do so long after."""
    await stage.servers()
    puppet, client = await stage.puppet(), await stage.client()
    await client.cancel(await client.submit(stage.job("quick")) or "")
    await asyncio.sleep(LONG_AFTER)  # What comes later is told by clocks, and only roughly.
    await stage.drained(puppet)


async def agent_died(stage: Stage) -> None:
    await (await holding(stage, seconds=4.0)).kill()
    await stage.drained(least=TAKEN_OVER)


async def holding(stage: Stage, seconds: float) -> Program:
    """Of two workers the one that has just begun with a job that lasts so long."""
    await stage.servers(**SHORT_LEASE)
    workers = [await stage.worker("one"), await stage.worker("other")]
    client, job = await stage.client(), stage.job("short")
    job.params["seconds"] = seconds
    await client.submit(job)
    await wait_for(lambda: stage.started(1), 60)
    return next(worker for worker in workers if stage.runs()[0].pid in children_of(worker))


PLAYED: Final[dict[str, Scene]] = {
    "no-fence": told_late,
    "ack-before-commit": killed_after_the_answer,
    "tick-without-id": planned_by_two,
    "limits-in-memory": limited_on_two,
    "reclaim-from-the-living": held_by_the_living,
    "idempotency-ignored": asked_twice,
    "retry-twice": failed_once,
    "claim-without-lock": claimed_by_two,
    "cancelled-and-done": cancelled_while_it_ran,
    "result-of-another": ended_together,
    "timers-only-ahead": due_while_nobody_looked,
    "lost-answers-ignored": granted_and_never_heard_of,
    "no-retries": failed_once,
    "newest-tenant-first": flooded,
    "no-comeback": refused_for_now,
    "cancel-forgotten": cancelled_in_time,
    "action-forgotten": cancelled_with_others,
    "tick-given-up": ticked,
}
"""By bug: those in which workers are played by hand."""

WORKED: Final[dict[str, Scene]] = {"crash-forgotten": process_died, "report-forgotten": report_not_taken}
"""Those with real workers."""

LONG: Final[dict[str, Scene]] = {"never-fenced": cut_off, "heart-apart": agent_died, "heart-goes-on": frozen_alone}
"""Those that outlast a lease."""
