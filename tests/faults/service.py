"""A service that jobs call, and that calls back when it is done."""

import asyncio
import random
from collections import Counter

import aiohttp
from aiohttp import web


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
