"""Several things at once, until the first one ends; and one thing, whatever ends meanwhile."""

import asyncio
from collections.abc import Coroutine
from typing import Any


async def first_of(*works: Coroutine[Any, Any, Any]) -> None:
    """Runs all until one ends, ends the others, and raises what that one raised."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        ended = [task for task in tasks if task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in ended:
        task.result()


async def either(one: "asyncio.Future[Any]", other: "asyncio.Future[Any]") -> None:
    """Returns when one of them is done. Neither is ended by it."""
    waiting: set[asyncio.Future[Any]] = {one, other}
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)


async def to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Whoever is cancelled meanwhile is so when it is done: for what must not be left half done."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise
