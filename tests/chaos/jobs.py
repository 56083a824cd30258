"""The jobs of the suite: milliseconds long, each leaving a trace outside of Horae (see faults.jobs.record).

`ref` is the client's name for the job. What a job returns names the attempt that made it, so that a result of the wrong
attempt is known for what it is. What goes wrong goes by the attempt's number, so that every job can succeed in the end.
"""

import asyncio
import os
import signal
import time
from typing import Any

from faults.jobs import BEAT, record
from horae.client.app import App
from horae.client.context import Context
from horae.model.retry import RetryPolicy

app = App("chaos")
SOON = RetryPolicy(first=0.05, factor=1, cap=0.05)


def signed(ctx: Context, **more: Any) -> dict[str, Any]:
    return {"job": ctx.job_id, "attempt": ctx.attempt, **more}


def work(ctx: Context, seconds: float = 0.0) -> dict[str, Any]:
    record(ctx, "start")
    if seconds:
        time.sleep(seconds)
    record(ctx, "end")
    return signed(ctx)


@app.task(retry=SOON)
def quick(ctx: Context, ref: str) -> dict[str, Any]:
    return work(ctx)


@app.task(retry=SOON)
def short(ctx: Context, ref: str, seconds: float) -> dict[str, Any]:
    return work(ctx, seconds)


@app.task(retry=SOON)
def limited(ctx: Context, ref: str, seconds: float) -> dict[str, Any]:
    return work(ctx, seconds)


@app.task(retry=SOON, max_attempts=10)
def failing(ctx: Context, ref: str, times: int) -> dict[str, Any]:
    record(ctx, "start")
    if ctx.attempt <= times:
        raise RuntimeError(f"attempt {ctx.attempt} fails as it was asked to")
    record(ctx, "end")
    return signed(ctx)


@app.task(retry=SOON)
def crashing(ctx: Context, ref: str) -> dict[str, Any]:
    """Its process dies under the first attempt."""
    record(ctx, "start")
    if ctx.attempt == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    record(ctx, "end")
    return signed(ctx)


@app.task(retry=SOON)
def large(ctx: Context, ref: str, size: int) -> dict[str, Any]:
    """Its result goes to object storage."""
    record(ctx, "start")
    record(ctx, "end")
    return signed(ctx, text="x" * size)


@app.task(retry=SOON)
async def gentle(ctx: Context, ref: str, seconds: float) -> dict[str, Any]:
    record(ctx, "start")
    await asyncio.sleep(seconds)
    record(ctx, "end")
    return signed(ctx)


@app.task(retry=SOON)
async def lasting(ctx: Context, ref: str, seconds: float) -> dict[str, Any]:
    """Long enough for its lease to end under it; it gives signs of life, so that a second run beside it is seen."""
    record(ctx, "start")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        record(ctx, "beat")
        await asyncio.sleep(BEAT)
    record(ctx, "end")
    return signed(ctx)


@app.task(retry=SOON)
def ticking(ctx: Context, tick: str) -> dict[str, Any]:
    return work(ctx)
