"""Somebody signs in to the console, opens some of its pages, and is gone."""

import asyncio
import random
from typing import Final

from horae.bench.installation import Installation
from horae.bench.pages import Things, pages
from horae.bench.soak.requests import LIMITED, TENANTS
from horae.bench.visitor import visitor
from horae.client.client import AsyncClient
from horae.model.errors import SetupError
from horae.model.job import JobRequest

PAGES: Final = 8
PAUSE: Final = 0.4


class Visits:
    def __init__(self, place: Installation, client: AsyncClient, calm: asyncio.Lock) -> None:
        self._place = place
        self._client = client
        self._calm = calm
        """Held by whoever sets the clock: a session would end with its day, in the middle of a visit. One visit at a
        time: the clock must not wait for a queue of them."""

    async def visit(self) -> None:
        if self._calm.locked():
            return
        async with self._calm, visitor(self._place) as someone:
            for page in random.sample(pages(await self._look_around()), PAGES):
                await someone.open(page)
                await asyncio.sleep(PAUSE)

    async def _look_around(self) -> Things:
        dead = (await self._client.dead_letters()).causes
        # One of its own: those of schedules are taken back with them.
        waiting = await self._client.submit(JobRequest(task="soak.noop", delay=15, tenant=TENANTS[0]))
        return Things(
            waiting=str(waiting.id),
            scheduled=str(waiting.id),
            succeeded=await self._one("succeeded"),
            failed=await self._one("failed"),
            worker=(await self._client.workers()).items[0].id,
            task="soak.noop",
            queue="default",
            tenant=TENANTS[0],
            schedule="every-1",
            cause=next((cause.cause for cause in dead if cause.cause is not None), "none"),
            limit=LIMITED,
        )

    async def _one(self, status: str) -> str:
        """A job that ended so, else any that ended."""
        for state in (status, "succeeded,failed,cancelled,expired"):
            if found := (await self._client.jobs(status=state, limit=1)).items:
                return str(found[0].id)
        raise SetupError("no job has ended yet")
