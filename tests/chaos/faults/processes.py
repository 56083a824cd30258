"""Servers, workers and the workers' children are killed, or stopped and continued."""

import asyncio
import random
import signal
from collections.abc import Callable
from typing import Final

from chaos.part import Part, send
from chaos.world import World
from horae.testing.waiting import wait_for

from .fault import Act, Fault

DOWN: Final = (0.0, 2.0)
"""Seconds that something stays dead."""
SHORT: Final = (0.5, 3.0)
LONG: Final = (7.0, 9.0)
"""Longer than the lease of the suite, by which time others have taken over."""
CHILD_SECONDS: Final = 20.0

Choose = Callable[[World], list[Part]]


def servers(world: World) -> list[Part]:
    return world.servers


def workers(world: World) -> list[Part]:
    return world.workers


def kill(choose: Choose) -> Act:
    async def act(world: World, chance: random.Random) -> None:
        part = chance.choice(choose(world))
        async with part.lock:
            await part.kill()
            await asyncio.sleep(chance.uniform(*DOWN))
            await part.start()

    return act


def stop(choose: Choose, seconds: tuple[float, float], *, host: bool) -> Act:
    async def act(world: World, chance: random.Random) -> None:
        part = chance.choice(choose(world))
        async with part.lock:
            with part.frozen(host=host):
                await asyncio.sleep(chance.uniform(*seconds))

    return act


def strike_child(sign: signal.Signals, seconds: tuple[float, float]) -> Act:
    """Whether the child runs a job at that moment is chance."""

    async def act(world: World, chance: random.Random) -> None:
        worker = chance.choice(world.workers)
        async with worker.lock:
            child = chance.choice(await wait_for(worker.children, CHILD_SECONDS, what=f"a child of {worker.name}"))
            try:
                send(child, sign)
                await asyncio.sleep(chance.uniform(*seconds))
            finally:
                send(child, signal.SIGCONT)

    return act


PROCESSES: Final = (
    Fault("worker.kill", kill(workers), weight=2),
    Fault("worker.stop", stop(workers, SHORT, host=False)),
    Fault("worker.stop.long", stop(workers, LONG, host=False), weight=0.3),
    Fault("worker.host.stop", stop(workers, SHORT, host=True)),
    Fault("worker.host.stop.long", stop(workers, LONG, host=True), weight=0.2),
    Fault("child.kill", strike_child(signal.SIGKILL, (0.0, 0.1)), weight=2),
    Fault("child.stop", strike_child(signal.SIGSTOP, SHORT)),
    Fault("server.kill", kill(servers), weight=2),
    Fault("server.stop", stop(servers, SHORT, host=False)),
    Fault("server.stop.long", stop(servers, LONG, host=False), weight=0.3),
)
