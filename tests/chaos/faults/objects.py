"""The place for objects is away."""

import asyncio
import random
from contextlib import AsyncExitStack
from typing import Final

from chaos import objects
from chaos.objects import Bucket
from chaos.world import World

from .fault import Fault

SECONDS: Final = (0.5, 4.0)


async def cut(world: World, chance: random.Random) -> None:
    """No server reaches it, and none is told."""
    async with AsyncExitStack() as guards:
        for link in world.to_objects:
            await guards.enter_async_context(world.guard(link))
            guards.callback(link.heal)
            link.black_hole()
        await asyncio.sleep(chance.uniform(*SECONDS))


async def kill(world: World, chance: random.Random) -> None:
    assert isinstance(world.objects, Bucket)
    async with world.objects.lock:
        world.objects.server.kill()
        await asyncio.sleep(chance.uniform(*SECONDS))
        await asyncio.to_thread(world.objects.server.start)


OBJECTS: Final = (
    Fault("objects.blackhole", cut, lacking=objects.missing),
    Fault("objects.kill", kill, weight=0.3, lacking=objects.missing),
)
