"""SAQ on Redis: `saq saq_peer.settings` runs jobs; the desk takes them in."""

import json
import os
import uuid
from collections.abc import Sequence
from typing import Any

import recording
from saq import Queue

SETTINGS = json.loads(os.environ["RACE_SETTINGS"])
queue = Queue.from_url(os.environ["RACE_STORE"], name="race")


async def noop(context: dict[str, Any], *, number: int = 0) -> None:
    recording.noop()


async def stamp(context: dict[str, Any], *, number: int) -> None:
    recording.stamp(number)


async def work(context: dict[str, Any], *, number: int) -> None:
    await recording.work_async(number)


settings = {"queue": queue, "functions": [noop, stamp, work], **SETTINGS}


class Peer:
    async def open(self) -> None:
        await queue.connect()

    async def submit(self, task: str, number: int = 0) -> None:
        await queue.enqueue(task, number=number, ttl=-1)

    async def submit_many(self, task: str, numbers: Sequence[int]) -> None:
        for number in numbers:
            await self.submit(task, number)

    async def submit_due(self, numbers: Sequence[int], at: float) -> None:
        """Whole seconds: that is what its field holds."""
        for number in numbers:
            await queue.enqueue("stamp", number=number, scheduled=int(at), ttl=-1)

    async def fill(self, count: int) -> None:
        """As its script enqueues: the job under its id, the id into a sorted set and a list."""
        job = await queue.enqueue("noop", number=0, ttl=-1)
        assert job is not None
        body = (await queue.redis.get(job.id)).decode()
        for start in range(0, count - 1, 1000):
            ids = [(key, queue.job_id(key)) for key in (uuid.uuid4().hex for _ in range(min(1000, count - 1 - start)))]
            pipeline = queue.redis.pipeline(transaction=False)
            for key, job_id in ids:
                pipeline.set(job_id, body.replace(job.key, key))
            pipeline.zadd(queue.namespace("incomplete"), {job_id: job.scheduled for _, job_id in ids})
            pipeline.rpush(queue.namespace("queued"), *(job_id for _, job_id in ids))
            await pipeline.execute()

    async def remaining(self) -> int:
        return await queue.count("incomplete")
