"""The async transport, over aiohttp, which is imported on first use: `import horae` stays quick.

A session belongs to one event loop. Programs that call `asyncio.run` several times, or run loops in threads, get one
session for each. It lives inside an async generator: `asyncio.run` closes those when it ends, and so the session, also
for users who never call `close`.
"""

import asyncio
import os
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from horae.client.calls import Call
from horae.client.discovery import Connection
from horae.client.transport import Answer, Broken, header_text, server_address

if TYPE_CHECKING:
    import aiohttp

CONNECT_TIMEOUT: Final = 5.0
UNWRITTEN: Final = "Can not write request body"
"""How aiohttp words it; a test watches that it still does."""


class SessionTransport:
    def __init__(self, connection: Connection) -> None:
        self._url = server_address(connection.url).geturl().rstrip("/")
        self._headers = {"User-Agent": "horae-python"}
        if connection.key is not None:
            self._headers["Authorization"] = f"Bearer {header_text(connection.key)}"
        self._keepers: dict[asyncio.AbstractEventLoop, Keeper] = {}
        self._pid = os.getpid()

    async def send(self, call: Call[Any], timeout: float) -> Answer:
        import aiohttp

        session = await self._session()
        limits = aiohttp.ClientTimeout(total=timeout, sock_connect=CONNECT_TIMEOUT)
        try:
            async with self._request(session, call, limits) as response:
                return Answer(response.status, await response.read(), response.headers.get("Retry-After"))
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _broken(error) from error

    async def stream(self, call: Call[Any], timeout: float) -> AsyncGenerator[Answer | bytes, None]:
        import aiohttp

        session = await self._session()
        limits = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT, sock_read=timeout)
        try:
            async with self._request(session, call, limits) as response:
                body = await response.read() if response.status >= 300 else b""
                yield Answer(response.status, body, response.headers.get("Retry-After"))
                async for piece in response.content.iter_any():
                    yield piece
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _broken(error) from error

    async def close(self) -> None:
        for keeper in self._keepers.values():
            await keeper.closing.aclose()
        self._keepers.clear()

    def _request(self, session: "aiohttp.ClientSession", call: Call[Any], limits: "aiohttp.ClientTimeout") -> Any:
        from yarl import URL

        headers = self._headers | {name: header_text(value) for name, value in call.headers.items()}
        url = URL(self._url + call.target, encoded=True)
        return session.request(call.method, url, data=call.body, headers=headers, timeout=limits, allow_redirects=False)

    async def _session(self) -> "aiohttp.ClientSession":
        # One turn of the loop, so that it notices connections the server closed while it was busy elsewhere.
        await asyncio.sleep(0)
        if self._pid != os.getpid():
            self._pid = os.getpid()
            self._keepers.clear()
        loop = asyncio.get_running_loop()
        if loop not in self._keepers:
            self._keepers = {other: keeper for other, keeper in self._keepers.items() if not other.is_closed()}
            await self._open(loop)
        return self._keepers[loop].session

    async def _open(self, loop: asyncio.AbstractEventLoop) -> None:
        import aiohttp

        session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar())
        # In place before anything is awaited, so that calls made at once share it.
        self._keepers[loop] = keeper = Keeper(session, _closing(session))
        await anext(keeper.closing)


class Keeper(NamedTuple):
    session: "aiohttp.ClientSession"
    closing: AsyncGenerator[None, None]


async def _closing(session: "aiohttp.ClientSession") -> AsyncGenerator[None, None]:
    async with session:
        yield


def _broken(error: Exception) -> Broken:
    import aiohttp

    unsent = isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)
    # The server had closed an idle connection, and the transport refused the body: no whole request was ever there.
    unsent |= isinstance(error, aiohttp.ClientOSError) and UNWRITTEN in str(error)
    return Broken(str(error) or type(error).__name__, sent=not unsent)
