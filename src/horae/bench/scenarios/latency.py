"""Latency: how soon a job runs when nothing else does.

One job at a time, with random pauses so that no period of the system hides or shows by chance. The time of the start
is what the job itself returns: the monotonic clock, which all processes of a host share, at the first line of its body.
"""

import asyncio
import random
import threading
import time

import msgspec

from horae.bench.bench import Bench
from horae.bench.installation import Installation
from horae.bench.progress import Step
from horae.client.client import Client
from horae.model.errors import SetupError
from horae.model.job import JobRequest

LONGEST_PAUSE = 0.06
WARM_JOBS = 20


async def latency(bench: Bench) -> None:
    settings = bench.settings
    starts: list[list[float]] = []
    results: list[list[float]] = []
    async with bench.installation() as place:
        await place.start_worker(settings.slots)
        await place.until_joined()
        for number in range(1, settings.rounds + 1):
            with bench.screen.step(f"round {number}: {settings.jobs:,} single jobs", settings.jobs) as step:
                samples = await _sample(place, settings.jobs, step)
            starts.append([start for start, _ in samples])
            results.append([result for _, result in samples])
    bench.notes.percentiles("start", starts, "ms")
    bench.notes.percentiles("result", results, "ms")


async def _sample(place: Installation, jobs: int, step: Step) -> list[tuple[float, float]]:
    """In a thread, because the SDK's client blocks."""
    stop = threading.Event()
    try:
        return await asyncio.to_thread(_submit_and_wait, place, jobs, step, stop)
    finally:
        stop.set()


def _submit_and_wait(place: Installation, jobs: int, step: Step, stop: threading.Event) -> list[tuple[float, float]]:
    samples: list[tuple[float, float]] = []
    with place.client() as client:
        for _ in range(WARM_JOBS):
            run_one(client)
        while len(samples) < jobs and not stop.wait(random.uniform(0, LONGEST_PAUSE)):
            samples.append(run_one(client))
            step.reach(len(samples))
    return samples


def run_one(client: Client, tenant: str | None = None) -> tuple[float, float]:
    """Milliseconds from just before the submit to the start of the body, and to the result in hand."""
    began = time.monotonic_ns()
    job = client.submit(JobRequest(task="bench.monotonic", tenant=tenant))
    answer = client.result(str(job.id))
    ended = time.monotonic_ns()
    if not isinstance(answer.result, msgspec.Raw):
        raise SetupError(f"the job {job.id} of the measurement is {answer.state.value} without a result")
    return (int(bytes(answer.result)) - began) / 1e6, (ended - began) / 1e6
