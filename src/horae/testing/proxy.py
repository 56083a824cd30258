"""A TCP proxy that loses things: answers, connections, or all of it.

It stands on one link of an installation: between a client or worker and a server, or between a server and PostgreSQL or
the place for objects. A *mishap* befalls one answer: it is lost after the request was carried out, or the request is
carried out a second time. All else is the state of the link and holds until `heal`. Proxies share the thread of a
switchboard, so that they go on while a test waits.
"""

import asyncio
import math
import random
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

T = TypeVar("T")
CHUNK: Final = 1 << 16
DRIP_SECONDS: Final = 0.01
REPLAY_SECONDS: Final = 5.0
Opener = Callable[[], Coroutine[Any, Any, tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


@dataclass
class Mishap:
    """Befalls the next answer to a request that contains some bytes."""

    request: bytes
    answer: bytes = b""
    """What the answer must contain."""
    replay: bool = False
    """The request arrives twice, instead of its answer being lost together with the connection."""
    struck: threading.Event = field(default_factory=threading.Event)
    befell: bytes = b""
    """The request, once it has struck."""

    def strikes(self, request: bytes, answer: bytes) -> bool:
        return not self.struck.is_set() and self.request in request and self.answer in answer


class Proxy:
    """Its methods may be called from any thread."""

    def __init__(self, target: Opener, loop: asyncio.AbstractEventLoop) -> None:
        self.target = target
        self._loop = loop
        self._gates = Gates()
        self._links: dict[asyncio.Task[None], Gates] = {}
        self._server: asyncio.Server | None = None
        self.mishap: Mishap | None = None
        self.latency = 0.0
        self.jitter = 0.0
        """Up to so much is added to the latency of each piece, by chance."""
        self.drip = 0
        """How many bytes pass at a time, a hundred times a second; 0: all that come."""
        self.host, self.port = "127.0.0.1", 0
        self.carried_at = -math.inf
        """When something last came along, by the clock that nobody sets."""

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    @property
    def links(self) -> int:
        """How many connections are open."""
        return len(self._links)

    def lose_answer(self, request: bytes, answer: bytes = b"") -> Mishap:
        self.mishap = Mishap(request, answer)
        return self.mishap

    def replay(self, request: bytes) -> Mishap:
        self.mishap = Mishap(request, replay=True)
        return self.mishap

    def black_hole(self) -> None:
        """From now on nothing passes, and nobody is told."""
        self._call(self._gates.shut)

    def mute(self) -> None:
        """Requests pass and are carried out; no answer comes, and nobody is told."""
        self._call(self._gates.answers.clear)

    def heal(self) -> None:
        self.latency = self.jitter = 0.0
        self.drip, self.mishap = 0, None
        self._call(self._gates.open)

    def forsake_all(self) -> None:
        """The open connections carry nothing any more, and nobody is told; new ones do. So a host goes that has a
        successor."""
        self._call(self._forsake_all)

    def _forsake_all(self) -> None:
        self._gates.shut()
        self._gates = Gates()

    def reset_forsaken(self) -> None:
        """Those who wait on connections that were forsaken are told."""
        self._call(lambda: [link.cancel() for link, gates in self._links.items() if gates is not self._gates])

    def reset_all(self) -> None:
        """Every open connection breaks."""
        self._call(lambda: [link.cancel() for link in self._links])

    def _call(self, act: Callable[[], object]) -> None:
        self._loop.call_soon_threadsafe(act)

    async def listen(self, host: str) -> None:
        self.host = host
        self._server = await asyncio.start_server(self._accept, host, 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for link in self._links:
            link.cancel()
        await asyncio.gather(*self._links)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - asyncio starts one for each connection
        self._links[task] = gates = self._gates
        # Cancelled is what the proxy itself does to a connection that is to break.
        with suppress(OSError, asyncio.CancelledError):
            await self._connect(gates, reader, writer)
        del self._links[task]
        reset(writer)

    async def _connect(self, gates: "Gates", reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await gates.requests.wait()
        far_reader, far_writer = await self.target()
        link = Link(self, gates, far_writer.get_extra_info("peername"))
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


class Gates:
    """What may pass on connections that were made while these were the proxy's."""

    def __init__(self) -> None:
        self.requests, self.answers = asyncio.Event(), asyncio.Event()
        self.open()

    def open(self) -> None:
        self.requests.set()
        self.answers.set()

    def shut(self) -> None:
        self.requests.clear()
        self.answers.clear()


class Link:
    """One connection through the proxy. It remembers the request that is being answered."""

    def __init__(self, proxy: Proxy, gates: Gates, peer: object) -> None:
        """`peer`: whom this connection leads to. Another one through the same proxy may lead to somebody else."""
        self._proxy = proxy
        self._gates = gates
        self._peer = peer
        self._request = b""
        self._answering = False

    async def ask(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(CHUNK):
            self._request = data if self._answering else self._request + data
            self._answering = False
            await self._pass_on(self._gates.requests, sink, data)

    async def answer(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(CHUNK):
            self._answering = True
            mishap = self._proxy.mishap
            if mishap is not None and mishap.strikes(self._request, data):
                mishap.befell = self._request
                mishap.struck.set()
                if not mishap.replay:
                    return
                await self._repeat(self._request)
            await self._pass_on(self._gates.answers, sink, data)

    async def _repeat(self, request: bytes) -> None:
        """Somebody on the way sends it again, to whom it went before, and takes the answer."""
        with suppress(OSError, TimeoutError):
            peer = self._peer
            again = asyncio.open_connection(*peer[:2]) if isinstance(peer, tuple) else self._proxy.target()
            reader, writer = await again
            writer.write(request)
            async with asyncio.timeout(REPLAY_SECONDS):
                await reader.read(CHUNK)
            reset(writer)

    async def _pass_on(self, gate: asyncio.Event, sink: asyncio.StreamWriter, data: bytes) -> None:
        self._proxy.carried_at = time.monotonic()
        if self._proxy.latency or self._proxy.jitter:
            await asyncio.sleep(self._proxy.latency + random.uniform(0, self._proxy.jitter))
        while data:
            await gate.wait()
            size = self._proxy.drip or len(data)
            sink.write(data[:size])
            await sink.drain()
            data = data[size:]
            if data:
                await asyncio.sleep(DRIP_SECONDS)


def reset(writer: asyncio.StreamWriter) -> None:
    """Closes so that the other end sees a reset, not an orderly end."""
    with suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    writer.transport.abort()


class Switchboard:
    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._proxies: list[Proxy] = []
        self._thread = threading.Thread(target=self._loop.run_forever, name="switchboard", daemon=True)
        self._thread.start()

    def proxy(self, target: Opener, host: str = "127.0.0.1") -> Proxy:
        """One that listens."""
        proxy = Proxy(target, self._loop)
        self._run(proxy.listen(host))
        self._proxies.append(proxy)
        return proxy

    def remove(self, proxy: Proxy) -> None:
        self._proxies.remove(proxy)
        self._run(proxy.close())

    def close(self) -> None:
        for proxy in list(self._proxies):
            self.remove(proxy)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


@contextmanager
def switchboard() -> Iterator[Switchboard]:
    board = Switchboard()
    try:
        yield board
    finally:
        board.close()


@contextmanager
def proxy_to(target: Opener) -> Iterator[Proxy]:
    with switchboard() as board:
        yield board.proxy(target)


def to_url(url: str) -> Opener:
    host, _, port = url.removeprefix("http://").rpartition(":")
    return lambda: asyncio.open_connection(host, int(port))


def to_socket(path: str) -> Opener:
    return lambda: asyncio.open_unix_connection(path)
