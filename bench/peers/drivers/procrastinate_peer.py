"""Procrastinate: `procrastinate --app procrastinate_peer.app worker` runs jobs; the desk takes them in."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime

import psycopg
import recording
from procrastinate import App, PsycopgConnector

STORE = os.environ["RACE_STORE"]
app = App(connector=PsycopgConnector(conninfo=STORE))
PART = 1000
COPY = """
insert into procrastinate_jobs
    (queue_name, task_name, priority, lock, queueing_lock, args, scheduled_at, status, attempts)
select queue_name, task_name, priority, lock, queueing_lock, args, scheduled_at, status, attempts
from (select * from procrastinate_jobs where task_name = 'noop' order by id desc limit 1) sample, generate_series(2, %s)
"""


@app.task(name="noop")
async def noop(number: int = 0) -> None:
    recording.noop()


@app.task(name="stamp")
async def stamp(number: int) -> None:
    recording.stamp(number)


@app.task(name="work")
async def work(number: int) -> None:
    await recording.work_async(number)


class Peer:
    async def open(self) -> None:
        await app.open_async()
        if not await app.check_connection_async():
            await app.schema_manager.apply_schema_async()
        self._store = await psycopg.AsyncConnection.connect(STORE, autocommit=True)

    async def submit(self, task: str, number: int = 0) -> None:
        await app.tasks[task].defer_async(number=number)

    async def submit_many(self, task: str, numbers: Sequence[int]) -> None:
        for start in range(0, len(numbers), PART):
            part = [{"number": number} for number in numbers[start : start + PART]]
            await app.tasks[task].batch_defer_async(*part)

    async def submit_due(self, numbers: Sequence[int], at: float) -> None:
        order = stamp.configure(schedule_at=datetime.fromtimestamp(at, UTC))
        await order.batch_defer_async(*({"number": number} for number in numbers))

    async def fill(self, count: int) -> None:
        await noop.defer_async(number=0)
        await self._store.execute(COPY, (count,))

    async def remaining(self) -> int:
        left = "select count(*) from (select from procrastinate_jobs where status in ('todo', 'doing') limit 1) j"
        return (await (await self._store.execute(left)).fetchone())[0]
