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


SMALL, FULL = Size(30, 12, 3, 1), Size(1000, 300, 10, 2)
SIZE = FULL if os.environ.get("HORAE_TICKS_FULL") else SMALL


def make_schedules(stack: Stack, overlaps: tuple[str, ...] = ("allow",)) -> None:
    with stack.client() as client:
        client.put_task(TaskDefinition(name="nobody-runs-it"))
        for number in range(SIZE.schedules):
            overlap = overlaps[number % len(overlaps)]
            definition = ScheduleDefinition(name=f"s{number}", task="nobody-runs-it", every="1s", overlap=overlap)  # type: ignore[arg-type]
            client.schedules.create(definition)


async def trouble(stack: Stack, crash: object) -> None:
    """A random server is killed and started again, over and over; meanwhile the database crashes."""
    end = asyncio.get_running_loop().time() + SIZE.seconds
    crashes = [SIZE.seconds * (n + 1) / (SIZE.crashes + 1) for n in range(SIZE.crashes)]
    programs = {program.name: program for program in stack.servers}
    while (left := end - asyncio.get_running_loop().time()) > 0:
        if crashes and SIZE.seconds - left >= crashes[0]:
            crashes.pop(0)
            await crash("immediate")  # type: ignore[operator]
        doomed = random.choice(SERVERS)
        await programs[doomed].kill()
        await asyncio.sleep(min(SIZE.kill_every, left))
        programs[doomed] = await stack.server(doomed)
    assert not crashes


@pytest.mark.timeout(900)
async def test_every_tick_has_its_one_job_whatever_crashes(durable_stack, durable_cluster):
    for name in SERVERS:
        await durable_stack.server(name)
    make_schedules(durable_stack)
    await trouble(durable_stack, durable_cluster.restart)
    async with connected(durable_stack) as connection:
        until = await connection.fetchval("select date_trunc('second', clock_timestamp())")
        await wait_for(lambda: planned_up_to(connection, until), 60, what="all schedules planned")
        firsts = await connection.fetch(
            """select s.id, s.made_at, min(t.at) as first
               from schedule s join tick t on t.schedule_id = s.id group by s.id"""
        )
        jobs = {row["id"] for row in await connection.fetch("select id from job where run_at <= $1", until)}
        doubled = await connection.fetchval(
            """select count(*) from (select id from timer union all select id from ready) j
               group by id having count(*) > 1"""
        )
    assert len(firsts) == SIZE.schedules
    assert all(abs(row["first"] - row["made_at"]) <= 1.2 * SECOND for row in firsts)
    expected = {derived_id(at, "schedule", row["id"]) for row in firsts for at in ticks(row["first"], until)}
    assert len(jobs) == len(expected)
    assert jobs == expected
    assert doubled is None


def ticks(first: datetime, until: datetime) -> list[datetime]:
    return [first + n * SECOND for n in range(int((until - first) / SECOND) + 1)]


async def planned_up_to(connection, until: datetime) -> bool:  # type: ignore[no-untyped-def]
    return await connection.fetchval("select min(cursor_at) from schedule") >= until
