"""What users do once: submit, wait, cancel, listen for a while and go away."""

import asyncio
import random
import time
from contextlib import aclosing, suppress
from itertools import count
from typing import Final
from urllib.parse import urlsplit
from uuid import uuid4

import msgspec

from horae.bench.generator import END_OF_HEAD
from horae.bench.installation import Installation
from horae.bench.soak.requests import GUESTS, LARGE, TENANTS, Kind
from horae.bench.soak.tally import Tally
from horae.client.client import AsyncClient
from horae.model.definition import ScheduleDefinition
from horae.model.errors import SetupError
from horae.model.job import JobRequest
from horae.model.states import State
from horae.wire.actions import DeadLetterRequest, JobsFilter

APP: Final = "horae.bench.soak.jobs:app"
LONGEST_STAY: Final = 8.0
"""Seconds for which somebody listens."""
GUEST_SECONDS: Final = 10.0


class Acts:
    def __init__(self, place: Installation, client: AsyncClient, tally: Tally) -> None:
        self._place = place
        self._client = client
        self._tally = tally
        self._chance = random.Random()
        self._numbers = count(1)

    # Submits.

    async def submit(self, kind: Kind) -> None:
        await self._client.submit(kind.make(self._chance))

    async def submit_bulk(self, jobs: int) -> None:
        wanted = [JobRequest(task="soak.noop", tenant=TENANTS[number % len(TENANTS)]) for number in range(jobs)]
        answer = await self._client.submit_many(wanted)
        if answer.refused:
            raise SetupError(f"{answer.refused} of {jobs} jobs of a bulk submit were refused")

    async def submit_twice(self) -> None:
        job, key = self._job("noop"), uuid4().hex
        first = await self._client.submit(job, key)
        if (await self._client.submit(job, key)).id != first.id:
            raise SetupError("two submits with one idempotency key made two jobs")

    async def time_one(self) -> None:
        """How long a job waits for its start. The job itself says when that was."""
        at, began = self._tally.now(), time.monotonic_ns()
        job = await self._client.submit(self._job("started"))
        answer = await self._client.result(str(job.id))
        if not isinstance(answer.result, msgspec.Raw):
            raise SetupError(f"the job {job.id} is {answer.state.value} without a result after 30 s")
        self._tally.waits.append((at, (int(bytes(answer.result)) - began) / 1e6))

    async def cancel_one(self) -> None:
        """Now and then before it starts, mostly while it runs."""
        job = await self._client.submit(self._job("wait", seconds=60))
        await asyncio.sleep(self._chance.uniform(0, 1))
        await self._client.cancel(str(job.id), "no longer wanted")

    async def read_large(self) -> None:
        job = await self._client.submit(self._job("large", size=LARGE))
        answer = await self._client.result(str(job.id))
        if not isinstance(answer.result, msgspec.Raw) or len(answer.result) < LARGE:
            raise SetupError(f"the large result of the job {job.id}, {answer.state.value}, is not there")

    def _job(self, task: str, **params: object) -> JobRequest:
        return JobRequest(task=f"soak.{task}", params=params, tenant=self._chance.choice(TENANTS))

    # Looks.

    async def explain_one(self) -> None:
        job = await self._client.submit(JobRequest(task="soak.noop", delay=3, tenant=TENANTS[0]))
        await self._client.explain(str(job.id))
        await self._client.timeline(str(job.id))

    async def list_some(self) -> None:
        state = self._chance.choice(["scheduled", "running", "succeeded", "failed", "cancelled"])
        tenant = self._chance.choice([None, *TENANTS])
        page = await self._client.jobs(status=state, tenant=tenant, limit=50)
        if page.next_cursor is not None:
            await self._client.jobs(status=state, tenant=tenant, limit=50, cursor=page.next_cursor)

    # Listeners, who come and go.

    async def listen_to_pulses(self) -> None:
        """As a tab of the console does, and leaves as abruptly."""
        address = urlsplit(self._place.url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        head = f"GET /v1/events HTTP/1.1\r\nHost: horae\r\nAuthorization: Bearer {self._place.key}\r\n\r\n"
        try:
            writer.write(head.encode())
            if not (await reader.readuntil(END_OF_HEAD)).startswith(b"HTTP/1.1 200"):
                raise SetupError("the server refused a listener to pulses")
            with suppress(TimeoutError):
                async with asyncio.timeout(self._chance.uniform(1, LONGEST_STAY)):
                    while await reader.read(65536):
                        pass
        finally:
            writer.close()

    async def listen_to_job(self) -> None:
        """Half of them leave before the end."""
        job = await self._client.submit(JobRequest(task="soak.noop", delay=2, tenant=TENANTS[1]))
        async with aclosing(self._client.events(str(job.id))) as events:  # type: ignore[type-var]
            async for event in events:
                if event.state is not State.SCHEDULED or self._chance.random() < 0.5:
                    return

    async def follow_logs(self) -> None:
        job = await self._client.submit(self._job("talk", lines=200))
        lines = [line async for line in self._client.follow_logs(str(job.id))]
        if not lines:
            raise SetupError(f"the job {job.id} printed nothing")

    # Operators.

    async def make_schedule(self) -> None:
        name, tenant = f"passing-{next(self._numbers)}", self._chance.choice(TENANTS)
        await self._client.schedules.create(ScheduleDefinition(name=name, task="soak.noop", every="1s"), tenant=tenant)
        try:
            await asyncio.sleep(5)
            await self._client.schedules.pause(name, tenant=tenant)
        finally:
            # At the end of the soak too: a schedule that is left makes jobs for ever.
            await self._client.schedules.delete(name, tenant=tenant)

    async def clear_dead_letters(self) -> None:
        tenant = self._chance.choice(TENANTS)
        await self._client.dead_letters(tenant=tenant)
        await self._client.discard(DeadLetterRequest(filter=JobsFilter(tenant=tenant), reason="soak"))

    async def host_guest(self) -> None:
        """One more worker for some seconds. Every other one is killed, with what it runs."""
        number = next(self._numbers)
        runs = ("--app", APP, "--queues", GUESTS)
        guest = await self._place.start_worker(1, f"guest-{number}", runs=runs)
        # The installation would take its end for an accident.
        self._place.workers.remove(guest)
        try:
            await asyncio.sleep(GUEST_SECONDS)
            if self._chance.random() < 0.5:
                await guest.kill()
        finally:
            await guest.stop()
