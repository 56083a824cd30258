"""The clients' calls, each recorded with how it ended as far as the client can know.

An answer of 4xx or 503 says for certain that nothing was done. No answer says nothing at all, nor does a 5xx of any
other kind. The SDK repeats a call under a key by itself, so that even a refusal may come after a try that was carried
out: there only an answer with a job in it is certain.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, Self

import aiohttp
import msgspec

from horae.client.client import AsyncClient
from horae.client.discovery import Connection
from horae.model.errors import HoraeError, Unreachable
from horae.model.job import JobRequest
from horae.wire.actions import ActionRequest
from horae.wire.jobs import JobResult

from .history import End, History
from .menu import references
from .truth import origin

ANSWER_SECONDS: Final = 3.0
PATIENCE_SECONDS: Final = 1.0
NOTHING_DONE: Final = 503
Answer = dict[str, Any]


class Refused(Exception):
    """An answer that is none of the good ones."""

    def __init__(self, status: int, retry_after: str | None) -> None:
        super().__init__(status)
        self.status, self.retry_after = status, retry_after


class Clients:
    """One client's ways to all servers: the SDK and plain HTTP. It turns to any of them, as behind a balancer."""

    def __init__(
        self,
        name: str,
        urls: Sequence[str],
        key: str,
        history: History,
        chance: random.Random,
        *,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self.name = name
        self.history = history
        self.chance = chance
        self._urls = urls
        self._sdk = [
            AsyncClient(connection=Connection(url, key), timeout=answer_seconds, patience=PATIENCE_SECONDS)
            for url in urls
        ]
        self._timeout = aiohttp.ClientTimeout(total=answer_seconds)
        self._headers = {"Authorization": f"Bearer {key}"}
        self._session: aiohttp.ClientSession

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(headers=self._headers, timeout=self._timeout)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()
        for client in self._sdk:
            await client.close()

    @property
    def sdk(self) -> AsyncClient:
        return self.chance.choice(self._sdk)

    async def submit(self, job: JobRequest, key: str | None = None) -> str | None:
        """By the SDK: the job's id, if one came back."""

        async def act() -> Answer:
            return {"jobs": [(await self.sdk.submit(job, key)).id]}

        answer = await self._recorded("submit", act, sure=key is None, **asked_for(job, key))
        return answer["jobs"][0] if answer else None

    async def submit_raw(self, job: JobRequest, key: str | None = None) -> str | None:
        async def act() -> Answer:
            headers = {} if key is None else {"Idempotency-Key": key}
            return {"jobs": [(await self._post("/v1/jobs", msgspec.json.encode(job), headers))["id"]]}

        answer = await self._recorded("submit raw", act, **asked_for(job, key))
        return answer["jobs"][0] if answer else None

    async def submit_many(self, jobs: list[JobRequest]) -> list[str | None]:
        async def act() -> Answer:
            return {"jobs": [item.id for item in (await self.sdk.submit_many(jobs)).items]}

        return (await self._recorded("submit many", act, refs=references(jobs)) or {"jobs": []})["jobs"]

    async def submit_many_raw(self, jobs: list[JobRequest]) -> list[str | None]:
        async def act() -> Answer:
            items = (await self._post("/v1/jobs/bulk", msgspec.json.encode(jobs), {}))["items"]
            refused = [item.get("retry_after") for item in items if "id" not in item]
            return {"jobs": [item.get("id") for item in items], "retry_after": refused}

        return (await self._recorded("submit many raw", act, refs=references(jobs)) or {"jobs": []})["jobs"]

    async def cancel(self, job: str) -> None:
        async def act() -> Answer:
            return {"state": (await self.sdk.cancel(job)).state}

        await self._recorded("cancel", act, sure=False, jobs=[job])

    async def cancel_all(self, jobs: list[str], request: ActionRequest) -> None:
        async def act() -> Answer:
            return {"action": str((await self.sdk.act(request)).id)}

        await self._recorded("cancel many", act, sure=False, jobs=jobs)

    async def result(self, job: str, wait: float, **more: Any) -> Answer | None:
        async def act() -> Answer:
            return described(await self.sdk.result(job, wait))

        return await self._recorded("result", act, job=job, **more)

    async def _post(self, path: str, body: bytes, headers: dict[str, str]) -> Any:
        url = self.chance.choice(self._urls) + path
        headers = {"Content-Type": "application/json", **headers}
        async with self._session.post(url, data=body, headers=headers) as response:
            content = await response.read()
            if response.status >= 300:
                raise Refused(response.status, response.headers.get("Retry-After"))
            return msgspec.json.decode(content)

    async def _recorded(
        self, name: str, act: Callable[[], Awaitable[Answer]], *, sure: bool = True, **asked: Any
    ) -> Answer | None:
        """`sure`: a refusal means that nothing was done."""
        number = self.history.invoke(self.name, name, **asked)
        try:
            answer = await act()
        except (HoraeError, Refused) as error:
            certain = sure and not isinstance(error, Unreachable) and nothing_done(error.status)
            more = {"retry_after": error.retry_after} if isinstance(error, Refused) else {}
            self.history.end(number, End.FAILED if certain else End.UNKNOWN, status=error.status, **more)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            self.history.end(number, End.UNKNOWN, why=type(error).__name__)
        except asyncio.CancelledError:
            self.history.end(number, End.UNKNOWN, why="stopped waiting")
            raise
        else:
            self.history.end(number, End.OK, **answer)
            return answer
        return None


def asked_for(job: JobRequest, key: str | None) -> dict[str, Any]:
    """What the history says of a submit."""
    keyed = {} if key is None else {"key": key}
    return {"refs": references([job]), "delay": bool(job.delay), **keyed}


def nothing_done(status: int) -> bool:
    return status < 500 or status == NOTHING_DONE


def described(result: JobResult) -> Answer:
    raw = result.result
    said = origin(bytes(raw).decode()) if isinstance(raw, msgspec.Raw) else None
    return {"state": result.state.value, "origin": said}
