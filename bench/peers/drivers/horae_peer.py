"""Horae itself: the tasks that its worker runs (`--app horae_peer.py:app`), and the desk, by the SDK."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime

import asyncpg
import recording

from horae import App

LEFT = """
select count(*) from (
    (select from horae.ready limit 1) union all
    (select from horae.lease limit 1) union all
    (select from horae.timer limit 1)
) unfinished
"""

app = App("race")


@app.task(name="noop")
def noop(number: int = 0) -> None:
    recording.noop()


@app.task(name="stamp")
def stamp(number: int = 0) -> None:
    recording.stamp(number)


@app.task(name="work")
def work(number: int = 0) -> None:
    recording.work(number)


class Peer:
    async def open(self) -> None:
        self._store = await asyncpg.connect(os.environ["RACE_STORE"])
        for task in app.tasks.values():
            await app.async_client.put_task(task.definition)

    async def submit(self, task: str, number: int = 0) -> None:
        app.tasks[task].submit(number)

    async def submit_many(self, task: str, numbers: Sequence[int], at: datetime | None = None) -> None:
        order = app.tasks[task].options(at=at) if at else app.tasks[task]
        await order.asubmit_many([(number,) for number in numbers])

    async def submit_due(self, numbers: Sequence[int], at: float) -> None:
        await self.submit_many("stamp", numbers, datetime.fromtimestamp(at, UTC))

    async def fill(self, count: int) -> None:
        await self.submit_many("noop", range(count))

    async def remaining(self) -> int:
        return await self._store.fetchval(LEFT)
