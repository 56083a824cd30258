"""The tasks of the soak: what jobs do in real life, well and badly."""

import asyncio
import os
import signal
import time

from horae.client.app import App
from horae.client.context import Context

app = App("soak")


@app.task(name="soak.noop")
def noop() -> None:
    """Does nothing."""


@app.task(name="soak.started")
def started() -> int:
    """The instant at which the body runs, by the clock that all processes of a host share."""
    return time.monotonic_ns()


@app.task(name="soak.work")
def work(seconds: float) -> None:
    time.sleep(seconds)


@app.task(name="soak.flaky", max_attempts=4)
def flaky(ctx: Context) -> int:
    """Succeeds at the third attempt."""
    if ctx.attempt < 3:
        raise ConnectionError(f"attempt {ctx.attempt} found nobody at home")
    return ctx.attempt


@app.task(name="soak.broken", max_attempts=2)
def broken(number: int) -> None:
    """Fails for good, in one of several ways."""
    reasons = (ValueError, KeyError, RuntimeError, OSError)
    raise reasons[number % len(reasons)](f"no such thing as {number}")


@app.task(name="soak.crash", max_attempts=1)
def crash() -> None:
    """Takes its process with it."""
    os.kill(os.getpid(), signal.SIGKILL)


@app.task(name="soak.large")
def large(size: int) -> str:
    """A result for object storage, which packs badly."""
    return os.urandom(size // 2).hex()


@app.task(name="soak.steps")
def steps(ctx: Context) -> int:
    """Progress, a checkpoint, pieces of a result."""
    for number in range(3):
        ctx.progress(number, 3)
        ctx.partial({"piece": number})
    ctx.checkpoint({"done": 3})
    return ctx.attempt


@app.task(name="soak.talk")
def talk(lines: int) -> None:
    for number in range(lines):
        print(f"line {number} of {lines}, and what one says besides")  # noqa: T201 it is what is tried


@app.task(name="soak.wait")
async def wait(seconds: float) -> None:
    """Long, and patient: it is there to be cancelled."""
    await asyncio.sleep(seconds)
