"""The desk where the harness hands in jobs: one process of a peer's own environment, told what to do line by line.

A request is a line of JSON on stdin (`{"do": "bulk", "jobs": 1000}`), the answer a line on stdout. A peer is a module
of this folder, `NAME_peer`, with a class `Peer`; its methods are coroutines, also where its library blocks.
"""

import asyncio
import importlib
import json
import os
import sys
import time
from typing import Any


async def single(peer: Any, seconds: float) -> dict[str, float]:
    """One after another, each accepted before the next."""
    for _ in range(20):
        await peer.submit("noop")
    jobs, began = 0, time.monotonic()
    while time.monotonic() < began + seconds:
        await peer.submit("noop")
        jobs += 1
    return {"jobs": jobs, "seconds": time.monotonic() - began}


async def bulk(peer: Any, jobs: int, task: str = "noop") -> dict[str, float]:
    began = time.monotonic()
    await peer.submit_many(task, range(jobs))
    return {"jobs": jobs, "seconds": time.monotonic() - began}


async def fill(peer: Any, jobs: int, seconds: float) -> dict[str, float]:
    """As many as that, or as many as there is time for: by whatever way is quickest, for nobody times it."""
    began, done = time.monotonic(), 0
    while done < jobs and time.monotonic() < began + seconds:
        part = min(jobs - done, 20_000)
        await peer.fill(part)
        done += part
    return {"jobs": done, "seconds": time.monotonic() - began}


async def stamp(peer: Any, number: int) -> dict[str, float]:
    """When it was handed in, by the clock of the traces."""
    began = time.monotonic_ns()
    await peer.submit("stamp", number)
    return {"began": began, "seconds": (time.monotonic_ns() - began) / 1e9}


async def due(peer: Any, jobs: int, ahead: float) -> dict[str, float]:
    """Jobs for one instant so far ahead; the instant by the clock of the traces."""
    at, due_ns = time.time() + ahead, time.monotonic_ns() + int(ahead * 1e9)
    await peer.submit_due(range(jobs), at)
    return {"due": due_ns, "spare": at - time.time()}


async def remaining(peer: Any) -> dict[str, float]:
    return {"jobs": await peer.remaining()}


ORDERS = {order.__name__: order for order in (single, bulk, fill, stamp, due, remaining)}


async def serve(name: str) -> None:
    peer = importlib.import_module(f"{name}_peer").Peer()
    await peer.open()
    loop = asyncio.get_running_loop()
    answer: dict[str, Any] = {"ready": os.getpid()}
    while True:
        print(json.dumps(answer), flush=True)
        line = await loop.run_in_executor(None, sys.stdin.readline)
        if not line:
            return
        request = json.loads(line)
        answer = await ORDERS[request.pop("do")](peer, **request)


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
