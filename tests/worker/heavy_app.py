"""Tasks for heavy jobs and for moving: they write down when they run. Runs in the worker's children."""

import asyncio
import os
import time
from pathlib import Path

from horae.client.app import App
from horae.client.context import Context
from horae.client.outcomes import Cancelled

app = App()


def _note(path: str, line: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, f"{line}\n".encode())
    os.close(fd)


@app.task()
def stay(path: str, name: str, seconds: float = 0.0, gate: str | None = None) -> None:
    _note(path, f"+{name}")
    while gate is not None and not Path(gate).exists():
        time.sleep(0.005)
    time.sleep(seconds)
    _note(path, f"-{name}")


@app.task()
async def float_by(path: str, name: str, seconds: float = 0.0, gate: str | None = None) -> None:
    _note(path, f"+{name}")
    while gate is not None and not Path(gate).exists():  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    await asyncio.sleep(seconds)
    _note(path, f"-{name}")


@app.task()
def travel(path: str, ctx: Context) -> int:
    """Goes on from its checkpoint; stays for ever where it first starts."""
    if ctx.saved is not None:
        return int(ctx.saved["page"])
    try:
        Path(path).write_text("started")
        time.sleep(600)
    except Cancelled:
        if ctx.moving:
            ctx.checkpoint({"page": 7})
        raise
    return -1


@app.task()
async def drift(path: str, ctx: Context) -> int:
    if ctx.saved is not None:
        return int(ctx.saved["page"])
    try:
        Path(path).write_text("started")
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        if ctx.moving:
            await ctx.acheckpoint({"page": 8})
        raise
    return -1
