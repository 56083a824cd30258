"""The tasks that the measurements run. What they return is when they ran: nothing is written on the side."""

import asyncio
import os
import time
from pathlib import Path

from horae.client.app import App
from horae.client.context import Context

app = App("bench")


@app.task(name="bench.noop")
def noop() -> None:
    """Does nothing: what remains is the cost of the scheduler."""


@app.task(name="bench.monotonic")
def monotonic() -> int:
    """The instant at which the body runs, by the clock that all processes of a host share."""
    return time.monotonic_ns()


@app.task(name="bench.wall")
def wall() -> int:
    """The same by the wall clock, which due times are given in."""
    return time.time_ns()


@app.task(name="bench.tick", max_attempts=20)
async def tick(folder: str, ctx: Context, every: float = 0.1) -> None:
    """Runs until the folder has a file `end`, and leaves a trace of when it lived: the first and the last instant."""
    trace, end = Path(folder) / f"{ctx.job_id}.{ctx.attempt}", Path(folder) / "end"
    first = time.monotonic_ns()
    with trace.open("wb", buffering=0) as file:
        while not end.exists():
            os.pwrite(file.fileno(), b"%d %d" % (first, time.monotonic_ns()), 0)
            await asyncio.sleep(every)
