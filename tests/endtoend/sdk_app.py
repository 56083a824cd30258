"""An app as users write it. Imported by the tests, which submit, and by the workers' children, which run."""

import asyncio
import logging
import os
import signal
import time
from datetime import date, timedelta
from pathlib import Path

import msgspec

from horae import App, Context, Fatal, Retry

app = App("sdk")


class Order(msgspec.Struct):
    item: str
    due: date
    count: int = 1


@app.task
def ship(order: Order, after: timedelta) -> Order:
    return Order(order.item, order.due + after, order.count + 1)


@app.task(max_attempts=1)
def fail(text: str) -> None:
    raise ValueError(text)


@app.task
def refuse(text: str) -> None:
    raise Fatal(text)


@app.task
def succeed_at(attempt: int, ctx: Context) -> int:
    if ctx.attempt < attempt:
        raise Retry("not yet", after="0s")
    return ctx.attempt


@app.task
def talk(ctx: Context, lines: int) -> str:
    for number in range(lines):
        print("line", number, flush=True)
    ctx.log.info("done talking")
    logging.getLogger("another").warning("take care")
    return "talked"


@app.task
def wait_for(path: str, ctx: Context) -> str:
    """Tells how far it is while it waits for a file."""
    ctx.progress(1, 2, "waiting")
    while not Path(path).exists():
        time.sleep(0.02)
    return "waited"


@app.task
def resume(ctx: Context) -> list[int]:
    """Is killed half-way, and goes on from there in the next attempt."""
    done = ctx.load_checkpoint(list[int]) or []
    while len(done) < 10:
        done.append(ctx.attempt)
        ctx.checkpoint(done)
        if len(done) == 5 and ctx.attempt == 1:
            os.kill(os.getpid(), signal.SIGKILL)
    return done


@app.task
async def double(number: int) -> int:
    await asyncio.sleep(0.01)
    return number * 2


@app.task
def triple(number: int) -> int:
    return number * 3


@app.task
def meet(folder: str, workers: int) -> int:
    """Waits until it has run on so many workers, which it tells apart by their processes."""
    worker = os.getppid()
    (Path(folder) / str(worker)).touch()
    while len(list(Path(folder).iterdir())) < workers:
        time.sleep(0.02)
    return worker
