"""Dramatiq on Redis: `dramatiq dramatiq_peer` runs jobs; the desk takes them in."""

import os
import time
from collections.abc import Sequence

import dramatiq
import recording
from dramatiq.brokers.redis import RedisBroker
from dramatiq.middleware import AgeLimit, Callbacks, Pipelines, Retries, ShutdownNotifications, TimeLimit

broker = RedisBroker(
    url=os.environ["RACE_STORE"],
    middleware=[AgeLimit(), TimeLimit(), ShutdownNotifications(), Callbacks(), Pipelines(), Retries()],
)
dramatiq.set_broker(broker)
QUEUE = "default"


@dramatiq.actor
def noop(number: int = 0) -> None:
    recording.noop()


@dramatiq.actor
def stamp(number: int) -> None:
    recording.stamp(number)


@dramatiq.actor
def work(number: int) -> None:
    recording.work(number)


class Peer:
    async def open(self) -> None:
        broker.client.ping()

    async def submit(self, task: str, number: int = 0) -> None:
        broker.get_actor(task).send(number)

    async def submit_many(self, task: str, numbers: Sequence[int]) -> None:
        for number in numbers:
            await self.submit(task, number)

    async def submit_due(self, numbers: Sequence[int], at: float) -> None:
        """Its API takes how many milliseconds from now."""
        for number in numbers:
            stamp.send_with_options(args=(number,), delay=max(int((at - time.time()) * 1000), 1))

    async def fill(self, count: int) -> None:
        """As its script enqueues: the message into a hash, its id into a list."""
        for start in range(0, count, 1000):
            messages = [noop.message(0) for _ in range(min(1000, count - start))]
            keyed = {m.message_id: m.copy(options={"redis_message_id": m.message_id}).encode() for m in messages}
            pipeline = broker.client.pipeline(transaction=False)
            pipeline.hset(f"{broker.namespace}:{QUEUE}.msgs", mapping=keyed)
            pipeline.rpush(f"{broker.namespace}:{QUEUE}", *keyed)
            pipeline.execute()

    async def remaining(self) -> int:
        return sum(broker.client.hlen(f"{broker.namespace}:{name}.msgs") for name in (QUEUE, f"{QUEUE}.DQ"))
