"""Limits while workers and servers are killed, the database crashes, and the limits themselves change."""

import asyncio
import random
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from horae.bench.program import Program
from horae.client.client import Client
from horae.model.errors import HoraeError
from horae.model.job import JobRequest
from horae.model.limits import Field
from horae.store.safety import Connection
from horae.testing.stack import Stack
from horae.testing.waiting import wait_for
from horae.wire.limits import LimitPut

from .conftest import FIRM_LEASE
from .effects import JOBS, Effects, Run
from .load import connected, nothing_left
from .recorder import most_at_once, over_rate, record, starts

SEED = 8420
SERVERS = ("a", "b")


async def start(stack: Stack, slots: int = 4) -> dict[str, Program]:
    """Two servers, each with a worker. The servers by their names."""
    servers = await asyncio.gather(*(stack.server(name, **FIRM_LEASE) for name in SERVERS))
    for name, server in (("one", "a"), ("two", "b")):
        await stack.worker(name, JOBS, slots=slots, url=stack.address(server))
    for name in ("one", "two"):
        await stack.until_joined(name)
    return dict(zip(SERVERS, servers, strict=True))


def short(seconds: float, key: str | None = None, **more: object) -> JobRequest:
    return JobRequest(task="short", params={"seconds": seconds}, concurrency_key=key, **more)  # type: ignore[arg-type]


def submit(client: Client, jobs: Sequence[JobRequest]) -> list[str]:
    return [str(job.id) for job in client.submit_many(list(jobs)).items]


def most_runs_at_once(runs: Sequence[Run]) -> int:
    changes = sorted([(run.first, 1) for run in runs] + [(run.last, -1) for run in runs])
    running = most = 0
    for _, change in changes:
        running += change
        most = max(most, running)
    return most


async def all_ended(connection: Connection, seconds: float = 100) -> None:
    await wait_for(lambda: nothing_left(connection), seconds, interval=0.1, what="the end of all jobs")
    assert await connection.fetchval("select count(*) from slot") == 0


async def test_no_crash_exceeds_a_limit_or_leaves_a_slot(durable_stack, durable_cluster, effects: Effects):
    stack = durable_stack
    servers = await start(stack)
    with stack.client(stack.address("a")) as client:
        client.put_limit("most", LimitPut(task="short", max_running=3))
        async with connected(stack) as connection:
            await record(connection)
        ids = submit(client, [short(0.05, f"k{n % 7}" if n % 3 else None) for n in range(150)])
    await effects.running(1)
    await stack.workers[0].kill()
    await stack.worker("three", JOBS, slots=4, url=stack.address("b"))
    await servers["b"].kill()
    await durable_cluster.restart("immediate")
    await stack.server("b", **FIRM_LEASE)
    await servers["a"].kill()
    await stack.server("a", **FIRM_LEASE)
    async with connected(stack) as connection:
        await all_ended(connection)
        states = await connection.fetch("select state::text from outcome")
        assert [row["state"] for row in states] == ["succeeded"] * len(ids)
        assert await most_at_once(connection) <= 3
        assert await most_at_once(connection, "nullif(l.concurrency_key, '')") <= 3
    assert most_runs_at_once(effects.runs()) <= 3
    assert effects.overlaps() == []


async def test_a_limit_that_changes_fifty_times_is_never_exceeded_and_leaves_no_slot(stack, effects):
    await start(stack)
    chance = random.Random(SEED)
    with stack.client(stack.address("a")) as one, stack.client(stack.address("b")) as two:
        one.put_limit("ceiling", LimitPut(task="short", max_running=6))
        async with connected(stack) as connection:
            await record(connection)
            submit(one, [short(0.02, f"k{n}" if n % 2 else None) for n in range(400)])
            for n in range(50):
                each = chance.choice([[], [Field.QUEUE], [Field.KEY]])
                wanted = LimitPut(task="short", each=each, max_running=chance.randint(1, 8))
                client = chance.choice((one, two))
                await asyncio.to_thread(client.put_limit, f"flapping-{n % 3}", wanted)
                if chance.random() < 0.3:
                    await asyncio.to_thread(client.remove_limit, f"flapping-{n % 3}")
            for n in range(3):
                with suppress(HoraeError):
                    one.remove_limit(f"flapping-{n}")
            await all_ended(connection)
            assert await most_at_once(connection) <= 6
            query = "select deadlocks from pg_stat_database where datname = current_database()"
            assert await connection.fetchval(query) == 0


async def test_two_servers_keep_one_rate_over_every_window(stack):
    await start(stack)
    with stack.client(stack.address("a")) as one, stack.client(stack.address("b")) as two:
        one.put_limit("rate", LimitPut(task="quick", rate=25.0, burst=5))
        async with connected(stack) as connection:
            await record(connection)
            for client in (one, two):
                submit(client, [JobRequest(task="quick", params={"number": n}) for n in range(60)])
            await all_ended(connection)
            times = await starts(connection)
    assert len(times) == 120
    assert over_rate(times, 25, 5, slack=timedelta(milliseconds=200)) == []
    assert (times[-1] - times[0]).total_seconds() < 60, "a rate of 25 a second takes five seconds"


async def test_cancels_moves_and_expiries_give_their_slots_back(stack, effects):
    await start(stack)
    chance = random.Random(SEED)
    with stack.client(stack.address("a")) as client:
        client.put_limit("most", LimitPut(task="short", max_running=4))
        async with connected(stack) as connection:
            await record(connection)
            ids = submit(client, [short(0.3, f"k{n % 9}", expires_in=chance.choice([0.5, 3, 600])) for n in range(60)])
            await effects.running(1)
            for _ in range(40):
                order = chance.choice([client.cancel, client.move])
                running = await connection.fetch("select id::text from lease")
                job = chance.choice([row["id"] for row in running] or ids)
                with suppress(HoraeError):
                    await asyncio.to_thread(order, job)
            await all_ended(connection)
            assert await most_at_once(connection) <= 4
            assert await most_at_once(connection, "l.concurrency_key") <= 1
