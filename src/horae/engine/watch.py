"""Watch: waiting for jobs to end.

A job that ends on this server wakes its watchers from memory; one that ends elsewhere is found by one batched look-up
for all that wait, a few times a second, and only while somebody waits.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from horae.model.errors import NotReady
from horae.model.states import State
from horae.store.jobs import Jobs

POLL_SECONDS: Final = 0.25
POLL_ROWS: Final = 1000


class Ended(msgspec.Struct, frozen=True):
    state: State
    result: str | None
    error: str | None
    blob: int | None
    attempt: int


class Watch:
    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._watchers: dict[str, tuple[int, set[asyncio.Future[Ended]]]] = {}

    @property
    def anybody(self) -> bool:
        return bool(self._watchers)

    def close(self) -> None:
        """The server stops: whoever waits shall ask another."""
        for _, futures in self._watchers.values():
            for future in futures:
                if not future.done():
                    future.set_exception(NotReady("the server is stopping; ask again", retry_after=1))

    def ended(self, job_id: str, how: Ended) -> None:
        _, futures = self._watchers.pop(job_id, (0, set()))
        for future in futures:
            if not future.done():
                future.set_result(how)

    async def wait(self, tenant_id: int, job_id: str, seconds: float) -> Ended | None:
        """How the job ended, or None when it has not in that time. Hears only of news: see `watching`."""
        with self.watching(tenant_id, job_id) as future:
            return await within(future, seconds)

    @contextmanager
    def watching(self, tenant_id: int, job_id: str) -> Iterator["asyncio.Future[Ended]"]:
        """A future of the job's end. Look at the job after this, and nothing falls between look and wait."""
        future: asyncio.Future[Ended] = asyncio.get_running_loop().create_future()
        _, futures = self._watchers.setdefault(job_id, (tenant_id, set()))
        futures.add(future)
        try:
            yield future
        finally:
            futures.discard(future)
            if not futures and self._watchers.get(job_id, (0, None))[1] is futures:
                del self._watchers[job_id]

    async def run_once(self) -> int:
        """One look-up for all that wait."""
        found = 0
        keys = [(tenant_id, job_id) for job_id, (tenant_id, _) in self._watchers.items()]
        for start in range(0, len(keys), POLL_ROWS):
            for row in await self._jobs.job_state_poll(keys[start : start + POLL_ROWS]):
                self.ended(
                    row["id"], Ended(State(row["outcome"]), row["result"], row["error"], row["blob"], row["attempt"])
                )
                found += 1
        return found


async def within(future: "asyncio.Future[Ended]", seconds: float) -> Ended | None:
    try:
        async with asyncio.timeout(seconds):
            return await future
    except TimeoutError:
        return None
