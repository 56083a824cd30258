"""PostgreSQL crashes, loses connections or its standby, runs out of disk, and hands over."""

import asyncio
import random
from typing import Final

import asyncpg

from chaos import disks
from chaos.postgres import Node
from chaos.world import World

from .fault import Fault

VICTIMS: Final = """
select pg_terminate_backend(pid) from pg_stat_activity
where application_name like 'horae%' and pid <> pg_backend_pid() order by random() limit $1
"""
BULK: Final = "create temp table bulk as select repeat('x', 1000) from generate_series(1, 100000)"
FULL_SECONDS: Final = (1.0, 3.0)


async def restart(world: World, chance: random.Random) -> None:
    """As after a loss of power: nothing is written that was not."""
    async with world.database_lock:
        await world.pair.primary.stop("immediate")
        await asyncio.sleep(chance.uniform(0, 1))
        await world.pair.primary.start()
        await world.pair.until_synchronous()


async def terminate(world: World, chance: random.Random) -> None:
    """Some connections of the servers are ended, those that listen or hold a duty's lock among them."""
    async with world.database_lock, world.pair.primary.connected() as connection:
        ended = await connection.fetch(VICTIMS, chance.randint(1, 8))
    assert ended, "no server was connected to PostgreSQL"


async def cut_standby(world: World, chance: random.Random) -> None:
    """Commits wait until the standby hears again."""
    async with world.database_lock:
        link = world.pair.replication[world.pair.primary.name]
        try:
            link.black_hole()
            await asyncio.sleep(chance.uniform(0.5, 4))
        finally:
            link.heal()
        await world.pair.until_synchronous()


async def restart_standby(world: World, chance: random.Random) -> None:
    async with world.database_lock:
        pair = world.pair
        await pair.standby.stop("immediate")
        await asyncio.sleep(chance.uniform(0, 1))
        await pair.standby.start(pair.replication[pair.primary.name])
        await pair.until_synchronous()


async def fail_over(world: World, chance: random.Random) -> None:
    """The standby takes over, and the node that was primary becomes its standby."""
    async with world.database_lock:
        await world.pair.failover()
        await asyncio.sleep(chance.uniform(0, 1))
        await world.pair.rebuild()


async def come_back(world: World, chance: random.Random) -> None:
    """The standby takes over, and the old primary comes back as one for a while, before it is made a standby."""
    async with world.database_lock:
        await world.pair.failover()
        await asyncio.sleep(chance.uniform(0, 1))
        await world.pair.standby.start()
        # New connections, as after any trouble: they must tell the two primaries apart.
        for link in world.to_postgres:
            link.reset_all()
        await asyncio.sleep(chance.uniform(1, 3))
        await world.pair.rebuild()


async def refuses(node: Node) -> bool:
    """Whether PostgreSQL can write no more, or has given up already."""
    try:
        async with node.connected() as connection:
            await connection.execute(BULK)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return True
    return False


async def fill_disk(world: World, chance: random.Random) -> None:
    """Nothing can be written any more, the log included, over which PostgreSQL gives up."""
    async with world.database_lock:
        node = world.pair.primary
        try:
            disks.fill(node.folder)
            assert await refuses(node), "the disk is not full"
            await asyncio.sleep(chance.uniform(*FULL_SECONDS))
        finally:
            disks.relieve(node.folder)
        if not await node.answers_soon():
            await node.stop("immediate")
            await node.start()
        await world.pair.until_synchronous()


POSTGRES: Final = (
    Fault("postgres.restart", restart, weight=0.5),
    Fault("postgres.terminate", terminate, weight=2),
    Fault("postgres.standby.cut", cut_standby),
    Fault("postgres.standby.restart", restart_standby, weight=0.5),
    Fault("postgres.failover", fail_over, weight=0.2),
    Fault("postgres.failover.come_back", come_back, weight=0.2),
    Fault("postgres.disk_full", fill_disk, weight=0.2, lacking=disks.missing),
)
