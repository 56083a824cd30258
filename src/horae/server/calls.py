"""One HTTP call, as handlers see it: plain ASGI underneath, because the hot calls count microseconds."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from datetime import datetime
from typing import Any, Protocol, TypeVar
from urllib.parse import parse_qsl
from uuid import UUID

import msgspec

from horae.engine.access import Caller
from horae.engine.engine import Engine
from horae.model.errors import HoraeError, InvalidInput, NotFound, TooLarge, Unauthenticated
from horae.model.job import check_instant
from horae.server.decoding import decode

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
T = TypeVar("T")

JSON = b"application/json"
_encoder = msgspec.json.Encoder()


class Call:
    __slots__ = ("_query", "body", "caller", "engine", "path", "receive", "recognise", "scope", "session")

    def __init__(self, engine: Engine, scope: Scope, receive: Receive, path: dict[str, str]) -> None:
        self.engine = engine
        self.scope = scope
        self.receive = receive
        self.path = path
        self.body = b""
        self.caller: Caller = None  # type: ignore[assignment] # set before any handler that needs one
        self.recognise: Callable[[Call], Awaitable[Caller]] | None = None
        """Looks again who calls, for answers that last. Not bound to this call: with a cycle in it each call, and its
        body, would stay until the collector comes."""
        self.session: str | None = None
        """The token of the session that the caller is signed in with; None for callers that sent a key."""
        self._query: dict[str, str] | None = None

    @property
    def query(self) -> dict[str, str]:
        if self._query is None:
            self._query = dict(parse_qsl(self.scope["query_string"].decode("latin-1"), keep_blank_values=True))
        return self._query

    def query_all(self, name: str) -> list[str]:
        """Every value of a parameter that may be repeated."""
        pairs = parse_qsl(self.scope["query_string"].decode("latin-1"), keep_blank_values=True)
        return [value for key, value in pairs if key == name]

    def header(self, name: bytes) -> str | None:
        for key, value in self.scope["headers"]:
            if key == name:
                return str(value, "latin-1")
        return None

    def read(self, decoder: "msgspec.json.Decoder[T]") -> T:
        return decode(self.body, decoder)

    def job_id(self, name: str = "job_id") -> UUID:
        try:
            return UUID(self.path[name])
        except ValueError:
            raise NotFound(f"there is no job {self.path[name][:80]!r}: a job id is a UUID") from None

    def number(self, name: str) -> int:
        text = self.path[name]
        if not text.isascii() or not text.isdigit() or len(text) > 9:
            raise NotFound(f"there is nothing with the number {text[:40]!r}")
        return int(text)

    def query_number(self, name: str, default: float, low: float, high: float) -> float:
        text = self.query.get(name)
        if text is None:
            return default
        try:
            value = float(text)
        except ValueError:
            raise InvalidInput(f"{name}: {text[:40]!r} is not a number", field=name) from None
        if not low <= value <= high:
            raise InvalidInput(f"{name}: {text[:40]} is outside {low:g}…{high:g}", field=name)
        return value

    def query_instant(self, name: str) -> datetime | None:
        text = self.query.get(name)
        if text is None:
            return None
        try:
            # An unescaped + in an address reads as a space.
            return check_instant(datetime.fromisoformat(text.replace(" ", "+")), name)
        except ValueError:
            raise InvalidInput(
                f"{name}: {text[:40]!r} is not an instant such as 2026-11-20T10:00:00Z", field=name
            ) from None

    async def read_body(self, limit: int) -> None:
        """Reads the body, at most `limit` bytes of it, whatever its length claims to be."""
        declared = self.header(b"content-length")
        if declared is not None and declared.isascii() and declared.isdigit() and int(declared) > limit:
            raise TooLarge(f"the body is larger than {limit} bytes")
        message = await self.receive()
        body: bytes = message.get("body", b"")
        if message.get("more_body"):
            body = await self._read_rest(body, limit)
        if len(body) > limit:
            raise TooLarge(f"the body is larger than {limit} bytes")
        self.body = body

    async def _read_rest(self, first: bytes, limit: int) -> bytes:
        parts, size = [first], len(first)
        while True:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise InvalidInput("the connection ended before the body did")
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > limit:
                raise TooLarge(f"the body is larger than {limit} bytes")
            if not message.get("more_body"):
                return b"".join(parts)

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes, for routes that are `streamed`."""
        more = True
        while more:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise InvalidInput("the connection ended before the body did")
            more = bool(message.get("more_body"))
            if body := message.get("body", b""):
                yield body

    async def disconnected(self) -> None:
        """Returns when the client has gone away."""
        while (await self.receive())["type"] != "http.disconnect":
            pass


class Answer(Protocol):
    """What a handler gives back: it knows how to send itself."""

    async def send(self, send: Send) -> None: ...


class Reply:
    __slots__ = ("body", "content_type", "headers", "status")

    def __init__(
        self,
        body: object = None,
        status: int = 200,
        *,
        content_type: bytes = JSON,
        headers: "list[tuple[bytes, bytes]] | None" = None,
    ) -> None:
        self.status = status
        self.content_type = content_type
        self.headers = headers
        self.body = b"" if body is None else body if isinstance(body, bytes) else _encoder.encode(body)

    async def send(self, send: Send) -> None:
        headers = [(b"content-type", self.content_type), (b"content-length", b"%d" % len(self.body))]
        if self.headers:
            headers += self.headers
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


class EventStream:
    """Server-sent events. Ends when the source does, or when the client goes away or may not listen any more; a comment
    now and then keeps it open.
    """

    KEEP_ALIVE_SECONDS = 15.0
    RECOGNISE_SECONDS = 10.0

    def __init__(self, call: Call, events: AsyncIterator[bytes | None]) -> None:
        self._call = call
        self._events = events

    async def send(self, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        gone = asyncio.ensure_future(self._call.disconnected())
        pump = asyncio.ensure_future(self._pump(send))
        locked_out = asyncio.ensure_future(self._locked_out())
        try:
            done, _ = await asyncio.wait({gone, pump, locked_out}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (gone, pump, locked_out):
                task.cancel()
            await asyncio.gather(gone, pump, locked_out, return_exceptions=True)
        if locked_out in done:
            await send({"type": "http.response.body", "body": b""})

    async def _locked_out(self) -> None:
        """Returns when the caller's key or session is no longer good: a stream must not outlive it."""
        recognise = self._call.recognise
        while True:
            await asyncio.sleep(self.RECOGNISE_SECONDS)
            try:
                if recognise is not None:
                    await recognise(self._call)
            except Unauthenticated:
                return
            except HoraeError:
                continue  # Nobody can tell now: the database is away, say.

    async def _pump(self, send: Send) -> None:
        async for event in self._events:
            body = b": still here\n\n" if event is None else event
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def event(name: str, data: object, event_id: str | None = None) -> bytes:
    """One server-sent event; its data is JSON, which has no line breaks."""
    head = b"" if event_id is None else b"id: " + event_id.encode() + b"\n"
    return head + b"event: " + name.encode() + b"\ndata: " + _encoder.encode(data) + b"\n\n"
