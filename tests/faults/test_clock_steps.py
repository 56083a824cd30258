"""The database's clock is set forward and back by hours while schedules fire and workers run jobs.

All instants of Horae are PostgreSQL's, so that is the clock to set (see `clocks`). What ran is told by the jobs
themselves, by the monotonic clock, which nobody sets (see `effects`).
"""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from horae.client.handles import Job
from horae.model.definition import ScheduleDefinition
from horae.model.job import JobRequest
from horae.model.overlap import Missed
from horae.store.migrate import migrate
from horae.store.safety import Connection
from horae.testing.clocks import COMPILER, SettableClock, find_compiler
from horae.testing.database import temporary_cluster
from horae.testing.stack import Stack, running_stack
from horae.testing.waiting import wait_for

from .conftest import FIRM_LEASE, tell
from .effects import JOBS, Effects
from .load import Load, connected, nothing_left

pytestmark = pytest.mark.skipif(find_compiler() is None, reason=f"needs {COMPILER}")
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
SPACING = 5 * MINUTE
BEFORE_A_TICK, BETWEEN_TICKS = 4.5 * MINUTE, 2.5 * MINUTE
SOON = 60 * SECOND
"""How long a server on a busy machine may take to see that the clock was set."""
JOBS_BETWEEN_STEPS = 200
"""With the pauses of the load they take seconds."""


class Policy(NamedTuple):
    options: dict[str, object]
    caught_up: int
    """How many of the five-minute ticks that were missed by hours run all the same."""
    reach: timedelta
    """From how long before the new time on the ticks of every second run: a minute late is not missed."""


POLICIES = {
    "skip": Policy({"missed": Missed.SKIP}, 0, MINUTE),
    "latest": Policy({"missed": Missed.LATEST}, 1, MINUTE + SECOND),
    "all": Policy({"missed": Missed.ALL, "missed_limit": 3}, 3, MINUTE + 3 * SECOND),
    "window": Policy({"missed": Missed.WINDOW, "missed_window": "12m"}, 2, 12 * MINUTE),
}


@pytest.fixture
async def clock(reachable_path: Path) -> SettableClock:
    compiler = find_compiler()
    assert compiler is not None
    return SettableClock(compiler, reachable_path)


@pytest.fixture
async def stack(clock: SettableClock, tmp_path: Path, effects: Effects) -> AsyncIterator[Stack]:
    """On a database that goes by the test's clock."""
    async with temporary_cluster(prefix=clock.prefix) as cluster:
        await migrate(cluster.dsn)
        async with running_stack(cluster.dsn, tmp_path, **effects.environ(), **FIRM_LEASE) as stack:
            yield stack
            tell(stack)


async def time_of(connection: Connection) -> datetime:
    found: datetime = await connection.fetchval("select clock_timestamp()")
    return found


async def step(connection: Connection, clock: SettableClock, by: timedelta, phase: timedelta) -> datetime:
    """Sets the clock by about so much, to a certain phase between two five-minute ticks. Returns the new time."""
    goal = await time_of(connection) + by
    clock.step(by + ticks_between(goal - SPACING, goal)[0] + phase - goal)
    return await time_of(connection)


def ticks_between(after: datetime, until: datetime, spacing: timedelta = SPACING) -> list[datetime]:
    seconds = spacing.total_seconds()
    first, last = after.timestamp() // seconds + 1, until.timestamp() // seconds
    return [datetime.fromtimestamp(n * seconds, UTC) for n in range(int(first), int(last) + 1)]


def runs_of(ticks: list[datetime]) -> list[tuple[datetime, datetime]]:
    """The ticks of every second as stretches without a gap."""
    starts = [tick for tick in ticks if tick - SECOND not in ticks]
    ends = [tick for tick in ticks if tick + SECOND not in ticks]
    return list(zip(starts, ends, strict=True))


def make_schedules(stack: Stack) -> None:
    """Of each policy one that fires every five minutes, and one that fires every second, for the load."""
    with stack.client() as client:
        for name, policy in POLICIES.items():
            for every in ("5m", "1s"):
                definition = {"name": f"{name}-{every}", "task": "quick", "params": {"number": 1}, "every": every}
                client.schedules.create(msgspec.convert(definition | policy.options, ScheduleDefinition))


def follows(stack: Stack, begin: datetime) -> bool:
    """Whether the server that makes the schedules has seen that the clock was set."""
    definition = ScheduleDefinition(name="seen", task="quick", params={"number": 1}, every="1s")
    with stack.client() as client:
        return client.schedules.preview(definition, count=1).items[0].at >= begin


async def nothing_due(connection: Connection) -> datetime | None:
    """The present, if no tick up to now waits to be started: one that waits would be missed when the clock is set."""
    return await connection.fetchval(
        """with present as materialized (select clock_timestamp() as at)
           select at from present
           where (select min(next_at) from schedule) > at
             and not exists (select from timer where run_at <= at)
             and not exists (select from ready join tick on tick.job_id = ready.id)"""
    )


async def caught_up(connection: Connection) -> bool:
    """Every schedule is planned beyond the present, and all that is due has been started."""
    return await connection.fetchval(
        """select (select min(next_at) from schedule) > clock_timestamp()
              and not exists (select from timer where run_at < clock_timestamp() - interval '1 second')
              and not exists (select from ready)"""
    )


async def finish(stack: Stack, connection: Connection) -> datetime:
    """Nothing new comes, and all that is there ends. Returns the time from which on nothing new came."""
    with stack.client() as client:
        for schedule in client.schedules.list().items:
            client.schedules.pause(schedule.definition.name)
    paused_at = await time_of(connection)
    await wait_for(lambda: nothing_left(connection), 100, interval=0.2)
    return paused_at


async def ticks_of(connection: Connection) -> dict[str, dict[datetime, str]]:
    """The jobs of ticks, by schedule and nominal time. A tick has one at most, by the table's key."""
    query = """select s.name, t.at, t.job_id::text from tick t join schedule s on s.id = t.schedule_id
               where t.state = 'fired' order by t.at"""
    found: dict[str, dict[datetime, str]] = {f"{name}-{every}": {} for name in POLICIES for every in ("5m", "1s")}
    for row in await connection.fetch(query):
        found[row["name"]][row["at"]] = row["job_id"]
    return found


async def all_fired(connection: Connection, since: datetime) -> bool:
    """Whether a job of each of the schedules of every second has ended since: one that only waits may be taken back."""
    query = """select count(distinct s.id) from tick t join schedule s on s.id = t.schedule_id
               join outcome o on o.id = t.job_id where s.name like '%-1s' and t.at > $1"""
    return await connection.fetchval(query, since) == len(POLICIES)


@pytest.mark.timeout(600)
async def test_steps_of_the_clock_fire_no_tick_twice_and_missed_ones_by_policy(stack, clock, effects):
    """Forward by hours, back, and forward beyond all that was. Ticks made ahead are missed like those never planned."""
    async with connected(stack) as connection:
        for name in ("a", "b"):
            await stack.server(name)
            await stack.worker(f"of-{name}", JOBS, slots=4, url=stack.address(name))
            await stack.until_joined(f"of-{name}")
        begin = await step(connection, clock, timedelta(), BEFORE_A_TICK)
        await wait_for(lambda: follows(stack, begin), what="the server knows the new time")
        make_schedules(stack)
        steps: list[tuple[datetime, datetime, datetime]] = []
        seen = begin
        with Load(stack, threads=1) as load:
            for by in (3 * HOUR, -2 * HOUR, 26 * HOUR):
                if len(steps) < 2:  # Set back, they have nothing to fire.
                    await wait_for(lambda since=seen: all_fired(connection, since), 60, what="ticks of every second")
                enough = len(load.jobs) + JOBS_BETWEEN_STEPS
                await wait_for(lambda enough=enough: len(load.jobs) >= enough, 60, what="load between the steps")
                with load.resting():  # It would take the worker's slots, and the clock is set while it goes on.
                    before = await wait_for(lambda: nothing_due(connection), 60, what="a moment with nothing due")
                after = await step(connection, clock, by, BETWEEN_TICKS)
                with load.resting():
                    await wait_for(lambda: caught_up(connection), 100, what="all caught up")
                seen = await time_of(connection)
                steps.append((before, after, seen))
        load.settle()
        end = await finish(stack, connection)
        ticks = await ticks_of(connection)
        counts = dict(
            await connection.fetch(
                "select name, (select sum(count) from tick where schedule_id = s.id) from schedule s"
            )
        )
        ended = {row["id"]: row["state"] for row in await connection.fetch("select id::text, state::text from outcome")}
    (left, first, first_seen), (back, _, _), (_, last, last_seen) = steps
    for name, policy in POLICIES.items():
        missed = ticks_between(begin, first), ticks_between(first, last)
        assert list(ticks[f"{name}-5m"]) == [tick for some in missed for tick in some[len(some) - policy.caught_up :]]
        assert counts[f"{name}-5m"] == len(ticks_between(begin, last))
        fast = list(ticks[f"{name}-1s"])
        gaps = [(left, first, first_seen), (back, last, last_seen)]
        assert counts[f"{name}-1s"] == len(ticks_between(fast[0] - SECOND, fast[-1], SECOND))
        for ((_, stopped), (began, _)), (before, after, seen) in zip(pairwise(runs_of(fast)), gaps, strict=True):
            assert timedelta() <= stopped - (before - SECOND) <= SOON
            assert timedelta() <= began - (after - policy.reach) <= seen - after + SECOND, "as of when a server saw it"
        assert end - fast[-1] < SOON
    jobs = [job for fired in ticks.values() for job in fired.values()] + list(load.jobs.values())
    assert sorted(ended) == sorted(jobs)
    assert set(ended.values()) == {"succeeded"}
    assert sorted(run.job for run in effects.runs()) == sorted(jobs), "each ran once"


async def test_a_clock_set_forward_takes_no_job_from_a_worker_that_lives(stack, clock, effects):
    """All leases have ended by the new time, though not one of their seconds has passed.

    The worker has no slot left: it would hear of a loss with its next heartbeat only, and go on until then.
    """
    await stack.server()
    await stack.worker("one", JOBS, slots=1)
    await stack.until_joined("one")
    with stack.client() as client:
        hold = client.submit(JobRequest(task="hold")).id
        (run,) = await effects.running(1)
        await stack.worker("heir", JOBS, slots=2)
        await stack.until_joined("heir")
        clock.step(26 * HOUR)
        await effects.beyond(effects.runs()[0].last + 1.5 * float(FIRM_LEASE["HORAE_LEASE_SECONDS"]))
        effects.end_all()
        assert Job(client, hold).result(60) == 1
    assert [found.pid for found in effects.runs()] == [run.pid]


async def test_a_worker_that_dies_when_the_clock_is_set_back_loses_its_jobs_in_time(stack, clock, effects):
    """Set back by two hours, its lease seems to last that much longer."""
    await stack.server()
    doomed = await stack.worker("doomed", JOBS, slots=2)
    await stack.until_joined("doomed")
    with stack.client() as client:
        hold = client.submit(JobRequest(task="hold")).id
        await effects.running(1)
        await stack.worker("heir", JOBS, slots=2)
        await stack.until_joined("heir")
        await doomed.kill()
        clock.step(-2 * HOUR)
        await effects.running(1, attempt=2, timeout=100)
        effects.end_all()
        assert Job(client, hold).result(60) == 2
    assert effects.overlaps() == []
