"""Time in the store: due timers, the lanes that have work, partitions and retention, the database's clock."""

from contextlib import suppress
from datetime import date, datetime
from typing import Final
from uuid import UUID

import asyncpg

from horae import failpoints
from horae.store.database import Database, Rows, Transaction
from horae.store.statements import statements

BRIEFLY: Final = "set local lock_timeout = '200ms'"
PARTITIONED: Final = ("job", "outcome", "attempt", "log_chunk", "execution")


class Upkeep:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def clock(self) -> datetime:
        rows = await self._database.once("clock")
        now: datetime = rows[0]["now"]
        return now

    async def timer_promote(self, floor: datetime, limit: int, until: datetime) -> Rows:
        return await self._database.once("timer_promote", floor, limit, until, hot=True)

    async def timer_next(self, floor: datetime) -> tuple[datetime, datetime | None]:
        rows = await self._database.once("timer_next", floor, hot=True)
        return rows[0]["now"], rows[0]["next_at"]

    async def ready_lanes(self, limit: int, after: int) -> Rows:
        return await self._database.once("ready_lanes", limit, after, hot=True)

    async def partition_days(self) -> list[date]:
        return [row["day"] for row in await self._database.fetch("partition_days")]

    async def partition_make(self, day: date) -> int:
        """Makes a day's partitions. Asks for its locks briefly, so that nothing queues up behind it."""

        async def make(tx: Transaction) -> int:
            await tx.run(BRIEFLY)
            rows = await tx.fetch("partition_make", day)
            return int(rows[0]["made"])

        return await self._database.atomically(make)

    async def partition_detach(self, day: date, bound: UUID) -> bool:
        """Takes a day out of the tables. Its jobs that have not ended are carried into the default partition. False
        when another server was quicker.

        The list of survivors is made before the short exclusive lock is taken. It cannot grow meanwhile: nothing
        brings an ended job of that age back to life (the engine refuses to retry jobs about to be dropped).
        """
        alive = [row["id"] for row in await self._database.fetch("alive_before", bound)]
        suffix = _suffix(day)

        async def detach(tx: Transaction) -> None:
            await tx.run(BRIEFLY)
            for table in PARTITIONED:
                await tx.run(f"alter table horae.{table} detach partition horae.{table}_{suffix}")
            for table in PARTITIONED:
                await tx.carry_over(table, suffix, alive)
            failpoints.reach("partition.before_commit")

        try:
            await self._database.atomically(detach)
        except asyncpg.UndefinedTableError:
            return False
        failpoints.reach("partition.after_detach")
        return True

    async def partition_detached(self) -> list[date]:
        """Days that were taken out and are still there."""
        return [row["day"] for row in await self._database.fetch("partition_detached")]

    async def carried_over(self, since: UUID, until: UUID) -> list[UUID]:
        """Jobs of a day that outlive it."""
        return [row["id"] for row in await self._database.fetch("carried_over", since, until)]

    async def partition_empty(self, day: date) -> None:
        """Gives back the space of what was taken out; its empty tables stay until its objects are gone."""
        tables = ", ".join(f"horae.{table}_{_suffix(day)}" for table in PARTITIONED)

        async def empty(tx: Transaction) -> None:
            await tx.run(f"truncate {tables}")

        with suppress(asyncpg.UndefinedTableError):  # Another server was quicker, and has dropped it.
            await self._database.atomically(empty)

    async def partition_drop(self, day: date) -> None:
        """Removes what was taken out."""

        async def drop(tx: Transaction) -> None:
            for table in PARTITIONED:
                await tx.run(f"drop table if exists horae.{table}_{_suffix(day)}")

        await self._database.atomically(drop)

    async def idempotency_clean(self, seconds: float, rows: int) -> int:
        """How many keys were forgotten, at most so many."""
        return len(await self._database.fetch("idempotency_clean", seconds, rows))

    async def leftover_clean(self, seconds: float) -> Rows:
        """Returns the (tenant, id, attempt) of large results that are now nobody's."""
        return await self._database.fetch("leftover_clean", seconds)

    async def checkpoint_clean(self, bound: UUID) -> None:
        await self._database.fetch("checkpoint_clean", bound)


async def notice_send(connection: "asyncpg.Connection[asyncpg.Record]", channel: str, payload: str) -> None:
    await connection.execute(statements()["notice_send"], channel, payload)


def _suffix(day: date) -> str:
    return day.strftime("%Y%m%d")
