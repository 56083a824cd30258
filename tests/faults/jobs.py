"""Jobs that leave a trace of when they ran, outside of Horae: what they say here is the truth about executions.

Each line is `job attempt what pid instant`; the instant is of the clock that all processes of a host share. Lines go
into the file named by EFFECTS in one write each, so none tears another apart. Runs in the workers' children.
"""

import asyncio
import os
import signal
import time
from pathlib import Path

from horae.client.app import App
from horae.client.context import Context

app = App("faults")
coroutines = App("coroutines")
BEAT = 0.1


def record(ctx: Context, what: str) -> None:
    line = f"{ctx.job_id} {ctx.attempt} {what} {os.getpid()} {time.monotonic()}\n"
    fd = os.open(os.environ["EFFECTS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(fd, line.encode())
    finally:
        os.close(fd)


def told_to_end() -> bool:
    return Path(os.environ["EFFECTS"] + ".end").exists()


@app.task
def quick(ctx: Context, number: int, text: str = "") -> int:
    record(ctx, "start")
    record(ctx, "end")
    return number


@app.task(max_attempts=1)
def quick_with_one_attempt(ctx: Context, number: int) -> int:
    record(ctx, "start")
    record(ctx, "end")
    return number


@app.task
def in_days(ctx: Context, hours: int) -> str:
    """Its result has a word that is not in its parameters."""
    record(ctx, "start")
    record(ctx, "end")
    return f"{hours // 24} days"


@app.task
def short(ctx: Context, seconds: float) -> int:
    record(ctx, "start")
    time.sleep(seconds)
    record(ctx, "end")
    return ctx.attempt


@app.task
def hold(ctx: Context) -> int:
    """Runs until all are told to end."""
    record(ctx, "start")
    while not told_to_end():
        record(ctx, "beat")
        time.sleep(BEAT)
    record(ctx, "end")
    return ctx.attempt


@app.task
def poison(ctx: Context) -> None:
    """Takes its worker down."""
    record(ctx, "start")
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(600)


@coroutines.task
async def hold_async(ctx: Context) -> int:
    record(ctx, "start")
    while not told_to_end():
        record(ctx, "beat")
        await asyncio.sleep(2 * BEAT)
    record(ctx, "end")
    return ctx.attempt
