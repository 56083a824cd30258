"""Waits between tries that grow, with jitter, so that a fleet does not come back all at once."""

import asyncio
import random


class Backoff:
    def __init__(self, first: float = 0.1, most: float = 5.0) -> None:
        self._first = self._next = first
        self._most = most

    async def wait(self) -> None:
        await asyncio.sleep(self._next * random.uniform(0.5, 1.0))
        self._next = min(self._most, self._next * 2)

    def reset(self) -> None:
        self._next = self._first
