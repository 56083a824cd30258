"""A server or worker gets too little: a few percent of a processor, or hardly more memory than it has.

It is started again in a control group of its own for it, by the same code that bounds jobs in the sandbox.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Final
from uuid import uuid4

import psutil

from chaos.part import Part, Start
from chaos.world import World
from horae.worker.sandbox.cgroups import Group, clear
from horae.worker.sandbox.hierarchy import Found, find_hierarchy
from horae.worker.sandbox.limits import Bounds

from .fault import Fault

SECONDS: Final = (2.0, 5.0)
CPU: Final = 0.03
"""Of one processor."""
SPARE: Final = 2 << 20
"""Bytes: the next job that needs memory gets none."""
ROOMY: Final = Bounds(cpu=64, memory=1 << 36, processes=10_000)
ENTER: Final = 'for entrance in $ENTRANCES; do echo $$ > "$entrance"; done; exec "$@"'


@cache
def groups() -> Found:
    return find_hierarchy()


def missing() -> str | None:
    return groups().reason or None


@asynccontextmanager
async def grouped(world: World, part: Part) -> AsyncIterator[Group]:
    """The part in a control group of its own. What jobs would make below it is left out: scripts run elsewhere."""
    hierarchy = groups().hierarchy
    assert hierarchy is not None, missing()
    group = hierarchy.create(f"horae-chaos-{uuid4().hex}", ROOMY)
    start = Start(
        environ={"ENTRANCES": " ".join(group.entrances)},
        prefix=("/bin/sh", "-c", ENTER, "sh"),
        options={} if part.serves else {"--kinds": None},
    )
    async with part.lock:
        try:
            await part.restart(start)
            if not part.serves:
                await world.until_joined(part)
            yield group
        finally:
            await part.kill()
            await asyncio.to_thread(clear, group)
            await part.start()


async def starve(world: World, chance: random.Random) -> None:
    """The keeper starves with its worker. That is no excuse: the little they have must do to end what runs in time."""
    part = chance.choice(world.parts)
    async with grouped(world, part) as group:
        group.limit(Bounds(cpu=CPU, memory=ROOMY.memory, processes=ROOMY.processes))
        await asyncio.sleep(chance.uniform(*SECONDS))
        group.limit(ROOMY)


async def squeeze(world: World, chance: random.Random) -> None:
    """Who asks for more is killed by the kernel: a child, or the program itself."""
    part = chance.choice(world.parts)
    async with grouped(world, part) as group:
        group.limit(Bounds(cpu=ROOMY.cpu, memory=_used(group) + SPARE, processes=ROOMY.processes))
        await asyncio.sleep(chance.uniform(*SECONDS))
        group.limit(ROOMY)


def _used(group: Group) -> int:
    """Pages that several share are counted for each: room enough to set the limit, and soon used up."""
    processes = [psutil.Process(pid) for pid in group.pids()]
    return sum(process.memory_full_info().uss for process in processes)


SCARCITY: Final = (
    Fault("cpu.starve", starve, weight=0.3, lacking=missing),
    Fault("memory.squeeze", squeeze, weight=0.3, lacking=missing),
)
