"""Faults on a whole world: each does what it says, and when it is over, all is well again.

One world serves all tests, as in the suite: what one of them leaves behind would show in the next. The whole suite
strikes with every fault there is; here stand those of which it is easy to see that they have struck.
"""

import asyncio
import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import psutil
import pytest
import pytest_asyncio

from faults.effects import JOBS, Effects
from horae.client.client import Client
from horae.client.discovery import Connection
from horae.client.handles import Job
from horae.model.errors import HoraeError
from horae.model.job import JobRequest
from horae.testing.processes import alive
from horae.testing.waiting import wait_for
from horae.worker.sandbox.cgroups import read_text
from horae.worker.sandbox.groups import all_groups

from .faults import FAULTS, failpoints
from .faults.failpoints import waylay
from .world import World, running_world

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(300)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    folder = tmp_path_factory.mktemp("world")
    environ = Effects(folder / "effects").environ() | {"HORAE_LEASE_SECONDS": "6"}
    async with running_world(folder, servers=1, workers=1, app=JOBS, environ=environ) as world:
        yield world


@pytest_asyncio.fixture(loop_scope="module")
async def world(house: World) -> AsyncIterator[World]:
    """In good order before the test, and after it."""
    yield house
    for part in house.parts:
        print(f"--- {part.name}\n{part.last_words()}")
    assert (await house.quiet()).keys() == {"server-1", "worker-1"}
    assert await asyncio.to_thread(run_job, house) == 7


def run_job(world: World) -> int:
    with Client(connection=Connection(world.urls[0], world.admin_key)) as client:
        return Job(client, client.submit(JobRequest(task="quick", params={"number": 7})).id).result(60)


LONG = 52
"""Draws from this seed are near the upper end."""


async def strike(world: World, name: str, seed: int = 1) -> None:
    missing = FAULTS[name].missing
    if missing:
        pytest.skip(missing)
    await FAULTS[name].strike(world, random.Random(seed))


async def meanwhile(world: World, name: str, sign: Callable[[], Any | Awaitable[Any]]) -> None:
    """The fault shows by a sign while it lasts."""
    striking = asyncio.create_task(strike(world, name, LONG))
    shown = asyncio.create_task(wait_for(sign, 100, interval=0.05, what=f"a sign of {name}"))
    await asyncio.wait({striking, shown}, return_when=asyncio.FIRST_COMPLETED)
    seen = shown.done() and shown.result()
    shown.cancel()
    await striking
    assert seen, f"{name} was over, and nothing was to be seen of it"


async def ask(world: World, query: str) -> Any:
    async with world.pair.primary.connected() as connection:
        return await connection.fetchval(query)


@pytest.mark.parametrize("kind", ["server", "worker"])
async def test_what_is_killed_is_started_again(world, kind):
    (part,) = world.servers if kind == "server" else world.workers
    before = part.pid
    await strike(world, f"{kind}.kill")
    assert part.alive
    assert part.pid != before
    assert not alive(before)


async def test_a_host_that_is_stopped_is_so_with_all_its_processes_and_goes_on(world):
    (worker,) = world.workers
    await wait_for(worker.children, 30)

    def stopped() -> bool:
        statuses = set()
        for pid in worker.everything():
            with suppress(psutil.NoSuchProcess):  # It may be gone since.
                statuses.add(psutil.Process(pid).status())
        # Nobody buries the dead meanwhile.
        return statuses - {psutil.STATUS_ZOMBIE} == {psutil.STATUS_STOPPED}

    await meanwhile(world, "worker.host.stop", stopped)
    assert not stopped()
    freeze = world.freezes[-1]
    assert freeze.host
    assert worker.pid in freeze.pids


async def test_a_child_is_killed(world):
    (worker,) = world.workers
    before = set(await wait_for(worker.children, 30))
    await strike(world, "child.kill")
    await wait_for(lambda: before - set(worker.children()), 30)


async def test_postgres_starts_anew_after_a_crash(world):
    began = await ask(world, "select pg_postmaster_start_time()")
    await strike(world, "postgres.restart")
    assert await ask(world, "select pg_postmaster_start_time()") > began


async def test_connections_to_postgres_are_ended(world):
    query = "select array_agg(pid) from pg_stat_activity where application_name like 'horae%'"
    before = set(await ask(world, query))
    await strike(world, "postgres.terminate")
    await wait_for(lambda: _without(world, query, before), 30)


async def _without(world: World, query: str, before: set[int]) -> bool:
    return bool(before - set(await ask(world, query) or []))


@pytest.mark.parametrize("name", ["postgres.failover", "postgres.failover.come_back"])
async def test_the_standby_takes_over_and_has_a_standby_again(world, name):
    old, jobs = world.pair.primary, await ask(world, "select count(*) from horae.job")
    await strike(world, name)
    assert world.pair.standby is old
    assert await world.pair.primary.streams_to(old)
    assert world.dsn == world.pair.primary.dsn
    assert await ask(world, "select count(*) from horae.job") >= jobs


async def test_a_commit_waits_while_the_standby_is_cut_off(world):
    commits = []

    async def waits() -> bool:
        commits.append(asyncio.create_task(ask(world, "select pg_logical_emit_message(true, 'a commit', '')")))
        return await ask(world, "select exists (select from pg_stat_activity where wait_event = 'SyncRep')")

    await meanwhile(world, "postgres.standby.cut", waits)
    await asyncio.gather(*commits)


async def test_a_full_disk_is_relieved(world):
    disk = world.pair.primary.folder
    await meanwhile(world, "postgres.disk_full", lambda: os.statvfs(disk).f_bavail == 0)
    assert os.statvfs(disk).f_bavail > 0


async def test_the_clock_of_the_database_is_set_and_set_right(world):
    async def off() -> bool:
        return abs(await ask(world, "select clock_timestamp()") - datetime.now(UTC)) > timedelta(seconds=2)

    async def off_if_it_answers() -> bool:
        """It is stopped and started in between, at any moment of the question."""
        with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError):
            return await off()
        return False

    await meanwhile(world, "clock.database", off_if_it_answers)
    assert not await off()


async def test_the_worker_is_cut_off_in_a_network_of_its_own_and_comes_back(world):
    before = world.workers[0].pid
    silence = "select extract(epoch from clock_timestamp() - max(seen_at)) from horae.worker where pid = {}"

    async def silent() -> bool:
        pid = world.workers[0].pid
        return pid != before and (await ask(world, silence.format(pid)) or 0) > 5

    await meanwhile(world, "partition.both.long", silent)


def figures(*names: str) -> list[int]:
    """What these files of the suite's control groups begin with, in either version."""
    groups = [group for group in all_groups() if group.name.startswith("horae-chaos-")]
    words = [read_text(group / name).split() for group in groups for name in names]
    return [int(word[0]) for word in words if word and word[0].isdigit()]


async def test_a_starved_program_gets_hardly_any_processor(world):
    await meanwhile(world, "cpu.starve", lambda: 3000 in figures("cpu.cfs_quota_us", "cpu.max"))
    assert not figures("cpu.cfs_quota_us", "cpu.max")


async def test_memory_becomes_scarce(world):
    def scarce() -> bool:
        return any(limit < 1 << 30 for limit in figures("memory.limit_in_bytes", "memory.max"))

    await meanwhile(world, "memory.squeeze", scarce)
    assert not figures("memory.limit_in_bytes", "memory.max")


async def test_the_place_for_objects_is_killed_and_started_again(world):
    await strike(world, "objects.kill")
    with Client(connection=Connection(world.urls[0], world.admin_key)) as client:
        job = client.submit(JobRequest(task="quick", params={"number": 7, "text": "x" * 100_000}))
        assert await asyncio.to_thread(Job(client, job.id).result, 60) == 7


async def test_a_server_is_killed_at_a_failpoint_once_and_started_again(world):
    (server,) = world.servers
    before = server.pid
    submitting = asyncio.create_task(submit_often(world))
    try:
        await waylay(world, random.Random(1), "submit.after_commit", "kill@1")
        await wait_for(lambda: server.alive and server.pid != before, 60)
    finally:
        submitting.cancel()
    assert not list(world.ambushes["server"].folder.iterdir())


@pytest.mark.parametrize("name", ["reclaim.after_lose", "partition.after_detach", "worker.after_join"])
async def test_a_moment_that_the_load_does_not_bring_about_is_provoked(world, name):
    await waylay(world, random.Random(1), name, "raise@1")


async def test_where_nobody_comes_by_that_is_said_and_nothing_lies_in_wait_any_more(world, monkeypatch):
    monkeypatch.setattr(failpoints, "SECONDS", 0.1)
    with pytest.raises(AssertionError, match=r"somebody to come by callback\.after_commit"):
        await waylay(world, random.Random(1), "callback.after_commit", "kill@1")
    assert not list(world.ambushes["server"].folder.iterdir())


async def submit_often(world: World) -> None:
    connection = Connection(world.urls[0], world.admin_key)
    with Client(connection=connection, timeout=2.0, patience=0.2) as client:
        while True:
            await asyncio.to_thread(_try_to_submit, client)
            await asyncio.sleep(0.1)


def _try_to_submit(client: Client) -> None:
    try:
        client.submit(JobRequest(task="quick", params={"number": 1}))
    except HoraeError:
        return
