"""Servers are killed and the database crashes while schedules fire: every tick has its one job, and no other has.

HORAE_TICKS_FULL=1 runs it in full size: 1,000 schedules for five minutes, a server killed every ten seconds, the
database crashed twice.
"""

import asyncio
import os
import random
from datetime import datetime, timedelta
from typing import NamedTuple

import pytest

from horae.model.definition import ScheduleDefinition
from horae.model.ids import derived_id
from horae.model.task import TaskDefinition
from horae.testing.stack import Stack
from horae.testing.waiting import wait_for

from .load import connected

SERVERS = ("a", "b", "c")
SECOND = timedelta(seconds=1)


class Size(NamedTuple):
    schedules: int
    seconds: float
    kill_every: float
    crashes: int


SMALL, FULL = Size(30, 8, 2, 1), Size(1000, 300, 10, 2)
SIZE = FULL if os.environ.get("HORAE_TICKS_FULL") else SMALL


async def make_schedules(stack: Stack) -> dict[int, datetime]:
    """The first tick of each. Until it is known they are paused, for less than would make a tick a missed one."""
    names = [f"s{number}" for number in range(SIZE.schedules)]
    with stack.client() as client:
        client.put_task(TaskDefinition(name="nobody-runs-it"))
        for name in names:
            client.schedules.create(ScheduleDefinition(name=name, task="nobody-runs-it", every="1s"), paused=True)
        async with connected(stack) as connection:
            firsts = dict(await connection.fetch("select id, next_at from schedule"))
        for name in names:
            client.schedules.resume(name)
    return firsts


async def trouble(stack: Stack, crash: object) -> None:
    """A random server is killed and started again, over and over; meanwhile the database crashes."""
    end = asyncio.get_running_loop().time() + SIZE.seconds
    crashes = [SIZE.seconds * (n + 1) / (SIZE.crashes + 1) for n in range(SIZE.crashes)]
    programs = {program.name: program for program in stack.servers}
    while (left := max(0.0, end - asyncio.get_running_loop().time())) > 0 or crashes:
        if crashes and SIZE.seconds - left >= crashes[0]:
            crashes.pop(0)
            await crash("immediate")  # type: ignore[operator]
        doomed = random.choice(SERVERS)
        await programs[doomed].kill()
        await asyncio.sleep(min(SIZE.kill_every, left))
        programs[doomed] = await stack.server(doomed)


@pytest.mark.timeout(900)
async def test_every_tick_has_its_one_job_whatever_crashes(durable_stack, durable_cluster):
    await asyncio.gather(*(durable_stack.server(name) for name in SERVERS))
    firsts = await make_schedules(durable_stack)
    await trouble(durable_stack, durable_cluster.restart)
    async with connected(durable_stack) as connection:
        until = await connection.fetchval("select date_trunc('second', clock_timestamp())")
        await wait_for(lambda: planned_up_to(connection, until), 100, what="all schedules planned")
        jobs = {row["id"] for row in await connection.fetch("select id from job where run_at <= $1", until)}
        doubled = await connection.fetchval(
            """select count(*) from (select id from timer union all select id from ready) j
               group by id having count(*) > 1"""
        )
    assert len(firsts) == SIZE.schedules
    expected = {
        derived_id(at, "schedule", schedule) for schedule, first in firsts.items() for at in ticks(first, until)
    }
    assert len(jobs) == len(expected)
    assert jobs == expected
    assert doubled is None


def ticks(first: datetime, until: datetime) -> list[datetime]:
    return [first + n * SECOND for n in range(int((until - first) / SECOND) + 1)]


async def planned_up_to(connection, until: datetime) -> bool:  # type: ignore[no-untyped-def]
    return await connection.fetchval("select min(cursor_at) from schedule") >= until
