"""Duties that want a single actor among all servers.

Whoever holds the duty's advisory lock does it, and all it writes goes through the connection that holds the lock:
losing the one loses the other, so there is nothing to fence. When it is due again stands in the database, so that ten
servers do not do it ten times as often.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from horae import failpoints
from horae.store.database import GRACE_SECONDS, LOST, Database
from horae.store.rollups import Rollups, SoleActor

CLOSE_SECONDS = 2.0


@asynccontextmanager
async def alone(database: Database, name: str) -> AsyncIterator[SoleActor | None]:
    """The single actor of a duty, if it is due and nobody else is at it."""
    if not await Rollups(database).duty_due(name):
        yield None
        return
    connection = await database.connect()
    try:
        actor = SoleActor(connection, database.config.call_seconds + GRACE_SECONDS)
        mine = await actor.duty_lock(name) and await actor.duty_due(name)
        failpoints.reach("duty.after_lock")
        yield actor if mine else None
    finally:
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await connection.close()
        except (TimeoutError, asyncpg.InterfaceError, *LOST):
            connection.terminate()
