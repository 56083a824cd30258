"""The load: many small streams, each with its own beat, that do what users, operators and their browsers do.

The loop is open: what is due begins, however long what came before takes, so that a system that gets slower is asked
no less. All of it together must stay far below what the machine can do; the report tells what it used.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from typing import Final, NamedTuple

from horae.bench.installation import Installation
from horae.bench.soak.acts import Acts
from horae.bench.soak.jobs import app
from horae.bench.soak.requests import KINDS, LIMITED, TENANTS
from horae.bench.soak.tally import Act, Tally
from horae.bench.soak.visits import Visits
from horae.client.client import AsyncClient
from horae.client.discovery import Connection
from horae.model.definition import ScheduleDefinition
from horae.model.job import DEFAULT_TENANT
from horae.model.limits import Field
from horae.model.overlap import Missed, Overlap
from horae.wire.access import TenantCreate
from horae.wire.limits import LimitPut

AT_ONCE: Final = 50
"""Of one kind under way; more are left out, and told."""
SCHEDULES: Final = 10


class Stream(NamedTuple):
    every: float
    act: Act


async def prepare(place: Installation, client: AsyncClient) -> None:
    """Tenants, tasks, limits and schedules that are there all the time."""
    for number, tenant in enumerate(TENANTS):
        await client.create_tenant(TenantCreate(name=tenant, weight=1 + number % 3))
    await place.register(app)
    await client.put_limit(LIMITED, LimitPut(queue=LIMITED, max_running=2, rate="50/s"))
    await client.put_limit("keys", LimitPut(task="soak.work", each=[Field.KEY], max_running=1))
    for number in range(SCHEDULES):
        overlap = Overlap.SKIP if number % 2 else Overlap.ALLOW
        definition = ScheduleDefinition(
            name=f"every-{number + 1}", task="soak.noop", every=f"{number + 1}s", missed=Missed.SKIP, overlap=overlap
        )
        await client.schedules.create(definition, tenant=_owner(number))


async def finish(client: AsyncClient) -> None:
    """Nothing new comes of itself any more."""
    for number in range(SCHEDULES):
        await client.schedules.delete(f"every-{number + 1}", tenant=_owner(number))


def _owner(number: int) -> str:
    """The first is one that the console's pages can ask for: they name no tenant."""
    return (DEFAULT_TENANT, *TENANTS)[number % (1 + len(TENANTS))]


@asynccontextmanager
async def loaded(place: Installation, client: AsyncClient, rate: float, tally: Tally) -> AsyncIterator[asyncio.Lock]:
    """The load runs as long as the block. Whoever holds the lock keeps visitors of the console out."""
    calm = asyncio.Lock()
    acts, visits = Acts(place, client, tally), Visits(place, client, calm)
    running = [
        asyncio.create_task(_keep_on(kind, stream, tally)) for kind, stream in _streams(acts, visits, rate).items()
    ]
    try:
        yield calm
    finally:
        for stream in running:
            stream.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def _streams(acts: Acts, visits: Visits, rate: float) -> Mapping[str, Stream]:
    submits = {name: Stream(kind.every, partial(acts.submit, kind)) for name, kind in KINDS.items()}
    return submits | {
        "timed": Stream(0.2, acts.time_one),
        "bulk": Stream(1.0, partial(acts.submit_bulk, round(rate))),
        "twice with one key": Stream(1.0, acts.submit_twice),
        "cancelled": Stream(2.0, acts.cancel_one),
        "large, read": Stream(5.0, acts.read_large),
        "explained": Stream(1.0, acts.explain_one),
        "lists": Stream(2.0, acts.list_some),
        "pulses": Stream(2.0, acts.listen_to_pulses),
        "events": Stream(2.0, acts.listen_to_job),
        "logs followed": Stream(5.0, acts.follow_logs),
        "schedules made": Stream(10.0, acts.make_schedule),
        "dead letters": Stream(20.0, acts.clear_dead_letters),
        "guest workers": Stream(60.0, acts.host_guest),
        "console": Stream(6.0, visits.visit),
    }


async def _keep_on(kind: str, stream: Stream, tally: Tally) -> None:
    began = time.monotonic() + random.uniform(0, stream.every)
    under_way: set[asyncio.Task[None]] = set()
    try:
        for number in count():
            await asyncio.sleep(max(began + number * stream.every - time.monotonic(), 0))
            if len(under_way) >= AT_ONCE:
                tally.left_out[kind] += 1
                continue
            task = asyncio.create_task(tally.count(kind, stream.act))
            under_way.add(task)
            task.add_done_callback(under_way.discard)
    finally:
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


def open_client(place: Installation) -> AsyncClient:
    return AsyncClient(connection=Connection(place.url, place.key))
