"""DBOS: `python dbos_peer.py` runs the workflows of a queue; the desk enqueues them by its client."""

import asyncio
import json
import os
import threading
import time
from collections.abc import Sequence

import psycopg
import recording
from dbos import DBOS, DBOSClient

STORE = os.environ["RACE_STORE"]
SETTINGS = json.loads(os.environ["RACE_SETTINGS"])
QUEUE = VERSION = "race"
COPY = """
with sample as (select * from dbos.workflow_status where name = 'noop' order by created_at desc limit 1), copy as (
    insert into dbos.workflow_status select (
        jsonb_populate_record(
            null::dbos.workflow_status, to_jsonb(sample) || jsonb_build_object('workflow_uuid', gen_random_uuid())
        )
    ).*
    from sample, generate_series(2, %s)
    returning workflow_uuid
)
insert into dbos.workflow_input (workflow_uuid, inputs)
select copy.workflow_uuid, input.inputs from copy, sample join dbos.workflow_input input using (workflow_uuid)
"""
"""A workflow's inputs stand in a table of their own: without them it is taken from the queue and never runs."""


@DBOS.workflow(name="noop")
def noop(number: int = 0) -> None:
    recording.noop()


@DBOS.workflow(name="stamp")
def stamp(number: int) -> None:
    recording.stamp(number)


@DBOS.workflow(name="work")
def work(number: int) -> None:
    recording.work(number)


def launch(executor: str) -> None:
    config = {"name": "race", "system_database_url": STORE, "application_version": VERSION, "executor_id": executor}
    DBOS(config=config | {"log_level": "WARNING", "sys_db_pool_size": 20})
    DBOS.launch()
    DBOS.register_queue(QUEUE, **SETTINGS)


class Peer:
    async def open(self) -> None:
        """The schema is made by a start of the program itself, which refuses to run beside an event loop."""
        await asyncio.to_thread(launch, "desk")
        DBOS.destroy()
        self._client = DBOSClient(system_database_url=STORE)
        self._store = psycopg.connect(STORE, autocommit=True)

    async def submit(self, task: str, number: int = 0, **options: float) -> None:
        self._client.enqueue({"workflow_name": task, "queue_name": QUEUE, "app_version": VERSION, **options}, number)

    async def submit_many(self, task: str, numbers: Sequence[int]) -> None:
        for number in numbers:
            await self.submit(task, number)

    async def submit_due(self, numbers: Sequence[int], at: float) -> None:
        for number in numbers:
            await self.submit("stamp", number, delay_seconds=at - time.time())

    async def fill(self, count: int) -> None:
        await self.submit("noop")
        self._store.execute(COPY, (count,))

    async def remaining(self) -> int:
        left = (
            "select count(*) from (select from dbos.workflow_status where status in ('ENQUEUED', 'PENDING') limit 1) w"
        )
        return self._store.execute(left).fetchone()[0]


if __name__ == "__main__":
    launch(os.environ["RACE_WORKER"])
    threading.Event().wait()
