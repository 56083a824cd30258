"""The driver: several clients that ask for everything at once, at a pace that spreads the jobs over the faults."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Final

from horae.model.errors import HoraeError
from horae.model.job import JobRequest
from horae.testing.waiting import wait_for
from horae.wire.access import TenantCreate
from horae.wire.limits import LimitPut

from .calls import Clients
from .errands import Errands, calling
from .history import History
from .menu import FLOOD, LIMITS, SCHEDULES, TENANTS, Menu

CLIENTS: Final = 6
BULK: Final = 60
LONG_BULKS: Final = 0.1
"""The share of bulk submits that are long enough to go another way into the database."""
FLOOD_RATE: Final = 100.0
"""Submits a second that the flooding tenant may do; it tries three times as many."""
TRICKLE: Final = 20.0
LONGEST_PAUSE: Final = 5.0
WAIT_SECONDS: Final = 4.0
READS: Final = 5
TAKEN_SECONDS: Final = 30.0


class Pace:
    """`total` jobs over `seconds`, and then a trickle: no phase is over early, and no fault strikes an idle system."""

    def __init__(self, total: int, seconds: float) -> None:
        self._total = total
        self._rate = total / max(seconds, 1.0)
        self._clock = asyncio.get_running_loop().time
        self._seen_at = self._clock()
        self._until = self._seen_at + seconds
        self._room = float(BULK)
        self._taken = 0

    @property
    def done(self) -> bool:
        return self._all_taken and self._clock() >= self._until

    @property
    def _all_taken(self) -> bool:
        return self._taken >= self._total

    async def take(self, number: int) -> None:
        rate, now = TRICKLE if self._all_taken else self._rate, self._clock()
        self._room = min(self._room + rate * (now - self._seen_at), BULK) - number
        self._seen_at = now
        self._taken += number
        await asyncio.sleep(min(max(0.0, -self._room / rate), LONGEST_PAUSE))


class Workload:
    def __init__(self, urls: Sequence[str], key: str, history: History, chance: random.Random) -> None:
        self._urls = urls
        self._key = key
        self._history = history
        self._chance = chance
        self._menu = Menu(chance)
        self._doubtful: dict[str, JobRequest] = {}
        """Jobs by key whose submit has no answer yet."""
        self._large: list[str] = []

    async def __aenter__(self) -> "Workload":
        self._stack = AsyncExitStack()
        names = [f"client-{n}" for n in range(CLIENTS)]
        self._clients = [
            await self._stack.enter_async_context(Clients(name, self._urls, self._key, self._history, self._chance))
            for name in names
        ]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def prepare(self, service: str | None) -> None:
        """Tenants, limits, quotas and schedules. Workers must be there: they bring the tasks. `service` calls back."""
        client = self._clients[0].sdk
        self._calls = service is not None
        if service is not None:
            await client.put_task(calling(service))
        for tenant in {*TENANTS, FLOOD} - {"default"}:
            await client.create_tenant(TenantCreate(name=tenant))
        for task, most in LIMITS.items():
            await client.put_limit(task, LimitPut(task=task, max_running=most))
        await client.set_quota("tenant", FLOOD, submit_rate=FLOOD_RATE, burst=int(FLOOD_RATE))
        for definition in SCHEDULES:
            await client.schedules.create(definition)

    async def run(self, jobs: int, seconds: float, until: asyncio.Event | None = None) -> None:
        """Until all jobs are submitted, and `until` is set."""
        pace = Pace(jobs, seconds)
        loops = [self._loop(client, pace, until) for client in self._clients]
        errands = Errands(self._clients[0], self._menu, self._chance, calls=self._calls)
        await asyncio.gather(*loops, *([] if until is None else [errands.run(until)]))

    async def _loop(self, client: Clients, pace: Pace, until: asyncio.Event | None) -> None:
        acts: dict[Callable[[Clients, Pace], Awaitable[None]], float] = {
            self._single: 10, self._bulk: 3, self._later: 2, self._twice: 2, self._cancel: 1, self._wait: 2,
        }  # fmt: skip
        while not (pace.done and (until is None or until.is_set())):
            act = self._chance.choices(list(acts), list(acts.values()))[0]
            await act(client, pace)

    async def _single(self, client: Clients, pace: Pace) -> None:
        await pace.take(1)
        job = self._menu.job()
        submit = self._chance.choice((client.submit, client.submit_raw, partial(self._keyed, client)))
        self._remember(await submit(job), job)

    async def _keyed(self, client: Clients, job: JobRequest) -> str | None:
        key = f"key-{job.params['ref']}"
        submit = self._chance.choice((client.submit, client.submit_raw))
        found = await submit(job, key)
        if found is None:
            self._doubtful[key] = job
        return found

    async def _twice(self, client: Clients, pace: Pace) -> None:
        """The same at the same time under one key, by different ways."""
        await pace.take(1)
        job = self._menu.job("quick")
        await asyncio.gather(*(self._keyed(client, job) for _ in range(2)))

    async def _bulk(self, client: Clients, pace: Pace) -> None:
        number = 220 if self._chance.random() < LONG_BULKS else self._chance.randint(BULK // 3, BULK)
        await pace.take(number)
        jobs = self._menu.jobs(number)
        submit = self._chance.choice((client.submit_many, client.submit_many_raw))
        for found, job in zip(await submit(jobs), jobs, strict=False):
            self._remember(found, job)

    async def _later(self, client: Clients, pace: Pace) -> None:
        await pace.take(1)
        await self._keyed(client, self._menu.job(delay=round(self._chance.uniform(0.1, 2.0), 2)))

    async def _cancel(self, client: Clients, pace: Pace) -> None:
        """Some time between the submit and the end, or a little after."""
        await pace.take(1)
        job = await self._keyed(client, self._menu.job("short"))
        if job is not None:
            await asyncio.sleep(self._chance.uniform(0.0, 0.03))
            await client.cancel(job)

    async def _wait(self, client: Clients, pace: Pace) -> None:
        await pace.take(1)
        job = await self._keyed(client, self._menu.job(self._chance.choice(("quick", "gentle", "large"))))
        if job is not None:
            await client.result(job, self._chance.uniform(0.1, WAIT_SECONDS))

    def _remember(self, found: str | None, job: JobRequest) -> None:
        if found is not None and job.task == "large":
            self._large.append(found)

    async def flood(self, seconds: float) -> None:
        """Three times what the tenant may submit; what is refused is refused."""
        client = self._clients[0]
        pace = Pace(int(3 * FLOOD_RATE * seconds), seconds)
        while not pace.done:
            await pace.take(BULK)
            await client.submit_many_raw(self._menu.jobs(BULK, kind="quick", tenant=FLOOD))

    async def take_submits(self) -> None:
        """When all is well each server takes jobs again, one by one and in bulk; the fire may have left it some to do
        first."""
        for url in self._urls:
            async with Clients("prober", [url], self._key, self._history, self._chance) as client:
                await wait_for(partial(self._taken_by, client), TAKEN_SECONDS, interval=0.5, what=f"{url} to take jobs")

    async def _taken_by(self, client: Clients) -> bool:
        many = self._menu.jobs(2)
        if await client.submit(self._menu.job("quick")) is None:
            return False
        found = await client.submit_many(many)
        return len(found) == len(many) and None not in found

    async def ask_again(self) -> None:
        """When all is well: for what is in doubt."""
        for key, job in self._doubtful.items():
            await self._clients[0].submit(job, key)

    async def stop_schedules(self) -> None:
        client = self._clients[0]

        async def stop(name: str) -> bool:
            try:
                await client.sdk.schedules.pause(name)
            except HoraeError:
                return False
            return True

        for schedule in SCHEDULES:
            await wait_for(lambda name=schedule.name: stop(name), 30, interval=0.5, what=f"the end of {schedule.name}")

    async def read_large(self) -> None:
        """Once all jobs have ended. A machine that has too much to do may need a second try."""
        for job in self._large:
            for _ in range(READS):
                if await self._clients[0].result(job, 0.0, last=True) is not None:
                    break
                await asyncio.sleep(1.0)  # Whatever held it up may pass.
