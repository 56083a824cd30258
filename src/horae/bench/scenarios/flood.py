"""Flood: one tenant submits a mass of jobs; how long does the job of another wait behind it?

The flood is being worked off all the time, and filled up before each round, while no worker runs. The other tenant
submits one job at a time, at random pauses.
"""

import asyncio
import random
import threading
import time

from horae.bench.bench import Bench, submit_bulk
from horae.bench.installation import Installation
from horae.bench.scenarios.latency import run_one
from horae.bench.settings import Settings
from horae.model.errors import SetupError

LONGEST_PAUSE = 0.05
FLOODING, OTHER = "bench-1", "bench-2"


async def flood(bench: Bench) -> None:
    settings = bench.settings
    rounds: list[list[float]] = []
    async with bench.installation() as place:
        await place.probe.fetch("tenants_make", 2)
        for number in range(1, settings.rounds + 1):
            with bench.screen.step(f"round {number}: one tenant floods up to {settings.pending:,} jobs"):
                await _fill(place, settings)
            await place.start_worker(settings.slots)
            await place.until_joined()
            with bench.screen.step(f"round {number}: single jobs of another tenant, {settings.seconds:g} s"):
                rounds.append(await _waits(place, settings.seconds))
            await place.stop_workers()
            if not await place.probe.value("unfinished"):
                raise SetupError("the flood has run off before the measurement ended: give more with --pending")
    bench.notes.percentiles("wait", rounds, "ms")


async def _fill(place: Installation, settings: Settings) -> None:
    missing = settings.pending - await place.probe.value("unfinished")
    job = b'{"task":"bench.noop","tenant":"%s"}' % FLOODING.encode()
    await submit_bulk(place, [job] * max(missing, 1), settings.batch)


async def _waits(place: Installation, seconds: float) -> list[float]:
    stop = threading.Event()
    try:
        return await asyncio.to_thread(_submit_in_turn, place, seconds, stop)
    finally:
        stop.set()


def _submit_in_turn(place: Installation, seconds: float, stop: threading.Event) -> list[float]:
    waits: list[float] = []
    end = time.monotonic() + seconds
    with place.client() as client:
        while not waits or (time.monotonic() < end and not stop.wait(random.uniform(0, LONGEST_PAUSE))):
            waits.append(run_one(client, OTHER)[0])
    return waits
