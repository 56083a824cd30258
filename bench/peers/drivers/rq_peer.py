"""RQ on Redis: `python rq_peer.py` runs jobs in one process, without a fork for each; the desk takes them in."""

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime

import recording
from redis import Redis
from rq import Queue, SimpleWorker

connection = Redis.from_url(os.environ["RACE_STORE"])
queue = Queue("race", connection=connection)
PART = 1000


class Peer:
    async def open(self) -> None:
        connection.ping()

    async def submit(self, task: str, number: int = 0) -> None:
        queue.enqueue(f"rq_peer.{task}", number, result_ttl=0)

    async def submit_many(self, task: str, numbers: Sequence[int]) -> None:
        for start in range(0, len(numbers), PART):
            with connection.pipeline() as pipeline:
                data = [
                    Queue.prepare_data(f"rq_peer.{task}", (number,), result_ttl=0)
                    for number in numbers[start : start + PART]
                ]
                queue.enqueue_many(data, pipeline=pipeline)
                pipeline.execute()

    async def submit_due(self, numbers: Sequence[int], at: float) -> None:
        due = datetime.fromtimestamp(at, UTC)
        for number in numbers:
            queue.enqueue_at(due, "rq_peer.stamp", number, result_ttl=0)

    async def fill(self, count: int) -> None:
        await self.submit_many("noop", range(count))

    async def remaining(self) -> int:
        return queue.count + queue.started_job_registry.count


def noop(number: int = 0) -> None:
    recording.noop()


def stamp(number: int) -> None:
    recording.stamp(number)


def work(number: int) -> None:
    recording.work(number)


def main() -> None:
    settings = json.loads(os.environ["RACE_SETTINGS"])
    SimpleWorker([queue], connection=connection).work(logging_level="WARNING", with_scheduler=True, **settings)


if __name__ == "__main__":
    main()
