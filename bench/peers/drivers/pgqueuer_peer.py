"""pgqueuer. `python pgqueuer_peer.py` runs jobs; the desk takes them in."""

import asyncio
import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import asyncpg
import recording
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver, AsyncpgPoolDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries

STORE = os.environ["RACE_STORE"]
SETTINGS = json.loads(os.environ["RACE_SETTINGS"])
BATCH = 5000
ABREAST = 3


class Peer:
    async def open(self) -> None:
        self._pool = await asyncpg.create_pool(STORE, min_size=ABREAST, max_size=ABREAST)
        self._queries = Queries(AsyncpgPoolDriver(self._pool))
        if not await self._queries.schema_is_installed():
            await self._queries.install()

    async def submit(self, task: str, number: int = 0) -> None:
        await self._queries.enqueue(task, b"%d" % number)

    async def submit_many(self, task: str, numbers: Sequence[int], after: timedelta | None = None) -> None:
        left = [list(numbers[start : start + BATCH]) for start in range(0, len(numbers), BATCH)]

        async def caller() -> None:
            while left:
                part = left.pop()
                payloads = [b"%d" % number for number in part]
                await self._queries.enqueue([task] * len(part), payloads, [0] * len(part), [after] * len(part))

        await asyncio.gather(*(caller() for _ in range(ABREAST)))

    async def submit_due(self, numbers: Sequence[int], at: float) -> None:
        """Its API takes how long from now; the database adds that to its own clock."""
        await self.submit_many("stamp", numbers, datetime.fromtimestamp(at, UTC) - datetime.now(UTC))

    async def fill(self, count: int) -> None:
        await self.submit_many("noop", range(count))

    async def remaining(self) -> int:
        return await self._pool.fetchval("select count(*) from (select from pgqueuer limit 1) q")


async def main() -> None:
    connection = await asyncpg.connect(STORE)
    queue = PgQueuer(AsyncpgDriver(connection))

    @queue.entrypoint("noop")
    async def noop(job: Job) -> None:
        recording.noop()

    @queue.entrypoint("stamp")
    async def stamp(job: Job) -> None:
        recording.stamp(int(job.payload))

    @queue.entrypoint("work")
    async def work(job: Job) -> None:
        await recording.work_async(int(job.payload))

    await queue.run(**SETTINGS)


if __name__ == "__main__":
    uvloop.run(main())
