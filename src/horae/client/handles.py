"""Handles on submitted jobs: an id, a client, and the type that the result is read as."""

import time
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Final, Generic, TypeVar

import msgspec

from horae.client.client import AsyncClient, Client
from horae.client.files import AsyncJobFile, JobFile
from horae.client.options import seconds
from horae.model.errors import HoraeError, JobFailed, ResultTimeout
from horae.model.states import State
from horae.wire.explanation import Explanation
from horae.wire.files import Partial
from horae.wire.jobs import Job as JobView
from horae.wire.jobs import JobChanges, JobResult, LogLine

R = TypeVar("R")
C = TypeVar("C", bound=Client | AsyncClient)

LONG_POLL: Final = 30.0


class Handle(Generic[C, R]):
    __slots__ = ("__weakref__", "_client", "_returns", "id", "warnings")

    def __init__(self, client: C, job_id: str, returns: Any = Any, warnings: Sequence[str] = ()) -> None:
        self.id = job_id
        self.warnings = list(warnings)
        """What the server remarked at the submit: why no worker could run it as things stand."""
        self._client = client
        self._returns = returns

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}>"

    def _read(self, answer: JobResult) -> R:
        """The result as the function's return annotation says, or the failure that took its place."""
        if answer.state is not State.SUCCEEDED:
            raise _failure(self.id, answer)
        try:
            result: R = msgspec.json.decode(answer.result or b"null", type=self._returns)
        except (msgspec.MsgspecError, TypeError) as error:
            raise HoraeError(f"job {self.id}: its result is not the declared {self._returns!r}: {error}") from error
        return result


class Job(Handle[Client, R]):
    """A job, for sync code."""

    __slots__ = ()

    def status(self) -> State:
        return self.refresh().state

    def refresh(self) -> JobView:
        """The job as the server has it now."""
        return self._client.job(self.id)

    get = refresh

    def wait(self, timeout: float | str | None = None) -> State:
        """Waits for the outcome; raises `ResultTimeout` when it has not come by then."""
        return self._ended(timeout).state

    def result(self, timeout: float | str | None = None) -> R:
        """Waits for the outcome and returns the task's result; raises `JobFailed` if it did not succeed."""
        return self._read(self._ended(timeout))

    def _ended(self, timeout: float | str | None) -> JobResult:
        waiting = Waiting(self.id, timeout)
        while True:
            answer = self._client.result(self.id, waiting.poll())
            if answer.state.ended:
                return answer
            waiting.check(answer.state)

    def explain(self) -> Explanation:
        """Why it is not running yet, when it will start, or where its time went."""
        return self._client.explain(self.id)

    def cancel(self, reason: str = "") -> JobView:
        return self._client.cancel(self.id, reason)

    def move(self, reason: str = "", *, force: bool = False) -> JobView:
        """Lets a running job stop and go on at another worker, from its last checkpoint."""
        return self._client.move(self.id, reason, force=force)

    def retry(self, **changes: Any) -> JobView:
        """Runs a failed or cancelled job again, with changes if given (the fields of `JobChanges`)."""
        return self._client.retry(self.id, _changes(changes))

    def files(self) -> list[JobFile]:
        """What it left in its output folder, once it has ended."""
        return [JobFile(self._client, view) for view in self._client.files(self.id).items]

    def partials(self) -> Iterator[Partial]:
        """Pieces of the result as the job gives them with `ctx.partial`, until it has ended."""
        return self._client.follow_partials(self.id)

    def logs(self, *, follow: bool = False) -> Iterator[LogLine]:
        """What the job has written so far; with `follow` also what it writes until it ends."""
        if follow:
            yield from self._client.follow_logs(self.id)
            return
        cursor = None
        while (page := self._client.logs(self.id, cursor)).items:
            yield from page.items
            if (cursor := page.next_cursor) is None:
                return


class AsyncJob(Handle[AsyncClient, R]):
    """A job, for coroutines."""

    __slots__ = ()

    async def status(self) -> State:
        return (await self.refresh()).state

    async def refresh(self) -> JobView:
        return await self._client.job(self.id)

    get = refresh

    async def wait(self, timeout: float | str | None = None) -> State:
        return (await self._ended(timeout)).state

    async def result(self, timeout: float | str | None = None) -> R:
        return self._read(await self._ended(timeout))

    async def _ended(self, timeout: float | str | None) -> JobResult:
        waiting = Waiting(self.id, timeout)
        while True:
            answer = await self._client.result(self.id, waiting.poll())
            if answer.state.ended:
                return answer
            waiting.check(answer.state)

    async def explain(self) -> Explanation:
        return await self._client.explain(self.id)

    async def cancel(self, reason: str = "") -> JobView:
        return await self._client.cancel(self.id, reason)

    async def move(self, reason: str = "", *, force: bool = False) -> JobView:
        return await self._client.move(self.id, reason, force=force)

    async def retry(self, **changes: Any) -> JobView:
        return await self._client.retry(self.id, _changes(changes))

    async def files(self) -> list[AsyncJobFile]:
        return [AsyncJobFile(self._client, view) for view in (await self._client.files(self.id)).items]

    def partials(self) -> AsyncIterator[Partial]:
        return self._client.follow_partials(self.id)

    async def logs(self, *, follow: bool = False) -> AsyncIterator[LogLine]:
        if follow:
            async for line in self._client.follow_logs(self.id):
                yield line
            return
        cursor = None
        while (page := await self._client.logs(self.id, cursor)).items:
            for line in page.items:
                yield line
            if (cursor := page.next_cursor) is None:
                return


class Waiting:
    """Cuts a wait of any length into long polls."""

    def __init__(self, job_id: str, timeout: float | str | None) -> None:
        self._job_id = job_id
        self._limit = seconds(timeout, "timeout")
        self._end = None if self._limit is None else time.monotonic() + self._limit

    def poll(self) -> float:
        return LONG_POLL if self._end is None else min(LONG_POLL, max(0.0, self._end - time.monotonic()))

    def check(self, state: State) -> None:
        if self._end is not None and time.monotonic() >= self._end:
            raise ResultTimeout(f"job {self._job_id} is still {state} after {self._limit:g} s", state=state)


def _failure(job_id: str, answer: JobResult) -> JobFailed:
    why = f": {answer.error.kind}: {answer.error.message}" if answer.error else ""
    return JobFailed(f"job {job_id} {answer.state}{why}", state=answer.state, error=answer.error)


def _changes(given: dict[str, Any]) -> JobChanges | None:
    return msgspec.convert(given, JobChanges) if given else None
