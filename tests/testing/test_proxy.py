"""The fault proxy does to a link what it says, and heals it."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from horae.testing.proxy import Proxy, proxy_to, to_url

SOON = 0.3
"""Long enough for what passes; what is held up does not come later either, until it is let go."""


class Echo:
    """Answers what it is asked, and remembers it."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            self.asked.append(data)
            writer.write(data.upper())
        writer.close()


@pytest.fixture
async def echo() -> AsyncIterator[Echo]:
    echo = Echo()
    server = await asyncio.start_server(echo.serve, "127.0.0.1", 0)
    echo.port = server.sockets[0].getsockname()[1]
    yield echo
    server.close()


@pytest.fixture
def proxy(echo: Echo):
    with proxy_to(to_url(f"http://127.0.0.1:{echo.port}")) as proxy:
        yield proxy


class Caller:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def ask(self, data: bytes, seconds: float = 10) -> bytes:
        self._writer.write(data)
        return await self.hear(len(data), seconds)

    async def hear(self, size: int, seconds: float = 10) -> bytes:
        return await asyncio.wait_for(self._reader.readexactly(size), seconds)


async def caller(proxy: Proxy) -> Caller:
    return Caller(*await to_url(proxy.url)())


async def test_a_black_hole_holds_both_ways_until_it_is_healed(proxy, echo):
    old = await caller(proxy)
    await old.ask(b"before")
    proxy.black_hole()
    with pytest.raises(TimeoutError):
        await old.ask(b"lost", SOON)
    assert echo.asked == [b"before"]
    proxy.heal()
    assert await old.hear(4) == b"LOST"


async def test_a_mute_link_carries_requests_but_no_answers(proxy, echo):
    one = await caller(proxy)
    proxy.mute()
    with pytest.raises(TimeoutError):
        await one.ask(b"heard", SOON)
    assert echo.asked == [b"heard"]
    proxy.heal()
    assert await one.hear(5) == b"HEARD"


async def test_forsaken_connections_are_dead_and_new_ones_are_not(proxy):
    old = await caller(proxy)
    await old.ask(b"before")
    proxy.forsake_all()
    with pytest.raises(TimeoutError):
        await old.ask(b"lost", SOON)
    assert await (await caller(proxy)).ask(b"new") == b"NEW"
    proxy.reset_forsaken()
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await old.hear(4)


async def test_a_reset_breaks_what_is_open(proxy):
    old = await caller(proxy)
    await old.ask(b"before")
    proxy.reset_all()
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await old.hear(1)
    assert await (await caller(proxy)).ask(b"new") == b"NEW"


async def test_a_lost_answer_is_one_whose_request_was_carried_out(proxy, echo):
    mishap = proxy.lose_answer(b"post")
    one = await caller(proxy)
    assert await one.ask(b"get") == b"GET"
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await one.ask(b"post")
    assert mishap.struck.is_set()
    assert echo.asked == [b"get", b"post"]
    assert await (await caller(proxy)).ask(b"post") == b"POST"


async def test_a_replayed_request_arrives_twice_and_is_answered_once(proxy, echo):
    mishap = proxy.replay(b"post")
    one = await caller(proxy)
    assert await one.ask(b"post") == b"POST"
    assert mishap.befell == b"post"
    assert await one.ask(b"next") == b"NEXT"
    assert echo.asked == [b"post", b"post", b"next"]


async def test_a_request_is_replayed_to_whom_it_went_before(proxy, echo):
    """A worker's link leads to another server with each connection."""
    one = await caller(proxy)
    assert await one.ask(b"get") == b"GET"
    proxy.target = to_url("http://127.0.0.1:1")
    proxy.replay(b"post")
    assert await one.ask(b"post") == b"POST"
    assert echo.asked == [b"get", b"post", b"post"]


async def test_latency_and_dripping_take_their_time_and_change_nothing(proxy):
    one = await caller(proxy)
    proxy.latency, proxy.drip = 0.05, 100
    began = time.monotonic()
    text = b"x" * 1000
    assert await one.ask(text) == text.upper()
    # Two pieces of 0.05 s, and nine pauses each way.
    assert time.monotonic() - began > 0.2
