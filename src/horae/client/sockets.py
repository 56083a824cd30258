"""The sync transport: one kept-alive connection for each thread, over http.client.

The request goes out in one piece, which is one packet instead of two; the answer is left to http.client. A
connection belongs to the thread and to the process that opened it. After a fork the child finds the parent's
process id on it and opens its own.
"""

import http.client
import os
import select
import socket
import threading
import weakref
from collections.abc import Generator
from typing import Any, Final

from horae.client.calls import Call
from horae.client.discovery import Connection
from horae.client.transport import Answer, Broken, header_text, server_address

CONNECT_TIMEOUT: Final = 5.0
_PIECE: Final = 64 * 1024


class Line:
    """One connection to the server."""

    def __init__(self, made: http.client.HTTPConnection) -> None:
        self._made = made
        made.connect()
        self.pid = os.getpid()
        self.socket: socket.socket = made.sock

    def is_stale(self) -> bool:
        """Nothing may be readable before we ask: if something is, the other side has closed, or strayed."""
        if self.socket.fileno() < 0:
            return True
        if not hasattr(select, "poll"):
            return bool(select.select([self.socket], [], [], 0)[0])
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        return bool(poll.poll(0))

    def close(self) -> None:
        self._made.close()

    def __del__(self) -> None:
        # A thread that ends takes its line along.
        self._made.close()


class SocketTransport:
    def __init__(self, connection: Connection) -> None:
        parts = server_address(connection.url)
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname or "", parts.port
        self._prefix = parts.path.rstrip("/")
        self._head = f" HTTP/1.1\r\nHost: {parts.netloc.rpartition('@')[2]}\r\nUser-Agent: horae-python\r\n"
        if connection.key is not None:
            self._head += f"Authorization: Bearer {header_text(connection.key)}\r\n"
        self._mine = threading.local()
        self._lines: weakref.WeakSet[Line] = weakref.WeakSet()

    def send(self, call: Call[Any], timeout: float) -> Answer:
        line = self._take()
        response = self._ask(line, call, timeout)
        try:
            body = response.read()
        except (OSError, http.client.HTTPException) as error:
            line.close()
            raise Broken(str(error) or type(error).__name__, sent=True) from error
        if response.will_close:
            line.close()
        else:
            self._mine.line = line
        return Answer(response.status, body, response.headers["retry-after"])

    def stream(self, call: Call[Any], timeout: float) -> Generator[Answer | bytes, None, None]:
        # A stream has a line to itself: calls made while it is read would mix with it.
        line = self._open()
        try:
            response = self._ask(line, call, timeout)
            failed = response.status >= 300
            yield Answer(response.status, response.read() if failed else b"", response.headers["retry-after"])
            while piece := response.read1(_PIECE):
                yield piece
        except (OSError, http.client.HTTPException) as error:
            raise Broken(str(error) or type(error).__name__, sent=True) from error
        finally:
            line.close()

    def close(self) -> None:
        for line in list(self._lines):
            line.close()

    def _take(self) -> Line:
        """This thread's line if it is still good, else a new one. It is put back only after a good answer."""
        line: Line | None = self._mine.__dict__.pop("line", None)
        if line is not None:
            if line.pid == os.getpid() and not line.is_stale():
                return line
            line.close()
        return self._open()

    def _open(self) -> Line:
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        try:
            line = Line(kind(self._host, self._port, timeout=CONNECT_TIMEOUT))
        except OSError as error:
            raise Broken(str(error) or type(error).__name__, sent=False) from error
        self._lines.add(line)
        return line

    def _ask(self, line: Line, call: Call[Any], timeout: float) -> http.client.HTTPResponse:
        request = self._request(call)
        line.socket.settimeout(timeout)
        try:
            line.socket.sendall(request)
        except OSError as error:
            # A request that did not leave whole is never acted on.
            line.close()
            raise Broken(str(error) or type(error).__name__, sent=False) from error
        response = http.client.HTTPResponse(line.socket, method=call.method)
        try:
            response.begin()
        except (OSError, http.client.HTTPException) as error:
            line.close()
            raise Broken(str(error) or type(error).__name__, sent=True) from error
        return response

    def _request(self, call: Call[Any]) -> bytes:
        fields = "".join(f"{name}: {header_text(value)}\r\n" for name, value in call.headers.items())
        body = call.body or b""
        head = f"{call.method} {self._prefix}{call.target}{self._head}{fields}Content-Length: {len(body)}\r\n\r\n"
        return head.encode("latin-1") + body
