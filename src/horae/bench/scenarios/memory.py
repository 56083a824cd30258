"""Memory: what a server holds when very many jobs are pending. It should not depend on them.

The jobs come over HTTP, half of them ready and half due tomorrow. Measured is the server that took them in, once it is
quiet, and one that was started afterwards and found them there.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from horae.bench.bench import Bench, submit_bulk
from horae.bench.figures import Chart
from horae.bench.installation import Installation
from horae.bench.usage import MB, memory, own_usage
from horae.model.errors import SetupError

QUIET_SECONDS = 3.0
LOOK_SECONDS = 0.2
READY, LATER = b'{"task":"bench.noop"}', b'{"task":"bench.noop","delay":86400}'


async def pending_memory(bench: Bench) -> None:
    pending = bench.settings.pending
    async with bench.installation() as place:
        bench.notes.figure("server_memory_empty", [_held(place)], "MB")
        with bench.screen.step(f"submitting {pending:,} jobs"):
            async with _watching(place) as curve:
                await submit_bulk(place, [READY, LATER] * (pending // 2), bench.settings.batch)
        bench.notes.charts.append(Chart("memory during submission", "seconds", "MB", {"server": curve}))
        await asyncio.sleep(min(QUIET_SECONDS, bench.settings.seconds))
        bench.notes.figure("server_memory", [_held(place)], "MB")
        bench.notes.figure("server_memory_peak", [own_usage(_server(place)).peak / MB], "MB")
        await place.stop_server()
        with bench.screen.step("another server finds the jobs"):
            await place.start_server()
            await asyncio.sleep(min(QUIET_SECONDS, bench.settings.seconds))
        bench.notes.figure("server_memory_restarted", [_held(place)], "MB")


@asynccontextmanager
async def _watching(place: Installation) -> AsyncIterator[list[tuple[float, float]]]:
    """A curve of what the server holds, which grows as long as this lasts."""
    curve: list[tuple[float, float]] = []
    began = time.monotonic()

    async def look() -> None:
        while True:
            curve.append((time.monotonic() - began, _held(place)))
            await asyncio.sleep(LOOK_SECONDS)

    watching = asyncio.create_task(look())
    try:
        yield curve
    finally:
        watching.cancel()


def _held(place: Installation) -> float:
    return memory(_server(place)) / MB


def _server(place: Installation) -> int:
    if place.server is None:
        raise SetupError("there is no server to measure")
    return place.server.pid
