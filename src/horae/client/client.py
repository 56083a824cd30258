"""The clients, sync and async: two faces with the same methods over the same descriptions of the calls (see `calls`).

Both are safe to share: the sync one between threads, the async one between coroutines and loops, either over a fork.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import aclosing, closing
from typing import TYPE_CHECKING, Self, TypeVar
from urllib.parse import urljoin

from horae.client import calls, following
from horae.client.actions import ActionFace, AsyncActionFace
from horae.client.calls import Call
from horae.client.face import QUIET_TIMEOUT, Face
from horae.client.files import Fetching
from horae.client.fleet import AsyncFleetFace, FleetFace
from horae.client.following import Following
from horae.client.gates import AsyncGateFace, GateFace
from horae.client.installation import AsyncInstallationFace, InstallationFace
from horae.client.jobs import AsyncJobFace, JobFace
from horae.client.policy import AsyncPolicyFace, PolicyFace
from horae.client.sessions import SessionTransport
from horae.client.sockets import SocketTransport
from horae.client.transport import AsyncTransport, Broken, Transport
from horae.model.errors import HoraeError
from horae.model.task import TaskDefinition
from horae.wire.access import Task
from horae.wire.files import FileAddress, FilePage, FileView, Partial, PartialPage
from horae.wire.jobs import JobEvent, LogLine, LogPage

if TYPE_CHECKING:
    from horae.client.schedules import AsyncSchedules, Schedules
    from horae.client.tasks import AsyncTasks, Tasks

T = TypeVar("T")


class Client(JobFace, ActionFace, FleetFace, GateFace, PolicyFace, InstallationFace, Face[Transport]):
    def _make_transport(self) -> Transport:
        return SocketTransport(self.connection)

    def send(self, call: Call[T]) -> T:
        retries = self._retries(call)
        while True:
            try:
                answer = self._transport.send(call, self._timeout + call.waits)
                wait = retries.after_answer(answer)
            except Broken as broken:
                wait = retries.after_break(broken)
            else:
                if wait is None:
                    return call.read(answer.body)
            time.sleep(wait)

    def _follow(self, stream: Following[T]) -> Generator[T, None, None]:
        while True:
            try:
                with closing(self._transport.stream(stream.call(), QUIET_TIMEOUT)) as pieces:
                    for piece in pieces:
                        yield from stream.take(piece)
                        if stream.ended:
                            return
                broken = Broken("the stream ended early", sent=True)
            except Broken as error:
                broken = error
            time.sleep(stream.after_break(broken))

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def logs(self, job_id: str, cursor: str | None = None, limit: int | None = None) -> LogPage:
        return self.send(calls.logs(job_id, cursor, limit))

    @property
    def tasks(self) -> "Tasks":
        """Tasks: `client.tasks()` lists them, `client.tasks.put(…)` saves one."""
        from horae.client.tasks import Tasks

        return Tasks(self)

    def put_task(self, definition: TaskDefinition) -> Task:
        return self.send(calls.put_task(definition))

    @property
    def schedules(self) -> "Schedules":
        """Schedules and calendars: `client.schedules.put(…)`."""
        from horae.client.schedules import Schedules

        return Schedules(self)

    def partials(self, job_id: str, cursor: str | None = None, limit: int | None = None) -> PartialPage:
        return self.send(calls.partials(job_id, cursor, limit))

    def follow_partials(self, job_id: str, cursor: str | None = None) -> Iterator[Partial]:
        """The pieces of a result as the job gives them, until it has ended."""
        return self._follow(following.partials(job_id, cursor, self.connection.url, self._patience))

    def files(self, job_id: str) -> FilePage:
        """What an ended job left in its output folder."""
        return self.send(calls.files(job_id))

    def file_address(self, file_id: str, lifetime: str | float = "15m") -> FileAddress:
        found = self.send(calls.file_address(file_id, lifetime))
        return FileAddress(urljoin(self.connection.url, found.url), found.expires_at)

    def fetch_file(self, file: FileView) -> Iterator[bytes]:
        """A file in pieces; when the last has come, its SHA-256 was right."""
        fetching = Fetching(file, self.connection.url, self._patience)
        while not fetching.is_complete():
            try:
                with closing(self._transport.stream(fetching.call(), QUIET_TIMEOUT)) as pieces:
                    for piece in pieces:
                        if data := fetching.take(piece):
                            yield data
                if fetching.is_complete():
                    return
                broken = Broken("the file ended early", sent=True)
            except Broken as error:
                broken = error
            time.sleep(fetching.after_break(broken))

    def follow_logs(self, job_id: str, cursor: str | None = None) -> Iterator[LogLine]:
        """The job's output as it comes, until the job has ended."""
        return self._follow(following.log_lines(job_id, cursor, self.connection.url, self._patience))

    def events(self, job_id: str) -> Iterator[JobEvent]:
        """The job's states and progress as they come, until its outcome."""
        return self._follow(following.job_events(job_id, self.connection.url, self._patience))

    def ready(self) -> bool:
        try:
            return self.send(calls.ready())
        except HoraeError:
            return False


class AsyncClient(
    AsyncJobFace,
    AsyncActionFace,
    AsyncFleetFace,
    AsyncGateFace,
    AsyncPolicyFace,
    AsyncInstallationFace,
    Face[AsyncTransport],
):
    def _make_transport(self) -> AsyncTransport:
        return SessionTransport(self.connection)

    async def send(self, call: Call[T]) -> T:
        retries = self._retries(call)
        while True:
            try:
                answer = await self._transport.send(call, self._timeout + call.waits)
                wait = retries.after_answer(answer)
            except Broken as broken:
                wait = retries.after_break(broken)
            else:
                if wait is None:
                    return call.read(answer.body)
            await asyncio.sleep(wait)

    async def _follow(self, stream: Following[T]) -> AsyncGenerator[T, None]:
        while True:
            try:
                async with aclosing(self._transport.stream(stream.call(), QUIET_TIMEOUT)) as pieces:
                    async for piece in pieces:
                        for item in stream.take(piece):
                            yield item
                        if stream.ended:
                            return
                broken = Broken("the stream ended early", sent=True)
            except Broken as error:
                broken = error
            await asyncio.sleep(stream.after_break(broken))

    async def close(self) -> None:
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def logs(self, job_id: str, cursor: str | None = None, limit: int | None = None) -> LogPage:
        return await self.send(calls.logs(job_id, cursor, limit))

    @property
    def tasks(self) -> "AsyncTasks":
        from horae.client.tasks import AsyncTasks

        return AsyncTasks(self)

    async def put_task(self, definition: TaskDefinition) -> Task:
        return await self.send(calls.put_task(definition))

    @property
    def schedules(self) -> "AsyncSchedules":
        from horae.client.schedules import AsyncSchedules

        return AsyncSchedules(self)

    async def partials(self, job_id: str, cursor: str | None = None, limit: int | None = None) -> PartialPage:
        return await self.send(calls.partials(job_id, cursor, limit))

    def follow_partials(self, job_id: str, cursor: str | None = None) -> AsyncIterator[Partial]:
        return self._follow(following.partials(job_id, cursor, self.connection.url, self._patience))

    async def files(self, job_id: str) -> FilePage:
        return await self.send(calls.files(job_id))

    async def file_address(self, file_id: str, lifetime: str | float = "15m") -> FileAddress:
        found = await self.send(calls.file_address(file_id, lifetime))
        return FileAddress(urljoin(self.connection.url, found.url), found.expires_at)

    async def fetch_file(self, file: FileView) -> AsyncIterator[bytes]:
        fetching = Fetching(file, self.connection.url, self._patience)
        while not fetching.is_complete():
            try:
                async with aclosing(self._transport.stream(fetching.call(), QUIET_TIMEOUT)) as pieces:
                    async for piece in pieces:
                        if data := fetching.take(piece):
                            yield data
                if fetching.is_complete():
                    return
                broken = Broken("the file ended early", sent=True)
            except Broken as error:
                broken = error
            await asyncio.sleep(fetching.after_break(broken))

    def follow_logs(self, job_id: str, cursor: str | None = None) -> AsyncIterator[LogLine]:
        return self._follow(following.log_lines(job_id, cursor, self.connection.url, self._patience))

    def events(self, job_id: str) -> AsyncIterator[JobEvent]:
        return self._follow(following.job_events(job_id, self.connection.url, self._patience))

    async def ready(self) -> bool:
        try:
            return await self.send(calls.ready())
        except HoraeError:
            return False
