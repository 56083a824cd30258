"""The load generator: as many connections as asked for, each with one request under way at a time.

It speaks only as much HTTP/1.1 as the answers need, because on a small machine every cycle it spends is missing to
the server that it measures. What it spent is reported with the result.
"""

import asyncio
import time
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, cast
from urllib.parse import urlsplit

from horae.model.errors import SetupError

END_OF_HEAD: Final = b"\r\n\r\n"
LENGTH: Final = b"content-length: "


class Load(NamedTuple):
    """What a generator did: how long each answer took, from when to when, and what it cost in processor time."""

    latencies: list[float]
    seconds: float
    cpu: float

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds

    @property
    def busy(self) -> float:
        """The share of one core that the generator used."""
        return self.cpu / self.seconds


def post(path: str, key: str, body: bytes, kind: str = "application/json") -> bytes:
    """One request, ready to be sent any number of times."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: horae\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def get(path: str, cookie: str) -> bytes:
    """A request as a browser sends it that has signed in."""
    return f"GET {path} HTTP/1.1\r\nHost: horae\r\nCookie: {cookie}\r\n\r\n".encode()


def repeat_for(request: bytes, seconds: float) -> Iterator[bytes]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield request


async def send(url: str, requests: Iterable[bytes], connections: int) -> Load:
    """Sends the requests over so many connections and waits for all the answers. An answer of refusal is an error."""
    source = iter(requests)
    latencies: list[float] = []
    address = urlsplit(url)
    host, port = address.hostname or "", address.port or 80
    loop = asyncio.get_running_loop()
    callers: list[Caller] = []
    cpu, began = time.process_time(), time.monotonic()
    try:
        for _ in range(connections):
            _, caller = await loop.create_connection(lambda: Caller(source, latencies), host, port)
            callers.append(caller)
        await asyncio.gather(*(caller.done for caller in callers))
    finally:
        for caller in callers:
            caller.close()
    return Load(latencies, time.monotonic() - began, time.process_time() - cpu)


async def send_at(url: str, plan: Iterable[tuple[float, bytes]], connections: int) -> Load:
    """Sends each request at its instant of the monotonic clock, however long the answers to the others take.

    Late only when all connections wait for answers; latencies count from the instant all the same. The plan must be in
    the order of time; it is asked for the next request when a connection is free for it.
    """
    source, address = iter(plan), urlsplit(url)
    latencies: list[float] = []
    cpu, began = time.process_time(), time.monotonic()

    async def caller() -> None:
        reader, writer = await asyncio.open_connection(address.hostname or "", address.port or 80)
        try:
            for instant, request in source:
                await asyncio.sleep(instant - time.monotonic())
                writer.write(request)
                await read_answer(reader)
                latencies.append(time.monotonic() - instant)
        finally:
            writer.close()

    try:
        async with asyncio.TaskGroup() as callers:
            for _ in range(connections):
                callers.create_task(caller())
    except ExceptionGroup as several:
        raise several.exceptions[0] from several
    return Load(latencies, time.monotonic() - began, time.process_time() - cpu)


async def read_answer(reader: asyncio.StreamReader) -> bytes:
    """Head and body. An answer of refusal is an error."""
    received = b""
    while not is_whole(received):
        part = await reader.read(65536)
        if not part:
            raise SetupError("the server closed the connection of the load generator")
        received += part
    if not received.startswith(b"HTTP/1.1 20"):
        raise SetupError(f"the server refused the load: {received[:500].decode(errors='replace')}")
    return received


class Caller(asyncio.Protocol):
    """One connection. It takes its requests from a source that all of them share, until that has no more."""

    def __init__(self, source: Iterator[bytes], latencies: list[float]) -> None:
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._source = source
        self._latencies = latencies
        self._transport: asyncio.WriteTransport | None = None
        self._received = b""
        self._sent = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not of asyncio's classes.
        self._transport = cast("asyncio.WriteTransport", transport)
        self._next()

    def data_received(self, data: bytes) -> None:
        self._received += data
        if not is_whole(self._received):
            return
        answer, self._received = self._received, b""
        if not answer.startswith(b"HTTP/1.1 20"):
            self._fail(f"the server refused the load: {answer[:500].decode(errors='replace')}")
            return
        self._latencies.append(time.monotonic() - self._sent)
        self._next()

    def connection_lost(self, error: Exception | None) -> None:
        self._fail(f"the server closed the connection of the load generator: {error or 'without a word'}")

    def close(self) -> None:
        self.done.cancel()
        if self._transport is not None:
            self._transport.close()

    def _next(self) -> None:
        request = next(self._source, None)
        if request is None:
            if not self.done.done():
                self.done.set_result(None)
        elif self._transport is not None:
            self._sent = time.monotonic()
            self._transport.write(request)

    def _fail(self, message: str) -> None:
        if not self.done.done():
            self.done.set_exception(SetupError(message))


def is_whole(received: bytes) -> bool:
    head = received.find(END_OF_HEAD)
    if head < 0:
        return False
    start = received.lower().find(LENGTH, 0, head)
    length = int(received[start + len(LENGTH) : received.find(b"\r\n", start)]) if start >= 0 else 0
    return len(received) >= head + len(END_OF_HEAD) + length
