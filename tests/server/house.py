"""A real server on a real port, keys of every role, and clients that speak to it over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from horae.engine.access import Access
from horae.engine.masterkeys import MasterKeys, new_key
from horae.model.roles import Role
from horae.server.serving import Server, ServerConfig

TENANTS = ("red", "blue")
Keys = dict[tuple[str, Role], str]
"""Secrets, by tenant (or `root`) and role."""


async def furnish(access: Access) -> Keys:
    """Makes the tenants, and a key of every role for each of them and for none."""
    keys: Keys = {}
    for tenant in TENANTS:
        await access.create_tenant(None, tenant)
    for tenant in (None, *TENANTS):
        for role in Role:
            _, secret = await access.create_key(None, f"{tenant or 'root'}-{role}", role, tenant, None)
            keys[tenant or "root", role] = secret
    return keys


class Answer:
    """One HTTP answer, read to its end."""

    def __init__(self, status: int, headers: Any, body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)

    @property
    def code(self) -> str:
        """The code of a problem document; the answer must be one, complete and consistent."""
        assert self.headers["content-type"] == "application/problem+json", (self.status, self.body[:300])
        problem = self.json
        assert problem["status"] == self.status
        assert problem["title"]
        assert problem["detail"]
        assert problem["type"] == f"urn:horae:problem:{problem['code']}"
        return problem["code"]

    def __repr__(self) -> str:
        return f"{self.status} {self.body[:300]!r}"


class House:
    """A server and whoever knocks at its door. `red` and `blue` are tenants; `root` keys belong to none."""

    def __init__(self, server: Server, http: aiohttp.ClientSession) -> None:
        self.server = server
        self.engine = server.engine
        self.http = http
        self.url = server.url
        self.keys: Keys = {}

    async def furnish(self) -> None:
        self.keys = await furnish(self.engine.access)

    def key(self, who: str = "red", role: Role = Role.ADMIN) -> str:
        return self.keys[who, role]

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        who: str = "red",
        role: Role = Role.ADMIN,
        key: str | None = None,
        headers: dict[str, str] | None = None,
        head_only: bool = False,
        **params: Any,
    ) -> Answer:
        """`body`: bytes as they are, anything else as JSON. `key`: another one; the empty string for none.

        `head_only`: of an answer that has no end.
        """
        secret = self.key(who, role) if key is None else key
        sent = ({"authorization": f"Bearer {secret}"} if secret else {}) | (headers or {})
        data = (
            body if body is None or isinstance(body, bytes) or hasattr(body, "__aiter__") else msgspec.json.encode(body)
        )
        query = {name: str(value) for name, value in params.items()}
        async with self.http.request(method, self.url + path, data=data, headers=sent, params=query) as response:
            body = b"" if head_only and response.ok else await response.read()
            return Answer(response.status, response.headers, body)

    async def get(self, path: str, **more: Any) -> Answer:
        return await self.call("GET", path, **more)

    async def post(self, path: str, body: Any = None, **more: Any) -> Answer:
        return await self.call("POST", path, body, **more)

    async def put_task(self, name: str, *, who: str = "red", tenant: str | None = None, **definition: Any) -> Answer:
        params = {} if tenant is None else {"tenant": tenant}
        return await self.call("PUT", f"/v1/tasks/{name}", {"name": name, **definition}, who=who, **params)

    async def submit(self, task: str = "work", *, who: str = "red", **request: Any) -> str:
        answer = await self.post("/v1/jobs", {"task": task, **request}, who=who)
        assert answer.status == 201, answer
        return answer.json["id"]

    async def worker(self, *tasks: str, who: str = "red", **join: Any) -> "FakeWorker":
        definitions = [{"name": name} for name in tasks or ("work",)]
        request = {"name": "w", "host": "h", "slots": 10, "tasks": definitions, **join}
        answer = await self.post("/v1/workers", request, who=who, role=Role.WORKER)
        assert answer.status == 201, answer
        return FakeWorker(self, who, answer.json["worker_id"])


class FakeWorker:
    """A worker in its simplest form: it speaks the protocol and runs nothing."""

    def __init__(self, house: House, who: str, worker_id: int) -> None:
        self.house = house
        self.who = who
        self.id = worker_id
        self.number = 0

    async def call(self, path: str, body: Any = None, method: str = "POST") -> Answer:
        return await self.house.call(method, f"/v1/workers/{self.id}{path}", body, who=self.who, role=Role.WORKER)

    async def exchange(self, want: int = 0, wait: float = 0, **more: Any) -> dict[str, Any]:
        self.number += 1
        answer = await self.call("/exchange", {"want": want, "number": self.number, "wait": wait, **more})
        assert answer.status == 200, answer
        return {"jobs": [], "stale": [], "cancel": [], "drain": False} | answer.json

    async def take(self, want: int = 1, wait: float = 10) -> list[dict[str, Any]]:
        return (await self.exchange(want, wait))["jobs"]

    async def finish(self, *ends: dict[str, Any]) -> list[dict[str, Any]]:
        return (await self.exchange(finished=list(ends)))["stale"]

    async def heartbeat(self, **more: Any) -> Answer:
        return await self.call("/heartbeat", more)


def end(grant: dict[str, Any], how: str = "succeeded", **more: Any) -> dict[str, Any]:
    if how != "succeeded":
        more.setdefault("error", {"kind": "Boom", "message": "it broke"})
    return {"id": grant["id"], "lane": grant["lane"], "attempt": grant["attempt"], "end": how, **more}


async def running_job(house: House, **request: Any) -> tuple[FakeWorker, dict[str, Any]]:
    """A job of red's that runs, and the worker that runs it."""
    worker = await house.worker()
    await house.submit(**request)
    (grant,) = await worker.take()
    return worker, grant


@asynccontextmanager
async def open_house(dsn: str, folder: Path, *, keys: Keys | None = None) -> AsyncIterator[House]:
    """`keys` are those of a database that is furnished already."""
    secrets = MasterKeys([new_key()])
    config = ServerConfig(dsn=dsn, objects=str(folder / "objects"), port=0, allow_unsafe=True, secrets=secrets)
    server = Server(config)
    await server.start()
    timeout = aiohttp.ClientTimeout(total=60)
    try:
        async with aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(limit=0)) as http:
            house = House(server, http)
            house.keys = keys or await furnish(house.engine.access)
            yield house
    finally:
        await server.stop()
