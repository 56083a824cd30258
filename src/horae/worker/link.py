"""HTTP calls to the server. Whatever goes wrong becomes one of our errors: `Unreachable` when no answer came."""

from collections.abc import AsyncIterator
from typing import Final, TypeVar
from urllib.parse import urlencode

import aiohttp
import msgspec

from horae.model.errors import HoraeError, RepeatedExchange, Unreachable, WorkerGone
from horae.wire.briefs import Brief, BriefRequest
from horae.wire.problems import decode_problem
from horae.wire.workers import Join, Joined
from horae.worker.config import Connection

_CONNECT_SECONDS: Final = 5.0
CALL_SECONDS: Final = 10.0
_SLOWEST: Final = 256 * 1024
"""Bytes a second that a file must go up with."""
T = TypeVar("T")


class Link:
    def __init__(self, connection: Connection) -> None:
        self._base = f"{connection.url.rstrip('/')}/v1/workers"
        self._headers = {"Authorization": f"Bearer {connection.key}", "Content-Type": "application/json"}
        self._encoder = msgspec.json.Encoder()
        self._session = self._open()
        # Heartbeats have connections of their own: nothing large ever goes before them.
        self._heartbeat_session = self._open()
        self._exchange_session = self._open()
        self.worker_id = 0

    def _open(self) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(limit=0)
        return aiohttp.ClientSession(connector=connector, headers=self._headers, auto_decompress=True)

    async def close(self) -> None:
        for session in (self._session, self._heartbeat_session, self._exchange_session):
            await session.close()

    async def renew_exchanges(self) -> None:
        """Breaks off exchanges that are under way, and their connections.

        To be called when a heartbeat got no answer: the server's host may have gone without a word, and the long poll
        would wait for it for half a minute more.
        """
        former, self._exchange_session = self._exchange_session, self._open()
        await former.close()

    async def join(self, join: Join) -> Joined:
        answer = await self._request(self._session, "POST", self._base, self._encoder.encode(join), CALL_SECONDS)
        joined = _decode(answer, Joined)
        self.worker_id = joined.worker_id
        return joined

    async def post(self, call: str, body: msgspec.Struct | None = None, timeout: float = CALL_SECONDS) -> bytes:
        own = {"heartbeat": self._heartbeat_session, "exchange": self._exchange_session}
        session = own.get(call, self._session)
        data = b"" if body is None else self._encoder.encode(body)
        return await self._request(session, "POST", f"{self._base}/{self.worker_id}/{call}", data, timeout)

    async def ask(self, call: str, body: msgspec.Struct, answer: type[T], timeout: float = CALL_SECONDS) -> T:
        return _decode(await self.post(call, body, timeout), answer)

    async def brief(self, job_id: str, lane: int, attempt: int) -> Brief:
        """All that is needed to run a job whose task is data. Refused unless this worker holds the attempt."""
        return await self.ask("briefs", BriefRequest(id=job_id, lane=lane, attempt=attempt), Brief)

    async def put_result(self, job_id: str, attempt: int, data: bytes) -> None:
        url = f"{self._base}/{self.worker_id}/results/{job_id}/{attempt}"
        await self._request(self._session, "PUT", url, data, 6 * CALL_SECONDS)

    async def post_file(self, job_id: str, attempt: int, announced: dict[str, str], data: AsyncIterator[bytes]) -> None:
        url = f"{self._base}/{self.worker_id}/files/{job_id}/{attempt}?{urlencode(announced)}"
        seconds = 6 * CALL_SECONDS + int(announced["size"]) / _SLOWEST
        await self._request(self._session, "POST", url, data, seconds)

    async def _request(
        self, session: aiohttp.ClientSession, method: str, url: str, data: bytes | AsyncIterator[bytes], timeout: float
    ) -> bytes:
        limit = aiohttp.ClientTimeout(total=timeout, sock_connect=_CONNECT_SECONDS)
        try:
            async with session.request(method, url, data=data, timeout=limit) as answer:
                body = await answer.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise Unreachable(f"{method} {url}: {type(error).__name__} {error}".rstrip()) from error
        if answer.status >= 400:
            problem = decode_problem(body, answer.status)
            raise WorkerGone(problem.detail) if answer.status == WorkerGone.status else problem
        return body


def _decode(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.MsgspecError as error:
        raise Unreachable(f"the answer is not a {kind.__name__}: {error}; is this a Horae server?") from error


def is_refusal(error: HoraeError) -> bool:
    """The server understood the call and said no: asking the same again is useless.

    What was sent again on the way is not refused: it goes with the next call.
    """
    return (
        400 <= error.status < 500 and error.status not in (401, 403, 408, 429) and error.code != RepeatedExchange.code
    )
