"""Huey on Redis: `huey_consumer huey_peer.huey` runs jobs; the desk takes them in."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime

import recording
from huey import RedisHuey

huey = RedisHuey("race", url=os.environ["RACE_STORE"], results=False, utc=True)


@huey.task()
def noop(number: int = 0) -> None:
    recording.noop()


@huey.task()
def stamp(number: int) -> None:
    recording.stamp(number)


@huey.task()
def work(number: int) -> None:
    recording.work(number)


TASKS = {"noop": noop, "stamp": stamp, "work": work}


class Peer:
    async def open(self) -> None:
        huey.storage.conn.ping()

    async def submit(self, task: str, number: int = 0) -> None:
        TASKS[task](number)

    async def submit_many(self, task: str, numbers: Sequence[int]) -> None:
        for number in numbers:
            TASKS[task](number)

    async def submit_due(self, numbers: Sequence[int], at: float) -> None:
        eta = datetime.fromtimestamp(at, UTC).replace(tzinfo=None)
        for number in numbers:
            stamp.schedule((number,), eta=eta)

    async def fill(self, count: int) -> None:
        """One message, many times: Huey does not look at its id unless results or locks are used."""
        message = huey.serialize_task(noop.s(0))
        for start in range(0, count, 1000):
            huey.storage.conn.lpush(huey.storage.queue_key, *[message] * min(1000, count - start))

    async def remaining(self) -> int:
        return huey.pending_count() + huey.scheduled_count()
