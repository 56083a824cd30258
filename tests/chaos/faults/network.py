"""What a proxy can do to one link: between clients, workers, servers, PostgreSQL and the place for objects."""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from typing import Final

from chaos.world import World
from horae.testing.proxy import Mishap, Proxy

from .fault import Act, Fault

SECONDS: Final = (0.5, 3.0)
HALF_OPEN_SECONDS: Final = (4.0, 8.0)
WAIT_SECONDS: Final = 10.0
"""For something to come along that can go wrong."""
BUSY_SECONDS: Final = 2.0
POST: Final = b"POST "


def busy(links: Sequence[Proxy]) -> Sequence[Proxy]:
    """Those that carried something a moment ago, if any did: harm to a link that nobody uses is none."""
    since = time.monotonic() - BUSY_SECONDS
    return [link for link in links if link.links and link.carried_at >= since] or links


def harm(does: Callable[[Proxy], None]) -> Act:
    """One link for a while; what was held up meanwhile is let go afterwards."""

    async def act(world: World, chance: random.Random) -> None:
        link = chance.choice(busy(world.links))
        async with world.guard(link):
            try:
                does(link)
                await asyncio.sleep(chance.uniform(*SECONDS))
            finally:
                link.heal()

    return act


def slow(link: Proxy) -> None:
    link.latency, link.jitter = 0.1, 0.2


def dribble(link: Proxy) -> None:
    link.drip = 200


async def reset(world: World, chance: random.Random) -> None:
    """All connections of one link break at once."""
    chance.choice(busy(world.links)).reset_all()


async def half_open(world: World, chance: random.Random) -> None:
    """The connections that are open go nowhere, and it takes seconds until anybody is told; new ones are fine."""
    link = chance.choice(busy(world.links))
    async with world.guard(link):
        try:
            link.forsake_all()
            await asyncio.sleep(chance.uniform(*HALF_OPEN_SECONDS))
        finally:
            link.reset_forsaken()


def befall(choose: Callable[[World], list[Proxy]], mishap: Callable[[Proxy], Mishap]) -> Act:
    """Waits until it has happened."""

    async def act(world: World, chance: random.Random) -> None:
        link = chance.choice(busy(choose(world)))
        async with world.guard(link):
            try:
                coming = mishap(link)
                world.mishaps.append(coming)
                happened = await asyncio.to_thread(coming.struck.wait, WAIT_SECONDS)
            finally:
                link.heal()
        assert happened, f"nothing passed within {WAIT_SECONDS:g} s that could go wrong"

    return act


def http(world: World) -> list[Proxy]:
    return [*world.to_servers, *world.from_workers]


def databases(world: World) -> list[Proxy]:
    """Those that are in use: nobody talks to the standby."""
    return [link for link in world.to_postgres if link.links]


NETWORK: Final = (
    Fault("proxy.latency", harm(slow)),
    Fault("proxy.dribble", harm(dribble)),
    Fault("proxy.reset", reset, weight=2),
    Fault("proxy.blackhole", harm(Proxy.black_hole)),
    Fault("proxy.mute", harm(Proxy.mute)),
    Fault("proxy.half_open", half_open),
    Fault("proxy.duplicate", befall(http, lambda link: link.replay(POST)), weight=2),
    Fault("proxy.answer", befall(http, lambda link: link.lose_answer(POST)), weight=2),
    Fault("proxy.answer.database", befall(databases, lambda link: link.lose_answer(b"")), weight=2),
)
