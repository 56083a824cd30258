"""Long work on the event loop, in slices: whoever else waits has its turn after each."""

import asyncio
import time
from typing import Final

SLICE_SECONDS: Final = 0.005


class Pace:
    def __init__(self) -> None:
        self._until = time.monotonic() + SLICE_SECONDS

    async def keep(self) -> None:
        """To be called after each small piece of the work."""
        if time.monotonic() >= self._until:
            await asyncio.sleep(0)
            self._until = time.monotonic() + SLICE_SECONDS
