"""Every failpoint of Horae: a program dies, freezes, breaks off or waits at that moment.

All servers, or all workers with their children, are told of it while they run, and whichever comes by first acts. What
the load does not bring about is provoked. If nobody comes by in time, that is said, and all go on as before.
"""

import random
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import uuid4

from chaos.part import Part
from chaos.postgres import DATABASE, Node
from chaos.world import World, own_environment
from horae.bench.program import Program
from horae.failpoints import BEFORE_ANSWER, NAMES, REACHED_VARIABLE, VARIABLE
from horae.store.database import Database, DatabaseConfig
from horae.store.migrate import migrate
from horae.store.upkeep import Upkeep
from horae.testing.waiting import wait_for

from .fault import Act, Fault

ACTIONS: Final = ("kill", "kill", "raise", "delay:300ms", "stop:1500ms")
OF_WORKERS: Final = ("worker", "web", "child")
MIGRATE: Final = "migrate"
SECONDS: Final = 45.0
"""For somebody to come by: other faults may have taken down all who could. Only this strike waits so long."""
OLD_DAYS: Final = (60, 600)
"""Beyond retention: a server that starts drops such a day."""

Provocation = Callable[[World, random.Random], AbstractAsyncContextManager[None]]


def at(name: str) -> Act:
    return at_migration(name) if name.startswith(MIGRATE) else at_work(name)


def at_work(name: str) -> Act:
    async def act(world: World, chance: random.Random) -> None:
        await waylay(world, chance, name, action_at(name, chance))

    return act


def action_at(name: str, chance: random.Random) -> str:
    """What is provoked comes once."""
    actions = (*ACTIONS, "drop", "drop") if name.endswith(BEFORE_ANSWER) else ACTIONS
    return f"{chance.choice(actions)}@{1 if provocation(name) is not nothing else chance.randint(1, 2)}"


async def waylay(world: World, chance: random.Random, name: str, action: str) -> None:
    ambush = world.ambushes["worker" if name.split(".", maxsplit=1)[0] in OF_WORKERS else "server"]
    async with ambush.laid(name, action) as sprung, provocation(name)(world, chance):
        await wait_for(sprung, SECONDS, what=f"somebody to come by {name}")


def nothing(world: World, chance: random.Random) -> AbstractAsyncContextManager[None]:
    """The load brings it about."""
    return nullcontext()


@asynccontextmanager
async def dead_worker(world: World, chance: random.Random) -> AsyncIterator[None]:
    worker = chance.choice(world.workers)
    async with worker.lock:
        await worker.kill()
        try:
            yield
        finally:
            await worker.start()


def renewed(choose: Callable[[World], list[Part]]) -> Provocation:
    @asynccontextmanager
    async def provoke(world: World, chance: random.Random) -> AsyncIterator[None]:
        part = chance.choice(choose(world))
        async with part.lock:
            await part.restart()
        yield

    return provoke


new_server, new_worker = renewed(lambda world: world.servers), renewed(lambda world: world.workers)


@asynccontextmanager
async def old_day(world: World, chance: random.Random) -> AsyncIterator[None]:
    async with world.database_lock:
        database = Database(DatabaseConfig.small(world.dsn))
        await database.open()
        try:
            day = datetime.now(UTC) - timedelta(days=chance.randint(*OLD_DAYS))
            await Upkeep(database).partition_make(day.date())
        finally:
            await database.close()
    async with new_server(world, chance):
        yield


PROVOKED: Final[dict[str, Provocation]] = {
    "reclaim": dead_worker, "join": new_worker, "worker.after_join": new_worker, "duty": new_server,
    "partition": old_day,
}  # fmt: skip
"""By the name, or the beginning of it."""


def provocation(name: str) -> Provocation:
    return PROVOKED.get(name) or PROVOKED.get(name.split(".", maxsplit=1)[0], nothing)


def at_migration(name: str) -> Act:
    """A migration that is killed is as good as one that was never begun, and the next one ends it."""

    async def act(world: World, chance: random.Random) -> None:
        async with world.database_lock:
            node, database = world.pair.primary, f"migration_{uuid4().hex}"
            async with node.connected("postgres") as connection:
                await connection.execute(f"create database {database}")
                try:
                    await migrate_twice(world, node, database, f"{name}=kill@{chance.randint(1, 10)}")
                finally:
                    await connection.execute(f"drop database {database} with (force)")

    return act


async def migrate_twice(world: World, node: Node, database: str, armed: str) -> None:
    dsn = node.dsn.replace(f"@/{DATABASE}?", f"@/{database}?")
    environ = own_environment() | {"HORAE_DATABASE": dsn, "HOME": str(world.folder), VARIABLE: armed}
    environ[REACHED_VARIABLE] = str(world.folder / f"reached-{uuid4().hex}")
    program = Program("migrate", ["migrate"], environ, world.folder / "migrate.log")
    await program.start()
    await program.wait()
    assert await migrate(dsn), f"{armed} did not stop the migration"


FAILPOINTS: Final = tuple(Fault(f"failpoint.{name}", at(name), weight=0.1) for name in NAMES)
