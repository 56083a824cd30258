"""Listeners to the servers' events that are a burden: some read a few bytes a second, some never read at all."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final
from urllib.parse import urlsplit

PATHS: Final = ("/v1/events",)
SIP_BYTES: Final = 8
SIP_SECONDS: Final = 0.2
PAUSE_SECONDS: Final = 0.5
HELD_SECONDS: Final = (3.0, 12.0)


@asynccontextmanager
async def listening(urls: Sequence[str], key: str, number: int, chance: random.Random) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(listen(urls, key, reads=n % 2 == 0, chance=chance)) for n in range(number)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def listen(urls: Sequence[str], key: str, *, reads: bool, chance: random.Random) -> None:
    """Whenever the connection is cut it comes again, to any server."""
    while True:
        with suppress(OSError):
            await _hold(chance.choice(urls), key, reads=reads)
        await asyncio.sleep(PAUSE_SECONDS)


async def _hold(url: str, key: str, *, reads: bool) -> None:
    parts = urlsplit(url)
    # A small buffer, so that the server soon notices that nobody reads.
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=256)
    try:
        request = f"GET {PATHS[0]} HTTP/1.1\r\nHost: {parts.netloc}\r\nAuthorization: Bearer {key}\r\n\r\n"
        writer.write(request.encode())
        await writer.drain()
        if not reads:
            # Who never reads is not told that the connection was cut, so it comes again after a while.
            await asyncio.sleep(random.uniform(*HELD_SECONDS))
            return
        while await reader.read(SIP_BYTES):  # noqa: ASYNC110 - to be slow is what it is for
            await asyncio.sleep(SIP_SECONDS)
    finally:
        writer.close()
