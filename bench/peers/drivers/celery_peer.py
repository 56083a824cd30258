"""Celery, on Redis or RabbitMQ: `celery -A celery_peer worker` runs jobs; the desk takes them in."""

import json
import os
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime

import recording
from celery import Celery

STORE = os.environ["RACE_STORE"]
SETTINGS = json.loads(os.environ["RACE_SETTINGS"])
QUEUE = "race"

app = Celery("race", broker=STORE)
app.conf.update(task_default_queue=QUEUE, task_ignore_result=True, broker_connection_retry_on_startup=True)
app.conf.update(worker_enable_remote_control=False, worker_send_task_events=False, **SETTINGS)
if STORE.startswith("amqp"):
    # Accepted means that the broker has said so.
    app.conf.broker_transport_options = {"confirm_publish": True}


@app.task(name="noop")
def noop(number: int = 0) -> None:
    recording.noop()


@app.task(name="stamp")
def stamp(number: int) -> None:
    recording.stamp(number)


@app.task(name="work")
def work(number: int) -> None:
    recording.work(number)


class Peer:
    async def open(self) -> None:
        self._producer = app.amqp.Producer(app.connection_for_write(), auto_declare=False)
        app.amqp.queues[QUEUE](self._producer.channel).declare()

    async def submit(self, task: str, number: int = 0) -> None:
        app.tasks[task].apply_async((number,), producer=self._producer)

    async def submit_many(self, task: str, numbers: Sequence[int]) -> None:
        for number in numbers:
            await self.submit(task, number)

    async def submit_due(self, numbers: Sequence[int], at: float) -> None:
        eta = datetime.fromtimestamp(at, UTC)
        for number in numbers:
            stamp.apply_async((number,), eta=eta, producer=self._producer)

    async def fill(self, count: int) -> None:
        """On Redis a message is copied under tags of its own; RabbitMQ has nothing quicker than to publish."""
        if STORE.startswith("amqp"):
            await self.submit_many("noop", range(count))
            return
        client = self._producer.channel.client
        noop.apply_async((0,), producer=self._producer)
        sample = client.lindex(QUEUE, 0).decode()
        tag = json.loads(sample)["properties"]["delivery_tag"]
        copies = [sample.replace(tag, str(uuid.uuid4())) for _ in range(count - 1)]
        for start in range(0, len(copies), 1000):
            client.lpush(QUEUE, *copies[start : start + 1000])

    async def remaining(self) -> int:
        """RabbitMQ tells what waits, not what is delivered and unacknowledged."""
        channel = self._producer.channel
        if STORE.startswith("amqp"):
            return int(channel.queue_declare(QUEUE, passive=True).message_count)
        return int(channel.client.llen(QUEUE) + channel.client.hlen("unacked"))
