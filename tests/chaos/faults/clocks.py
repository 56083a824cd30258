"""The clock of one host is set, forward or back, and set right again after a while.

Only then does its program go by a clock that can be set, for that costs time: it is started again for it.
"""

import asyncio
import random
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Final
from uuid import uuid4

from chaos.part import Part, Start
from chaos.world import World
from horae.testing.clocks import COMPILER, SettableClock, find_compiler

from .fault import Act, Fault

HOUR: Final = timedelta(hours=1)
STEPS: Final = (-HOUR, -timedelta(seconds=10), timedelta(seconds=10), HOUR)
DATABASE_STEPS: Final = tuple(timedelta(seconds=seconds) for seconds in (-15, -3, 3, 15))
"""Schedules are silent after a step back for as long: no longer than the suite can wait for them."""
SECONDS: Final = (1.0, 4.0)
CLOCK: Final = "clock.database"


def missing() -> str | None:
    return None if find_compiler() else f"clocks that can be set take {COMPILER}"


def made(folder: Path) -> SettableClock:
    compiler = find_compiler()
    assert compiler is not None
    folder.mkdir(mode=0o755)
    return SettableClock(compiler, folder)


async def stray(clock: SettableClock, chance: random.Random, steps: tuple[timedelta, ...]) -> None:
    by = chance.choice(steps)
    await asyncio.sleep(chance.uniform(0.5, 1))
    try:
        clock.step(by)
        await asyncio.sleep(chance.uniform(*SECONDS))
    finally:
        clock.step(-by)
    await asyncio.sleep(chance.uniform(0.5, 1))


def of_a_part(choose: Callable[[World], list[Part]]) -> Act:
    async def act(world: World, chance: random.Random) -> None:
        part = chance.choice(choose(world))
        clock = made(world.folder / f"clock-{uuid4().hex}")
        async with part.lock:
            try:
                await part.restart(Start(prefix=clock.prefix))
                await stray(clock, chance, STEPS)
            finally:
                await part.restart()

    return act


async def of_the_database(world: World, chance: random.Random) -> None:
    async with world.database_lock:
        node = world.pair.primary
        clock = made(node.folder / f"clock-{uuid4().hex}")
        try:
            node.prefix = clock.prefix
            await node.restart()
            await stray(clock, chance, DATABASE_STEPS)
        finally:
            node.prefix = ()
            await node.restart()
        await world.pair.until_synchronous()


CLOCKS: Final = (
    Fault("clock.server", of_a_part(lambda world: world.servers), weight=0.3, lacking=missing),
    Fault("clock.worker", of_a_part(lambda world: world.workers), weight=0.3, lacking=missing),
    Fault(CLOCK, of_the_database, weight=0.2, lacking=missing),
)
