"""Taskiq on a Redis stream: `taskiq worker taskiq_peer:broker` runs jobs; the desk takes them in."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime

import recording
from redis.asyncio import Redis
from taskiq import TaskiqScheduler
from taskiq_redis import ListRedisScheduleSource, RedisStreamBroker

STORE = os.environ["RACE_STORE"]
# Without a limit a killed worker may leave the lock of the unacknowledged messages behind, and all others wait.
broker = RedisStreamBroker(url=STORE, queue_name="race", unacknowledged_lock_timeout=5.0)
source = ListRedisScheduleSource(STORE)
scheduler = TaskiqScheduler(broker, [source])


@broker.task(task_name="noop")
async def noop(number: int = 0) -> None:
    recording.noop()


@broker.task(task_name="stamp")
async def stamp(number: int) -> None:
    recording.stamp(number)


@broker.task(task_name="work")
async def work(number: int) -> None:
    await recording.work_async(number)


TASKS = {"noop": noop, "stamp": stamp, "work": work}


class Peer:
    async def open(self) -> None:
        await broker.startup()
        await source.startup()
        self._redis = Redis.from_url(STORE)

    async def submit(self, task: str, number: int = 0) -> None:
        await TASKS[task].kiq(number)

    async def submit_many(self, task: str, numbers: Sequence[int]) -> None:
        for number in numbers:
            await TASKS[task].kiq(number)

    async def submit_due(self, numbers: Sequence[int], at: float) -> None:
        for number in numbers:
            await stamp.schedule_by_time(source, datetime.fromtimestamp(at, UTC), number)

    async def fill(self, count: int) -> None:
        """One message, many times: nothing looks at its id, for there is no result backend."""
        await noop.kiq(0)
        _, fields = (await self._redis.xrevrange("race", count=1))[0]
        for start in range(0, count - 1, 1000):
            pipeline = self._redis.pipeline(transaction=False)
            for _ in range(min(1000, count - 1 - start)):
                pipeline.xadd("race", fields)
            await pipeline.execute()

    async def remaining(self) -> int:
        """Delivered but unacknowledged, and not yet delivered. The stream itself keeps what is done."""
        group = (await self._redis.xinfo_groups("race"))[0]
        return int(group["pending"]) + int(group["lag"] or 0)
