"""A TCP proxy that loses things: answers, connections, or all of it.

It stands between a client or worker and the server, or between the server and PostgreSQL. A *fault* strikes once: a
request that contains some bytes is let through, and the answer to it is taken away. It has a thread of its own, so that
it goes on while a test waits.
"""

import asyncio
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

CHUNK = 1 << 16
Opener = Callable[[], Coroutine[Any, Any, tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


@dataclass
class Fault:
    """The answer is lost, and with it the connection."""

    request: bytes
    answer: bytes = b""
    """What the answer must contain to be lost."""
    struck: threading.Event = field(default_factory=threading.Event)

    def strikes(self, request: bytes, answer: bytes) -> bool:
        return not self.struck.is_set() and self.request in request and self.answer in answer


class Proxy:
    """Its methods may be called from any thread."""

    def __init__(self, target: Opener) -> None:
        self._target = target
        self._loop = asyncio.new_event_loop()
        self._passing = asyncio.Event()
        self._passing.set()
        self._links: set[asyncio.Task[None]] = set()
        self.fault: Fault | None = None
        self.latency = 0.0
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def lose_answer(self, request: bytes, answer: bytes = b"") -> Fault:
        self.fault = Fault(request, answer)
        return self.fault

    def black_hole(self) -> None:
        """From now on nothing passes, and nobody is told."""
        self._loop.call_soon_threadsafe(self._passing.clear)

    def heal(self) -> None:
        self._loop.call_soon_threadsafe(self._passing.set)

    def forsake_all(self) -> None:
        """The open connections carry nothing any more, and nobody is told; new ones do. So a host goes that has a
        successor."""
        self._loop.call_soon_threadsafe(self._forsake_all)

    def _forsake_all(self) -> None:
        self._passing.clear()
        self._passing = asyncio.Event()
        self._passing.set()

    def reset_all(self) -> None:
        """Every open connection breaks."""
        for link in list(self._links):
            self._loop.call_soon_threadsafe(link.cancel)

    def run(self, ready: threading.Event, stop: asyncio.Event) -> None:
        self._loop.run_until_complete(self._serve(ready, stop))
        self._loop.close()

    async def _serve(self, ready: threading.Event, stop: asyncio.Event) -> None:
        async with await asyncio.start_server(self._accept, "127.0.0.1", 0) as server:
            self.port = server.sockets[0].getsockname()[1]
            ready.set()
            await stop.wait()
            self.reset_all()
            await asyncio.gather(*self._links)

    def stop(self, stop: asyncio.Event) -> None:
        self._loop.call_soon_threadsafe(stop.set)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._links.add(task)
        # Cancelled is what the proxy itself does to a connection that is to break.
        with suppress(OSError, asyncio.CancelledError):
            await self._connect(reader, writer)
        self._links.discard(task)
        reset(writer)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._passing.wait()
        far_reader, far_writer = await self._target()
        link = Link(self, self._passing)
        ways = [
            asyncio.ensure_future(link.ask(reader, far_writer)),
            asyncio.ensure_future(link.answer(far_reader, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            reset(far_writer)
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)


class Link:
    """One connection through the proxy. It remembers the request that is being answered."""

    def __init__(self, proxy: Proxy, passing: asyncio.Event) -> None:
        self._proxy = proxy
        self._passing = passing
        self._request = b""
        self._answering = False

    async def ask(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(CHUNK):
            self._request = data if self._answering else self._request + data
            self._answering = False
            await self._pass_on(sink, data)

    async def answer(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(CHUNK):
            self._answering = True
            fault = self._proxy.fault
            if fault is not None and fault.strikes(self._request, data):
                fault.struck.set()
                return
            await self._pass_on(sink, data)

    async def _pass_on(self, sink: asyncio.StreamWriter, data: bytes) -> None:
        await asyncio.sleep(self._proxy.latency)
        await self._passing.wait()
        sink.write(data)
        await sink.drain()


def reset(writer: asyncio.StreamWriter) -> None:
    """Closes so that the other end sees a reset, not an orderly end."""
    with suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    writer.transport.abort()


@contextmanager
def proxy_to(target: Opener) -> Iterator[Proxy]:
    proxy, ready, stop = Proxy(target), threading.Event(), asyncio.Event()
    thread = threading.Thread(target=proxy.run, args=(ready, stop))
    thread.start()
    ready.wait()
    try:
        yield proxy
    finally:
        proxy.stop(stop)
        thread.join()


def to_url(url: str) -> Opener:
    host, _, port = url.removeprefix("http://").rpartition(":")
    return lambda: asyncio.open_connection(host, int(port))


def to_socket(path: str) -> Opener:
    return lambda: asyncio.open_unix_connection(path)
