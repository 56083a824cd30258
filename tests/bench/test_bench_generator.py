"""The load generator, against a small server whose answers are known."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from horae.bench.generator import is_whole, post, send, send_at
from horae.model.errors import SetupError

CREATED = b"HTTP/1.1 201 Created\r\ncontent-type: application/json\r\nContent-Length: 2\r\n\r\n{}"


@asynccontextmanager
async def answering(*pieces: bytes) -> AsyncIterator[tuple[str, list[int]]]:
    """A server that answers each request with these pieces, and notes how many were under way at once."""
    under_way: list[int] = [0]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readuntil(b"{}"):
            under_way.append(under_way[-1] + 1)
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)
            under_way.append(under_way[-1] - 1)

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.append(asyncio.ensure_future(serve(reader, writer)))

    tasks: list[asyncio.Future[None]] = []
    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", under_way
    finally:
        server.close()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_all_requests_are_answered_over_few_connections() -> None:
    async with answering(CREATED) as (url, under_way):
        load = await send(url, [post("/v1/jobs", "key", b"{}")] * 50, 3)
    assert len(load.latencies) == 50
    assert max(under_way) <= 3
    assert load.rate > 0


async def test_an_answer_in_pieces_is_one_answer() -> None:
    async with answering(CREATED[:20], CREATED[20:-1], CREATED[-1:]) as (url, _):
        load = await send(url, [post("/v1/jobs", "key", b"{}")] * 5, 1)
    assert len(load.latencies) == 5


async def test_a_refusal_is_an_error_that_tells_the_answer() -> None:
    refusal = b"HTTP/1.1 422 Unprocessable\r\ncontent-length: 12\r\n\r\nunknown_task"
    async with answering(refusal) as (url, _):
        with pytest.raises(SetupError, match="unknown_task"):
            await send(url, [post("/v1/jobs", "key", b"{}")], 1)


def test_an_answer_is_whole_only_with_its_last_byte() -> None:
    assert not any(is_whole(CREATED[:length]) for length in range(len(CREATED)))
    assert is_whole(CREATED)


async def test_a_plan_is_kept_however_slow_the_answers_are() -> None:
    """The second request is due while the first has no answer yet: it goes over another connection."""
    start = time.monotonic()
    async with answering(CREATED[:20], CREATED[20:]) as (url, _):
        request = post("/v1/jobs", "key", b"{}")
        load = await send_at(url, [(start + 0.05 * number, request) for number in range(6)], 2)
    assert len(load.latencies) == 6
    assert time.monotonic() - start >= 0.25


async def test_a_refused_request_of_a_plan_is_an_error() -> None:
    refusal = b"HTTP/1.1 422 Unprocessable\r\ncontent-length: 12\r\n\r\nunknown_task"
    async with answering(refusal) as (url, _):
        with pytest.raises(SetupError, match="unknown_task"):
            await send_at(url, [(time.monotonic(), post("/v1/jobs", "key", b"{}"))], 2)
