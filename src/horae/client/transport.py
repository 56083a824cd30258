"""What carries a call to the server: two small protocols, so that either can be exchanged."""

from collections.abc import AsyncGenerator, Generator
from typing import Any, NamedTuple, Protocol
from urllib.parse import SplitResult, urlsplit

from horae.client.calls import Call
from horae.model.errors import InvalidInput, SetupError


class Answer(NamedTuple):
    status: int
    body: bytes
    retry_after: str | None = None
    """The header of that name."""


class Broken(Exception):
    """No answer came. `sent` says whether the whole request had left, so that the server may have acted on it."""

    def __init__(self, reason: str, *, sent: bool) -> None:
        super().__init__(reason)
        self.sent = sent


class Transport(Protocol):
    def send(self, call: Call[Any], timeout: float) -> Answer: ...

    def stream(self, call: Call[Any], timeout: float) -> Generator[Answer | bytes, None, None]:
        """First the answer (its body only when it is an error), then pieces of the body as they come.

        `timeout` bounds each wait for the next piece. Closing the generator ends the connection.
        """
        ...

    def close(self) -> None: ...


class AsyncTransport(Protocol):
    async def send(self, call: Call[Any], timeout: float) -> Answer: ...

    def stream(self, call: Call[Any], timeout: float) -> AsyncGenerator[Answer | bytes, None]: ...

    async def close(self) -> None: ...


def server_address(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable:
        raise SetupError(f"{url!r} is not a server's address such as http://127.0.0.1:8420")
    return parts


def header_text(value: str) -> str:
    """A header's value, refused where it could end the header early or cannot be written at all."""
    if not value.isascii() or not value.isprintable():
        raise InvalidInput("an API key or idempotency key does not fit in an HTTP header: use printable ASCII")
    return value
