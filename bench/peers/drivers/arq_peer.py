"""arq on Redis: `arq arq_peer.WorkerSettings` runs jobs; the desk takes them in."""

import json
import os
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import recording
from arq import create_pool
from arq.connections import RedisSettings
from arq.constants import default_queue_name, job_key_prefix

REDIS = RedisSettings.from_dsn(os.environ["RACE_STORE"])
SETTINGS = json.loads(os.environ["RACE_SETTINGS"])


async def noop(context: dict[str, Any], number: int = 0) -> None:
    recording.noop()


async def stamp(context: dict[str, Any], number: int) -> None:
    recording.stamp(number)


async def work(context: dict[str, Any], number: int) -> None:
    await recording.work_async(number)


class WorkerSettings:
    functions = (noop, stamp, work)
    redis_settings = REDIS
    keep_result = 0
    max_jobs = SETTINGS.get("max_jobs", 10)
    poll_delay = SETTINGS.get("poll_delay", 0.5)


class Peer:
    async def open(self) -> None:
        self._redis = await create_pool(REDIS)

    async def submit(self, task: str, number: int = 0) -> None:
        await self._redis.enqueue_job(task, number)

    async def submit_many(self, task: str, numbers: Sequence[int]) -> None:
        for number in numbers:
            await self._redis.enqueue_job(task, number)

    async def submit_due(self, numbers: Sequence[int], at: float) -> None:
        for number in numbers:
            await self._redis.enqueue_job("stamp", number, _defer_until=datetime.fromtimestamp(at, UTC))

    async def fill(self, count: int) -> None:
        """As it enqueues: the job under a key, its id into a sorted set."""
        job = await self._redis.enqueue_job("noop", 0)
        assert job is not None
        body = await self._redis.get(job_key_prefix + job.job_id)
        score = await self._redis.zscore(default_queue_name, job.job_id)
        for start in range(0, count - 1, 1000):
            ids = [uuid.uuid4().hex for _ in range(min(1000, count - 1 - start))]
            pipeline = self._redis.pipeline(transaction=False)
            for job_id in ids:
                pipeline.psetex(job_key_prefix + job_id, 86_400_000, body)
            pipeline.zadd(default_queue_name, dict.fromkeys(ids, score))
            await pipeline.execute()

    async def remaining(self) -> int:
        return int(await self._redis.zcard(default_queue_name))
