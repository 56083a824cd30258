"""Programs that ended by themselves are started again, as by the supervisor of any host."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

from horae.model.errors import SetupError

from .part import Part

LOOK_SECONDS: Final = 0.2


@asynccontextmanager
async def supervised(parts: Sequence[Part]) -> AsyncIterator[None]:
    over = asyncio.Event()
    watches = [asyncio.create_task(watch(part, over)) for part in parts]
    try:
        yield
    finally:
        over.set()
        await asyncio.gather(*watches)


async def watch(part: Part, over: asyncio.Event) -> None:
    """Whoever holds the part's lock has killed it on purpose, and will start it again."""
    while not over.is_set():
        if not part.alive:
            async with part.lock:
                if not part.alive:
                    part.note_end()
                    with suppress(SetupError):
                        await part.start()
        with suppress(TimeoutError):
            await asyncio.wait_for(over.wait(), LOOK_SECONDS)
