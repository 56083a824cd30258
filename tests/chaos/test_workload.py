"""The pace of the load, and what is asked for."""

import asyncio
import random
from collections import Counter

import pytest

from .menu import KEYS, TENANTS, WEIGHTS, Menu
from .workload import BULK, Pace, Workload


async def test_jobs_are_spread_over_the_time_and_go_on_as_a_trickle():
    pace = Pace(total=300, seconds=1)
    began = asyncio.get_running_loop().time()
    while not pace.done:
        await pace.take(30)
    # What is taken at once at the beginning costs no time.
    assert asyncio.get_running_loop().time() - began >= (300 - BULK - 30) / 300
    since = asyncio.get_running_loop().time()
    await pace.take(10)
    assert asyncio.get_running_loop().time() - since > 0


async def test_what_is_taken_all_at_once_does_not_end_the_time_early():
    clock = asyncio.get_running_loop().time
    pace = Pace(total=10, seconds=0.2)
    began = clock()
    await pace.take(30)
    while not pace.done:
        await pace.take(1)
    assert clock() - began >= 0.2


class Answering:
    """A client whose bulk submits are answered so."""

    def __init__(self, *found: str | None) -> None:
        self.found = list(found)

    async def submit(self, _job: object) -> str:
        return "j1"

    async def submit_many(self, _jobs: object) -> list[str | None]:
        return self.found


@pytest.mark.parametrize(("found", "taken"), [(("j2", "j3"), True), (("j2", None), False), ((), False)])
async def test_a_server_takes_jobs_when_it_has_taken_all_of_a_bulk(found, taken):
    workload = Workload([], "", None, random.Random(1))
    assert await workload._taken_by(Answering(*found)) is taken


def test_every_job_has_a_reference_of_its_own_and_every_kind_comes():
    jobs = Menu(random.Random(1)).jobs(20_000)
    assert len({job.params["ref"] for job in jobs}) == len(jobs)
    kinds = Counter("keyed" if job.concurrency_key else job.task for job in jobs)
    assert kinds.keys() == WEIGHTS.keys()
    assert len({job.concurrency_key for job in jobs if job.concurrency_key}) == KEYS
    assert {job.tenant for job in jobs} == set(TENANTS)
    assert {job.tenant for job in jobs if job.concurrency_key} == {TENANTS[0]}
