"""uvicorn's HTTP protocol, with the head and the body of an answer in one write.

uvicorn writes the head as soon as it has it and the body after it: two system calls and two packets for every answer.
The first of the two is held back until the second follows, or until the event loop comes round, whichever is sooner.
Measured: a quarter of the server's time with single submits was spent in these writes.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from horae.server.calls import Receive


class Corked:
    """A transport that joins two writes that follow each other at once."""

    __slots__ = ("_held", "_loop", "_transport", "get_extra_info", "is_closing")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held = b""
        self.get_extra_info = transport.get_extra_info
        self.is_closing = transport.is_closing

    def write(self, data: bytes) -> None:
        if self._held:
            data, self._held = self._held + data, b""
            self._transport.write(data)
        elif data:
            self._held = data
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        if self._held:
            data, self._held = self._held, b""
            self._transport.write(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Protocol(HttpToolsProtocol):
    def connection_made(self, transport: Any) -> None:
        super().connection_made(Corked(transport, asyncio.get_running_loop()))  # type: ignore[arg-type]


async def drop(receive: Receive) -> None:
    """Ends the connection of a request without an answer, as a broken cable would. Only failpoints ask for it."""
    cycle: Any = receive.__self__  # type: ignore[attr-defined] # uvicorn's, whose method `receive` is
    cycle.transport.abort()
    while (await receive())["type"] != "http.disconnect":
        pass
