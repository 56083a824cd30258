"""Every failpoint of Horae: one program is started to die, freeze, break off or wait at that moment.

Whether the moment comes while the program is armed is up to the load. If it does not within some seconds, that is said,
and the program goes on unarmed.
"""

import random
from contextlib import suppress
from typing import Final
from uuid import uuid4

from chaos.part import Part, Start
from chaos.postgres import DATABASE, Node
from chaos.world import World, own_environment
from horae.bench.program import Program
from horae.failpoints import BEFORE_ANSWER, NAMES, REACHED_VARIABLE, VARIABLE
from horae.model.errors import SetupError
from horae.store.migrate import migrate
from horae.testing.waiting import wait_for

from .fault import Act, Fault

ACTIONS: Final = ("kill", "kill", "raise", "delay:300ms", "stop:1500ms")
OF_WORKERS: Final = ("worker", "web", "child")
MIGRATE: Final = "migrate"
SECONDS: Final = 10.0
TURNS: Final = 4
OVER_SECONDS: Final = 2.0
"""Until what an action does to the program is over."""


def at(name: str) -> Act:
    return at_migration(name) if name.startswith(MIGRATE) else at_work(name)


def at_work(name: str) -> Act:
    async def act(world: World, chance: random.Random) -> None:
        part = chance.choice(world.workers if name.split(".", maxsplit=1)[0] in OF_WORKERS else world.servers)
        async with part.lock:
            try:
                await reach(world, part, name, action_at(name, chance))
            finally:
                await part.restart()

    return act


def action_at(name: str, chance: random.Random) -> str:
    actions = (*ACTIONS, "drop", "drop") if name.endswith(BEFORE_ANSWER) else ACTIONS
    return f"{chance.choice(actions)}@{chance.randint(1, 2)}"


async def reach(world: World, part: Part, name: str, action: str) -> None:
    record = world.folder / f"reached-{uuid4().hex}"
    environ = {VARIABLE: f"{name}={action}", REACHED_VARIABLE: str(record)}
    # Some moments come before the program is ready.
    with suppress(SetupError):
        await part.restart(Start(environ=environ, patience=0))

    def reached() -> bool:
        return record.exists() and name in record.read_text().split()

    for _ in range(TURNS):
        with suppress(AssertionError):
            if await wait_for(reached, SECONDS / TURNS, interval=0.1):
                break
        turn_round(world)
    assert reached(), f"{part.name} did not reach {name} within {SECONDS:g} s"
    await part.ended(OVER_SECONDS)


def turn_round(world: World) -> None:
    """Workers stay with the server that they have found; with new connections they may find the armed one."""
    for link in world.from_workers:
        link.reset_all()


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
