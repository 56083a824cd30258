"""Failover: a worker is killed with all its jobs running; how long until each of them runs elsewhere?

Each attempt leaves a trace of when it lived, so that the measurement also sees what must never happen: two attempts
of one job alive at the same time.
"""

import asyncio
import time
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from horae.bench.bench import Bench, submit_bulk, until_ended
from horae.bench.installation import Installation
from horae.model.errors import SetupError
from horae.model.job import JobRequest

PATIENCE: Final = 120.0


class Life(NamedTuple):
    """When an attempt lived: first and last sign, monotonic nanoseconds."""

    first: int
    last: int


async def failover(bench: Bench) -> None:
    waits: list[list[float]] = []
    overlaps: list[float] = []
    async with bench.installation() as place:
        for number in range(1, bench.settings.rounds + 1):
            killed, lives = await _one_round(bench, place, f"round {number}")
            waits.append([(attempts[-1].first - killed) / 1e9 for attempts in lives.values()])
            overlaps.append(sum(count_overlaps(attempts) for attempts in lives.values()))
    bench.notes.figure("all_elsewhere", [max(seconds) for seconds in waits], "s")
    bench.notes.percentiles("elsewhere", waits, "s")
    bench.notes.figure("overlaps", overlaps, "jobs")


async def _one_round(bench: Bench, place: Installation, name: str) -> tuple[int, dict[str, list[Life]]]:
    jobs = bench.settings.jobs
    folder = place.folder / name.replace(" ", "-")
    folder.mkdir()
    ended = await place.probe.value("outcome_count")
    with bench.screen.step(f"{name}: {jobs} jobs start on a worker that will be killed"):
        doomed = await place.start_worker(1, "doomed")
        line = msgspec.json.encode(JobRequest(task="bench.tick", params={"folder": str(folder)}))
        await submit_bulk(place, [line] * jobs, batch=1000)
        await _until_alive(folder, jobs, 0)
        await place.start_worker(1, "heir")
        await place.until_joined(2)
    with bench.screen.step(f"{name}: the worker is killed; its jobs start elsewhere"):
        place.workers.remove(doomed)
        killed = time.monotonic_ns()
        await doomed.kill()
        await _until_alive(folder, jobs, killed)
    with bench.screen.step(f"{name}: the jobs end") as step:
        (folder / "end").touch()
        await until_ended(place, ended + jobs, step)
        await place.stop_workers()
    return killed, read_lives(folder)


async def _until_alive(folder: Path, jobs: int, since: int) -> None:
    """Until so many jobs have an attempt that began after that instant."""
    deadline = time.monotonic() + PATIENCE
    while sum(attempts[-1].first > since for attempts in read_lives(folder).values()) < jobs:
        if time.monotonic() > deadline:
            raise SetupError(f"after {PATIENCE:g} s not all of the {jobs} jobs run; the server or the worker is stuck")
        await asyncio.sleep(0.1)


def read_lives(folder: Path) -> dict[str, list[Life]]:
    """The attempts of each job, by their number. A trace that has no content yet will have some at the next look."""
    found: dict[str, dict[int, Life]] = defaultdict(dict)
    for trace in folder.glob("*.*"):
        job, _, attempt = trace.name.rpartition(".")
        signs = trace.read_text().split()
        if len(signs) == 2:
            found[job][int(attempt)] = Life(int(signs[0]), int(signs[1]))
    return {job: [attempts[number] for number in sorted(attempts)] for job, attempts in found.items()}


def count_overlaps(attempts: list[Life]) -> int:
    return sum(earlier.last >= later.first for earlier, later in pairwise(attempts))
