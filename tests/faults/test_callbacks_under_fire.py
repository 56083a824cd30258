"""Workers and servers are killed while jobs are called, parked and called back for."""

import asyncio
import random
from collections import Counter
from functools import partial
from typing import Any

import aiohttp
from aiohttp import web

from horae.client.handles import Job
from horae.model.job import JobRequest
from horae.model.kinds import HttpCall
from horae.model.placement import Requirements
from horae.model.retry import RetryPolicy
from horae.model.task import TaskDefinition
from horae.testing.stack import Stack
from horae.testing.waiting import wait_for

from .conftest import SHORT_LEASE

JOBS = 15
"""Are submitted before each kill."""
KILLED = ("a-worker", "b", "b-worker", "a")


class Service:
    """Takes jobs on and calls back, at once or later, until it has an answer. Remembers each job by its key."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.url = ""
        self.latest: dict[str, str] = {}
        self.answers: Counter[int] = Counter()
        self._background: set[asyncio.Task[None]] = set()
        self._http = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5))

    async def take_on(self, request: web.Request) -> web.Response:
        job, address = request.headers["Idempotency-Key"], request.headers["Horae-Callback"]
        self.latest[job] = address
        pause = self._random.choice([0, 0, 0.05, 0.3, 1.0])
        task = asyncio.ensure_future(self._call_back(job, address, pause))
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        if not pause:
            await asyncio.sleep(0.02)  # Often enough the callback is quicker than this answer.
        return web.Response(status=202)

    async def _call_back(self, job: str, address: str, pause: float) -> None:
        await asyncio.sleep(pause)
        # A later attempt has another address, and takes it from here.
        while self.latest[job] == address:
            status = await self._say(job, address)
            self.answers[status] += 1
            if status in (200, 404, 409):
                return
            await asyncio.sleep(0.1)

    async def _say(self, job: str, address: str) -> int:
        try:
            async with self._http.post(address, json={"state": "succeeded", "result": job}) as answer:
                return answer.status
        except (aiohttp.ClientError, TimeoutError, OSError):
            return 0

    async def __aenter__(self) -> "Service":
        app = web.Application()
        app.router.add_post("/", self.take_on)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/"
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in list(self._background):
            task.cancel()
        await self._http.close()
        await self._runner.cleanup()


async def http_worker(stack: Stack, name: str, server: str) -> Any:
    arguments = ["worker", "--kinds", "http", "--allow-networks", "127.0.0.1", "--labels", "reach=inner"]
    arguments += ["--name", name, "--url", stack.address(server), "--key-file", str(stack._key_file)]
    arguments += ["--state", str(stack.folder / f"state-{name}"), "--drain-timeout", "2s"]
    return await stack._start(name, arguments, {}, stack.workers)


async def test_killed_workers_and_servers_lose_no_callback(stack: Stack):
    """Of two servers and two workers each is killed in its turn; every job succeeds, with its own result."""
    servers = {name: await stack.server(name, **SHORT_LEASE) for name in ("a", "b")}
    workers = {f"{name}-worker": await http_worker(stack, f"{name}-worker", name) for name in servers}
    async with Service(7) as service:
        call = HttpCall(url=service.url, callback=True, callback_timeout="20s")
        definition = TaskDefinition(
            name="take-on", http=call, requires=Requirements(labels={"reach": "inner"}), max_attempts=50,
            retry=RetryPolicy(first=0.2, cap=1), timeout="5s",
        )  # fmt: skip
        for name in workers:
            await stack.until_joined(name)
        with stack.client() as client:
            client.tasks.put(definition)
        jobs: list[str] = []
        for name in KILLED:
            fresh = await submitted(stack)
            jobs += fresh
            await wait_for(lambda: service.latest.keys() & fresh, 30)  # noqa: B023 asked at once
            await (workers | servers)[name].kill()
            if name in servers:
                servers[name] = await stack.server(name, **SHORT_LEASE)
            else:
                workers[name] = await http_worker(stack, name, name[0])
        with stack.client() as client:
            results = {job: await wait_for(partial(result, client, job), 60, what=f"the end of {job}") for job in jobs}
    assert results == {job: (job,) for job in jobs}
    print(f"the service's reports were answered with {dict(service.answers)}")


async def submitted(stack: Stack) -> set[str]:
    with stack.client() as client:
        return {job.id for job in client.submit_many([JobRequest(task="take-on")] * JOBS).items}


def result(client: Any, job: str) -> tuple[object] | None:
    found = client.job(job)
    assert found.state not in {"failed", "cancelled"}, found
    return (Job(client, job).result(1),) if found.state == "succeeded" else None
