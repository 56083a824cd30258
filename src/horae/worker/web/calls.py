"""Making a call: one request, its redirects, and the answer within its bounds.

Every connection is new: it was judged when it was made, and nothing of one job, no cookie, no connection, is there for
the next. Proxies of the environment are not used: they would connect to what nobody here has judged.
"""

import zlib
from collections.abc import Callable, Sequence
from typing import Final

import aiohttp
import msgspec
from multidict import CIMultiDictProxy

from horae.model.addresses import Network
from horae.model.errors import InvalidInput, TooLarge
from horae.worker.web.redirects import STATUSES, redirected
from horae.worker.web.request import Request
from horae.worker.web.resolving import GuardedResolver, LookUp, look_up

CONNECT_SECONDS: Final = 10.0
MAX_BODY_BYTES: Final = 8 * 1024 * 1024
EXCERPT_BYTES: Final = 2048
"""Of an answer that was not expected, so much is read: enough to tell why."""
_PIECE: Final = 64 * 1024
_GZIP: Final = zlib.MAX_WBITS | 16


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    request: Request
    """The last one, after redirects."""
    status: int
    reason: str
    headers: CIMultiDictProxy[str]
    charset: str
    body: bytes


class Calls:
    def __init__(self, allowed: Sequence[Network], looked_up: LookUp = look_up) -> None:
        self._allowed = allowed
        self._looked_up = looked_up
        self._session: aiohttp.ClientSession | None = None

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            resolver = GuardedResolver(self._allowed, self._looked_up)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(resolver=resolver, use_dns_cache=False, force_close=True, limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
                auto_decompress=False,
                trust_env=False,
            )
        return self._session

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def make(self, request: Request, redirects: int, wanted: Callable[[int], bool]) -> Answer:
        """`wanted` says of which statuses the whole body is needed."""
        while True:
            sent = self._opened().request(
                request.method, request.url, headers=request.headers, data=request.body, allow_redirects=False
            )
            async with sent as response:
                location = response.headers.get("Location")
                if response.status in STATUSES and location and redirects:
                    request = redirected(request, response.status, location, self._allowed)
                    redirects -= 1
                    continue
                return await _read(request, response, whole=wanted(response.status))


async def _read(request: Request, response: aiohttp.ClientResponse, *, whole: bool) -> Answer:
    return Answer(
        request=request,
        status=response.status,
        reason=response.reason or "",
        headers=response.headers,
        charset=response.charset or "utf-8",
        body=await _body(response, MAX_BODY_BYTES) if whole else await _excerpt(response),
    )


async def _excerpt(response: aiohttp.ClientResponse) -> bytes:
    try:
        return await _body(response, EXCERPT_BYTES, cut=True)
    except (aiohttp.ClientError, InvalidInput, zlib.error):
        return b""


async def _body(response: aiohttp.ClientResponse, most: int, *, cut: bool = False) -> bytes:
    """At most so many bytes, unpacked; more are refused, or cut off. A bomb is never unpacked further than that."""
    gzip = _is_packed(response.headers.get("Content-Encoding", ""))
    unpacking = zlib.decompressobj(_GZIP)
    body = bytearray()
    async for piece in response.content.iter_chunked(_PIECE):
        room = most - len(body) + 1
        body += unpacking.decompress(piece, room) if gzip else piece[:room]
        if len(body) > most:
            if cut:
                break
            raise TooLarge(f"the answer is larger than {most // 1024 // 1024} MiB, the most that a call may bring")
    if gzip and body and not (unpacking.eof or cut):
        raise zlib.error("the packed answer ends in the middle")
    return bytes(body[:most])


def _is_packed(encoding: str) -> bool:
    match encoding.strip().lower():
        case "" | "identity":
            return False
        case "gzip" | "x-gzip":
            return True
        case other:
            raise InvalidInput(f"the answer is packed as {other[:40]!r}; only gzip was said to be understood")
