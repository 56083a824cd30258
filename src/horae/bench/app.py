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


@app.task(name="bench.waited")
def waited(since: int) -> int:
    """Nanoseconds from an instant of that clock to the start of the body."""
    return time.monotonic_ns() - since


@app.task(name="bench.pause")
def pause(seconds: float) -> tuple[int, int]:
    """Occupies its slot for so long; from when to when."""
    began = time.monotonic_ns()
    time.sleep(seconds)
    return began, time.monotonic_ns()


@app.task(name="bench.hold")
def hold(folder: str, key: str, seconds: float) -> None:
    """Holds a key for so long, and writes that down where nothing of Horae looks: a file of its own process."""
    began = time.monotonic_ns()
    time.sleep(seconds)
    line = b"%s %d %d\n" % (key.encode(), began, time.monotonic_ns())
    file = os.open(Path(folder) / f"{os.getpid()}.held", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(file, line)
    finally:
        os.close(file)


@app.task(name="bench.tick", max_attempts=20)
async def tick(folder: str, ctx: Context, every: float = 0.1) -> None:
    """Runs until the folder has a file `end`, and leaves a trace of when it lived: the first and the last instant."""
    trace, end = Path(folder) / f"{ctx.job_id}.{ctx.attempt}", Path(folder) / "end"
    first = time.monotonic_ns()
    with trace.open("wb", buffering=0) as file:
        while not end.exists():
            os.pwrite(file.fileno(), b"%d %d" % (first, time.monotonic_ns()), 0)
            await asyncio.sleep(every)
