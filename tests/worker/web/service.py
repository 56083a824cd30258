"""A real service on loopback for calls to reach, and an errand as the agent would give it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web

from horae.model.kinds import HttpCall
from horae.model.task import TaskDefinition
from horae.model.work import Grant
from horae.wire.briefs import Brief, Callback
from horae.worker.errands.errand import Outcome, StopOrder
from horae.worker.web import HttpRunner

JOB = "01900000-0000-7000-8000-000000000001"
Answering = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Errand:
    def __init__(self, call: HttpCall, params: Any, brief: dict[str, Any], timeout: float | None) -> None:
        self.grant = Grant(
            id=JOB, lane=1, attempt=3, task="call", params=msgspec.Raw(msgspec.json.encode(params)), timeout=timeout
        )
        self.brief = Brief(id=JOB, attempt=3, tenant="t", task=TaskDefinition(name="call", http=call), **brief)
        self.folder = Path("nowhere")
        self.mark = "agent/job/3"
        self.stop: asyncio.Future[StopOrder] = asyncio.get_running_loop().create_future()
        self.written = ""

    def write(self, stream: str, data: bytes) -> None:
        assert stream == "system"
        self.written += data.decode()


class Service:
    """Remembers what it was asked; answers as the test says."""

    def __init__(self) -> None:
        self.asked: list[tuple[web.Request, bytes]] = []
        self.answer: Answering | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def says(self, *args: Any, **kwargs: Any) -> None:
        async def answer(_: web.Request) -> web.Response:
            return web.Response(*args, **kwargs)

        self.answer = answer

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append((request, await request.read()))
        if self.answer is None:
            return web.json_response({"ok": True})
        return await self.answer(request)

    @property
    def headers(self) -> Any:
        return self.asked[-1][0].headers


@asynccontextmanager
async def serving() -> AsyncIterator[Service]:
    service = Service()
    app = web.Application(client_max_size=2**26)
    app.router.add_route("*", "/{path:.*}", service.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    service.port = site._server.sockets[0].getsockname()[1]
    try:
        yield service
    finally:
        await runner.cleanup()


class Caller:
    """Runs calls as an agent that may reach loopback."""

    def __init__(self, allow_networks: tuple[str, ...] = ("127.0.0.0/8",), **more: Any) -> None:
        self.runner = HttpRunner(
            None, server_url="http://horae.test:8420/below/", allow_networks=allow_networks, **more
        )
        self.errand: Errand | None = None

    def errand_of(
        self, url: str, params: Any = None, *, secrets: dict[str, str] | None = None, callback_url: str | None = None,
        timeout: float | None = 20, **call: Any,
    ) -> Errand:  # fmt: skip
        brief: dict[str, Any] = {"secrets": secrets or {}}
        if callback_url is not None:
            brief["callback"] = Callback(url=callback_url)
        self.errand = Errand(HttpCall(url=url, **call), params or {}, brief, timeout)
        return self.errand

    async def call(self, url: str, params: Any = None, **more: Any) -> Outcome:
        return await self.runner.run(self.errand_of(url, params, **more))
