"""Wait for something to become true, where the program has no signal to wait on."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def wait_for(
    condition: Callable[[], T | Awaitable[T]], timeout: float = 100, *, interval: float = 0.02, what: str = ""
) -> T:
    """Ask until the answer is true, and return it. An answer that never comes is an error that tells the last one.

    The timeout is generous because it only costs time in tests that fail.
    """
    deadline = time.monotonic() + timeout
    while True:
        answer = condition()
        value: T = await answer if inspect.isawaitable(answer) else answer
        if value:
            return value
        if time.monotonic() > deadline:
            name = what or getattr(condition, "__name__", repr(condition))
            raise AssertionError(f"waited {timeout:g} s for {name}; the last answer was {value!r}")
        await asyncio.sleep(interval)
