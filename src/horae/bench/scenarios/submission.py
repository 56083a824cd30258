"""Submission: how many jobs the server takes in, each durable before its answer.

Single submits come from many connections at once, as from a fleet of web servers, and from one client that waits for
each answer. No worker runs: this is the price of taking a job in.
"""

import asyncio
import threading
import time

from horae.bench.bench import Bench, submit_bulk
from horae.bench.generator import Load, post, repeat_for, send
from horae.bench.installation import Installation
from horae.model.job import JobRequest

WARM_SECONDS = 1.0
JOB = b'{"task":"bench.noop"}'


async def submit_single(bench: Bench) -> None:
    settings = bench.settings
    together: list[Load] = []
    in_turn: list[Load] = []
    async with bench.installation() as place:
        request = post("/v1/jobs", place.key, JOB)
        await send(place.url, repeat_for(request, min(WARM_SECONDS, settings.seconds)), settings.connections)
        for number in range(1, settings.rounds + 1):
            with bench.screen.step(f"round {number}: {settings.connections} connections, {settings.seconds:g} s"):
                together.append(await send(place.url, repeat_for(request, settings.seconds), settings.connections))
            with bench.screen.step(f"round {number}: one client, {settings.seconds:g} s"):
                in_turn.append(await _in_turn(place, settings.seconds))
    _note(bench, "concurrent", together)
    _note(bench, "sequential", in_turn)


def _note(bench: Bench, name: str, loads: list[Load]) -> None:
    bench.notes.figure(f"{name}_rate", [load.rate for load in loads], "jobs/s")
    bench.notes.percentiles(name, [[second * 1000 for second in load.latencies] for load in loads], "ms")
    bench.notes.figure(f"{name}_generator_cpu", [load.busy * 100 for load in loads], "% of a core")


async def _in_turn(place: Installation, seconds: float) -> Load:
    """With the SDK, as users do, in a thread because it blocks."""
    stop = threading.Event()
    try:
        return await asyncio.to_thread(_submit_in_turn, place, seconds, stop)
    finally:
        stop.set()


def _submit_in_turn(place: Installation, seconds: float, stop: threading.Event) -> Load:
    latencies: list[float] = []
    job = JobRequest(task="bench.noop")
    with place.client() as client:
        client.submit(job)
        cpu, began = time.process_time(), time.monotonic()
        now = began
        while now < began + seconds and not stop.is_set():
            client.submit(job)
            now, before = time.monotonic(), now
            latencies.append(now - before)
    return Load(latencies, now - began, time.process_time() - cpu)


async def submit_many(bench: Bench) -> None:
    settings = bench.settings
    loads: list[Load] = []
    wal: list[float] = []
    async with bench.installation() as place:
        lines = [JOB] * settings.jobs
        await submit_bulk(place, lines[: settings.batch * 10], settings.batch, settings.connections)
        for number in range(1, settings.rounds + 1):
            with bench.screen.step(f"round {number}: {settings.jobs:,} jobs in batches of {settings.batch:,}"):
                before = await place.probe.value("wal")
                loads.append(await submit_bulk(place, lines, settings.batch, settings.connections))
                wal.append((await place.probe.value("wal") - before) / settings.jobs)
    bench.notes.figure("rate", [settings.jobs / load.seconds for load in loads], "jobs/s")
    bench.notes.percentiles("batch", [[second * 1000 for second in load.latencies] for load in loads], "ms")
    bench.notes.figure("wal", wal, "B/job")
    bench.notes.figure("generator_cpu", [load.busy * 100 for load in loads], "% of a core")
