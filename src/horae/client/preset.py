"""Submitting a task with options fixed: one job, many, or one inside the caller's own database transaction."""

import asyncio
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, Final, Generic, ParamSpec, TypeVar

from horae.client import calls, transaction
from horae.client.calls import Call
from horae.client.clients import Clients
from horae.client.function import Function
from horae.client.handles import AsyncJob, Handle, Job
from horae.client.options import Options
from horae.model.errors import HoraeError, InvalidInput, UnknownTask, by_code
from horae.model.job import JobRequest
from horae.wire.jobs import BulkAnswer

P = ParamSpec("P")
R = TypeVar("R")
H = TypeVar("H", bound=Handle[Any, Any])
Item = Sequence[Any] | Mapping[str, Any]
"""The arguments of one job of many: a tuple by position, or a dict by name."""
Asked = tuple[Any, ...] | JobRequest
"""One job of many on its way: arguments that surely fit, or what was made of others."""

CHUNK: Final = 5000
"""Jobs in one call: PostgreSQL takes a third less for each of them than when a thousand come."""
CHUNK_BYTES: Final = 8 * 1024 * 1024
ABREAST: Final = 3
"""Calls of one `asubmit_many` under way: client, server and database work at the same time."""
_LISTED: Final = 5


class Preset(Generic[P, R]):
    def __init__(self, function: Function, options: Options, clients: Clients) -> None:
        self._function = function
        self._options = options
        self._clients = clients

    def submit(self, *args: P.args, **kwargs: P.kwargs) -> Job[R]:
        client = self._clients.sync
        request, key = self._request(args, kwargs), self._options.idempotency_key
        try:
            answer = client.submit(request, key)
        except UnknownTask:
            client.put_task(self._function.definition)
            answer = client.submit(request, key)
        return Job(client, answer.id, self._function.signature.returns, answer.warnings)

    async def asubmit(self, *args: P.args, **kwargs: P.kwargs) -> AsyncJob[R]:
        client = self._clients.asynchronous
        request, key = self._request(args, kwargs), self._options.idempotency_key
        try:
            answer = await client.submit(request, key)
        except UnknownTask:
            await client.put_task(self._function.definition)
            answer = await client.submit(request, key)
        return AsyncJob(client, answer.id, self._function.signature.returns, answer.warnings)

    def submit_many(self, items: Iterable[Item]) -> list[Job[R]]:
        """One job for each item, thousands to a call. If any is refused one error lists which; see `Bulk`."""
        client, returns = self._clients.sync, self._function.signature.returns
        bulk: Bulk[Job[R]] = self._bulk(items, lambda job_id: Job(client, job_id, returns))
        with bulk:
            for start, call in bulk.parts():
                answer = client.send(call)
                if bulk.unregistered(answer):
                    client.put_task(self._function.definition)
                    answer = client.send(call)
                bulk.take(start, answer)
        return bulk.finish()

    async def asubmit_many(self, items: Iterable[Item]) -> list[AsyncJob[R]]:
        """The same with several calls at once, so that jobs of different calls may overtake each other."""
        client, returns = self._clients.asynchronous, self._function.signature.returns
        bulk: Bulk[AsyncJob[R]] = self._bulk(items, lambda job_id: AsyncJob(client, job_id, returns))
        parts = bulk.parts()

        async def send_parts() -> None:
            try:
                for start, call in parts:
                    answer = await client.send(call)
                    if bulk.unregistered(answer):
                        await client.put_task(self._function.definition)
                        answer = await client.send(call)
                    bulk.take(start, answer)
            finally:
                # After a failure the others finish what they have sent, for it may be stored, and send no more.
                parts.close()

        with bulk:
            ends = await asyncio.gather(*(send_parts() for _ in range(ABREAST)), return_exceptions=True)
            for error in filter(None, ends):
                raise error
        return bulk.finish()

    def submit_in(self, connection: Any, /, *args: P.args, **kwargs: P.kwargs) -> str:
        """Submits inside the transaction that is open on `connection`: the job exists if and only if it commits.

        Takes psycopg connections and cursors, and SQLAlchemy connections and sessions. Returns the job's id.
        """
        self._refuse_idempotency_key("submit_in runs in your transaction: that is what makes it happen once")
        return transaction.submit_in(connection, self._request(args, kwargs))

    async def asubmit_in(self, connection: Any, /, *args: P.args, **kwargs: P.kwargs) -> str:
        """The same for asyncpg, psycopg's async connections and cursors, and SQLAlchemy's async ones."""
        self._refuse_idempotency_key("asubmit_in runs in your transaction: that is what makes it happen once")
        return await transaction.asubmit_in(connection, self._request(args, kwargs))

    def _request(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> JobRequest:
        return self._options.request(self._function.name, self._function.signature.bind(args, kwargs))

    def _bulk(self, items: Iterable[Item], handle: Callable[[str], H]) -> "Bulk[H]":
        """All are looked at before any is sent. Those that surely fit are made while the server works on others."""
        self._refuse_idempotency_key("it stands for one job, submit_many makes several")
        given = [self._looked_at(item) for item in items]
        if given:
            self._made(given[0])  # All have the same options.
        return Bulk(given, self._made, handle)

    def _looked_at(self, item: Item) -> Asked:
        if isinstance(item, Mapping):
            return self._request((), item)
        args = tuple(item)
        return args if self._function.signature.fits(args) else self._request(args, {})

    def _made(self, asked: Asked) -> JobRequest:
        return self._request(asked, {}) if isinstance(asked, tuple) else asked

    def _refuse_idempotency_key(self, why: str) -> None:
        if self._options.idempotency_key is not None:
            raise InvalidInput(f"idempotency_key: {why}; leave it out", field="idempotency_key")


class Bulk(Generic[H]):
    """The progress of one submit_many. Whatever goes wrong on the way, the error says which jobs exist already.

    `error.extra["accepted"]` holds their ids, `error.extra["refused"]` the index, code and reason of the others.
    """

    def __init__(self, items: list[Asked], request: Callable[[Asked], JobRequest], handle: Callable[[str], H]) -> None:
        self._items = items
        self._request = request
        self._handle = handle
        self._jobs: dict[int, list[H]] = {}
        """By the index of the first of each call."""
        self._refused: list[dict[str, Any]] = []

    def parts(self) -> Generator[tuple[int, Call[BulkAnswer]], None, None]:
        """The calls to make, each with the index of its first job."""
        start, size = 0, min(CHUNK, len(self._items))
        while start < len(self._items):
            call = calls.submit_many([self._request(item) for item in self._items[start : start + size]])
            if size > 1 and len(call.body or b"") > CHUNK_BYTES:
                size = max(size // 4, 1)
                continue
            yield start, call
            start += size

    def unregistered(self, answer: BulkAnswer) -> bool:
        return answer.accepted == 0 and all(item.code == UnknownTask.code for item in answer.items)

    def take(self, start: int, answer: BulkAnswer) -> None:
        jobs = self._jobs[start] = []
        for index, item in enumerate(answer.items, start):
            if item.id is not None:
                jobs.append(self._handle(item.id))
            else:
                self._refused.append({"index": index, "code": item.code, "detail": item.detail})

    @property
    def jobs(self) -> list[H]:
        return [job for start in sorted(self._jobs) for job in self._jobs[start]]

    @property
    def accepted(self) -> list[str]:
        return [job.id for job in self.jobs]

    @property
    def refused(self) -> list[dict[str, Any]]:
        return sorted(self._refused, key=lambda item: item["index"])

    def __enter__(self) -> None: ...

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, HoraeError):
            error.extra.update(accepted=self.accepted, refused=self.refused)

    def finish(self) -> list[H]:
        refused = self.refused
        if not refused:
            return self.jobs
        codes = {item["code"] for item in refused}
        kind = by_code().get(codes.pop(), InvalidInput) if len(codes) == 1 else InvalidInput
        shown = "; ".join(f"item {item['index']}: {item['detail']}" for item in refused[:_LISTED])
        more = f"; and {len(refused) - _LISTED} more" if len(refused) > _LISTED else ""
        seen = len(self._items)
        detail = f"{len(refused)} of {seen} jobs were refused, the others are submitted: {shown}{more}"
        raise kind(detail, accepted=self.accepted, refused=refused)
