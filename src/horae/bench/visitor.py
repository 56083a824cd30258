"""Someone who is signed in to the console and opens its pages, as far as the server can tell."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

import msgspec

from horae.bench.generator import END_OF_HEAD, get, post, read_answer
from horae.bench.installation import Installation
from horae.bench.pages import LIST_ROWS, Page
from horae.model.errors import SetupError

AT_ONCE: Final = 6
"""Connections to one host that browsers open."""
LIST: Final = f"/v1/jobs?limit={LIST_ROWS}"
ROUNDS: Final = 4
PATIENCE: Final = 0.1
"""How often the list of jobs asks on while it is not full, and for how many seconds."""


class Visitor:
    """Someone signed in, whose browser has so many connections."""

    def __init__(self, cookie: str, connections: "Sequence[tuple[asyncio.StreamReader, asyncio.StreamWriter]]") -> None:
        self._cookie = cookie
        self._free = list(connections)
        self._room = asyncio.Semaphore(len(connections))

    async def open(self, page: Page) -> float:
        """Milliseconds until all that the page asks is answered."""
        began = time.monotonic()
        await asyncio.gather(*(self._ask(path) for path in page.calls))
        return (time.monotonic() - began) * 1e3

    async def _ask(self, path: str) -> None:
        rest, began = LIST_ROWS, time.monotonic()
        for _ in range(ROUNDS):
            page = await self._answer(path)
            if not path.startswith(LIST):
                return
            found = msgspec.json.decode(page, type=JobList)
            rest -= len(found.items)
            if found.next_cursor is None or rest <= 0 or time.monotonic() - began >= PATIENCE:
                return
            path = f"{path.partition('&cursor=')[0]}&cursor={found.next_cursor}"

    async def _answer(self, path: str) -> bytes:
        async with self._room:
            reader, writer = connection = self._free.pop()
            try:
                writer.write(get(path, self._cookie))
                return (await read_answer(reader)).partition(END_OF_HEAD)[2]
            except SetupError as error:
                raise SetupError(f"{path}: {error}") from error
            finally:
                self._free.append(connection)


class JobList(msgspec.Struct):
    items: list[msgspec.Raw]
    next_cursor: str | None = None


@asynccontextmanager
async def visitor(place: Installation) -> AsyncIterator[Visitor]:
    address = urlsplit(place.url)
    host, port = address.hostname or "", address.port or 80
    connections = [await asyncio.open_connection(host, port) for _ in range(AT_ONCE)]
    reader, writer = connections[0]
    try:
        writer.write(_sign_in(place.key))
        cookie = re.search(rb"set-cookie: (horae_session=[^;]+)", await read_answer(reader), re.IGNORECASE)
        if cookie is None:
            raise SetupError("the server gave no session to the visitor of the console")
        yield Visitor(cookie[1].decode(), connections)
    finally:
        for _, writer in connections:
            writer.close()


def _sign_in(key: str) -> bytes:
    body = msgspec.json.encode({"key": key})
    return post("/v1/session", key, body).replace(b"\r\nHost", b"\r\nHorae-Console: 1\r\nHost", 1)
