"""The rarer things that clients and operators do, so that they too are under way when a fault strikes."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final
from uuid import UUID

from horae.model.actions import ActionKind
from horae.model.errors import HoraeError
from horae.model.kinds import HttpCall
from horae.model.retry import RetryPolicy
from horae.model.task import TaskDefinition
from horae.model.unique import Unique
from horae.wire.actions import ActionRequest, JobsFilter
from horae.wire.gates import GateCreate

from .calls import Clients
from .menu import TENANTS, Menu

PAUSE_SECONDS: Final = 2.0
GATE_SECONDS: Final = 0.5
FAR_SECONDS: Final = 20.0
"""Later than the action that cancels these jobs; soon enough to drain if it never comes."""


def calling(url: str) -> TaskDefinition:
    """A call whose end comes by a callback."""
    call = HttpCall(url=url, callback=True, callback_timeout="20s")
    return TaskDefinition(name="calling", http=call, max_attempts=50, retry=RetryPolicy(first=0.2, cap=1), timeout="5s")


class Errands:
    def __init__(self, client: Clients, menu: Menu, chance: random.Random, *, calls: bool) -> None:
        self._client = client
        self._menu = menu
        self._chance = chance
        self._errands: list[Callable[[], Awaitable[None]]] = [
            self._gate, self._act, self._unique, self._give_up, self._stop, self._stop,
            *([self._call] if calls else []),
        ]  # fmt: skip

    async def run(self, until: asyncio.Event) -> None:
        """Side by side: one that waits for a server that is away holds up no other."""
        await asyncio.gather(*(self._repeat(errand, until) for errand in self._errands))

    async def _repeat(self, errand: Callable[[], Awaitable[None]], until: asyncio.Event) -> None:
        while not until.is_set():
            with suppress(HoraeError, OSError):
                await errand()
            await asyncio.sleep(PAUSE_SECONDS * self._chance.uniform(0.5, 1.5))

    async def _gate(self) -> None:
        """Opens by itself, whatever becomes of us."""
        await self._client.sdk.create_gate(GateCreate(reason="chaos", task="limited", expires_in=GATE_SECONDS))

    async def _act(self) -> None:
        """Only on jobs we know of: what it does to others could not be told from what nobody asked for."""
        tenant = TENANTS[0]
        jobs = self._menu.jobs(5, kind="quick", tenant=tenant, delay=FAR_SECONDS)
        found = [job for job in [await self._client.submit(job, f"key-{job.params['ref']}") for job in jobs] if job]
        wanted = JobsFilter(tenant=tenant, ids=[UUID(job) for job in found])
        await self._client.cancel_all(found, ActionRequest(action=ActionKind.CANCEL, filter=wanted))

    async def _unique(self) -> None:
        job = self._menu.job("quick")
        job.unique = Unique(by=["ref"])
        await self._client.submit(job, f"key-{job.params['ref']}")

    async def _give_up(self) -> None:
        job = self._menu.job("failing")
        job.params["times"], job.max_attempts = 99, 2
        await self._client.submit(job)

    async def _stop(self) -> None:
        """Cancels a job that runs."""
        job = self._menu.job("short")
        job.params["seconds"] = 1.0
        found = await self._client.submit(job)
        await asyncio.sleep(self._chance.uniform(0.05, 0.9))
        if found is not None:
            await self._client.cancel(found)

    async def _call(self) -> None:
        await self._client.submit_many([self._menu.job("calling") for _ in range(3)])
