"""How the long-running programs run and stop: the first Ctrl-C or SIGTERM asks, the second hurries."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import Any, Final, TypeVar

T = TypeVar("T")

HELPERS: Final = min(32, (os.cpu_count() or 1) + 4)
"""Threads for what would hold up the loop: as many as Python would come to start."""


class Orders:
    """Set by signals: `stop` by the first, `hurry` by any later one."""

    def __init__(self) -> None:
        self.stop = asyncio.Event()
        self.hurry = asyncio.Event()

    def take(self) -> None:
        (self.hurry if self.stop.is_set() else self.stop).set()


@contextmanager
def listening() -> Iterator[Orders]:
    orders = Orders()
    with on_signal(orders.take):
        yield orders


@contextmanager
def on_signal(act: Callable[[], None]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sign, act)
    try:
        yield
    finally:
        for sign in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(sign)


def run(program: Coroutine[Any, Any, T]) -> T:
    if sys.platform == "win32":
        return asyncio.run(program)
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.get_loop().set_default_executor(helpers())
        return runner.run(program)


def helpers(number: int = HELPERS) -> ThreadPoolExecutor:
    """All started at once. Left alone, one more starts whenever all are busy: for hours, as a leak would show.

    Where the system gives fewer threads, as many as it gives: those that stood waiting for the others would do so when
    the program ends, too.
    """
    pool, together = ThreadPoolExecutor(number, "helper"), Barrier(number)
    for started in range(number):
        try:
            pool.submit(together.wait)
        except RuntimeError:
            together.abort()
            pool.shutdown()
            if not started:
                raise
            return helpers(started)
    return pool


async def unless(work: Awaitable[Any], event: asyncio.Event, seconds: float | None = None) -> bool:
    """Does the work, but gives up when the event is set or the time is up. True when the work was done."""
    doing = asyncio.ensure_future(work)
    watching = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({doing, watching}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            await doing
        return doing.done()
    finally:
        doing.cancel()
        watching.cancel()
        await asyncio.gather(doing, watching, return_exceptions=True)
