"""The test's PostgreSQL, which listens on a socket file only, as any other host's: through a port of this machine."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import parse_qs, urlsplit

COMMITTED = b"C\x00\x00\x00\x0bCOMMIT\x00"


class Doorway:
    """What passes between a client and the database. It can be shut once a commit is through and not yet answered."""

    def __init__(self, socket_file: str) -> None:
        self._socket_file = socket_file
        self.shut_after_commit = False
        self.committed = asyncio.Event()
        self.opened = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_unix_connection(self._socket_file)
        await asyncio.gather(self._pass_on(reader, far_writer), self._pass_on(far_reader, writer))

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                if self.shut_after_commit and COMMITTED in data:
                    self.committed.set()
                    await self.opened.wait()
                writer.write(data)
                await writer.drain()
        writer.close()


@asynccontextmanager
async def doorway(dsn: str, user: str | None = None) -> AsyncIterator[str]:
    """An address with a host and a port that leads to the database of `dsn`."""
    async with door(dsn, user) as (address, _):
        yield address


@asynccontextmanager
async def door(dsn: str, user: str | None = None) -> AsyncIterator[tuple[str, Doorway]]:
    parts = urlsplit(dsn)
    query = parse_qs(parts.query)
    made = Doorway(f"{query['host'][0]}/.s.PGSQL.{query['port'][0]}")
    async with await asyncio.start_server(made.serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        yield f"postgresql://{user or parts.username}:x@127.0.0.1:{port}{parts.path}?sslmode=disable", made
        made.opened.set()
