"""Clients that submit while things go wrong, and the promise that is checked afterwards."""

import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import asyncpg

from horae.client.client import Client
from horae.model.errors import HoraeError
from horae.model.job import JobRequest
from horae.store.safety import Connection
from horae.testing.stack import Stack
from horae.testing.waiting import wait_for

from .effects import Effects

PAUSE = 0.005
DRAIN_SECONDS = 150


class Load:
    """Threads that submit jobs, each under an idempotency key of its own, until they are told to stop.

    The clients give up soon, so that some submits end in doubt: those are asked again when the trouble is over.
    """

    def __init__(self, stack: Stack, threads: int = 3) -> None:
        self._stack = stack
        self._stopping = threading.Event()
        self._resting = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(threads)]
        self.jobs: dict[str, str] = {}
        """Ids of jobs that were acknowledged, by key."""
        self.doubtful: list[str] = []

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _run(self, number: int) -> None:
        with self._stack.client(timeout=2.0, patience=0.2) as client:
            for count in range(1_000_000):
                if self._stopping.wait(PAUSE):
                    return
                if not self._resting.is_set():
                    self._submit(client, f"{number}-{count}")

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Nothing new is submitted meanwhile, but for what is under way."""
        self._resting.set()
        try:
            yield
        finally:
            self._resting.clear()

    def _submit(self, client: Client, key: str) -> None:
        try:
            self.jobs[key] = submit(client, key)
        except HoraeError:
            self.doubtful.append(key)

    def settle(self) -> None:
        """Asks again for what is in doubt: afterwards there is a job for each key."""
        with self._stack.client() as client:
            for key in self.doubtful:
                assert key not in self.jobs
                self.jobs[key] = submit(client, key)


def submit(client: Client, key: str) -> str:
    return client.submit(JobRequest(task="quick", params={"number": 1, "text": key}), key).id


async def outcomes(stack: Stack) -> Counter[str]:
    """How many jobs ended in which state, once all have."""
    async with connected(stack) as connection:
        await wait_for(lambda: nothing_left(connection), DRAIN_SECONDS, interval=0.2)
        return Counter(row["state"] for row in await connection.fetch("select state::text from outcome"))


async def all_ended_exactly_once(stack: Stack, effects: Effects, ids: list[str]) -> None:
    """No job is lost or doubled, none ran twice at once, and none ran twice at all unless an attempt was lost."""
    assert len(set(ids)) == len(ids), "two keys stand for one job"
    assert await outcomes(stack) == {"succeeded": len(ids)}
    async with connected(stack) as connection:
        assert {str(row["id"]) for row in await connection.fetch("select id from job")} == set(ids)
        lost = await connection.fetch("select id from attempt where ending in ('lost', 'crashed')")
    assert effects.overlaps() == []
    runs = effects.by_job()
    assert set(runs) == set(ids)
    doubled = {job for job, executions in runs.items() if sum(run.ended for run in executions) != 1}
    assert doubled <= {str(row["id"]) for row in lost}, "an effect was doubled though no attempt was lost"


async def skip_pause(stack: Stack, job: str) -> None:
    """A job that waits to be tried again is due now.

    Not by an update, which Horae never does: a promotion under way would find the old row and could not delete the new.
    """
    async with connected(stack) as connection:
        await connection.execute(
            "with gone as (delete from timer where id = $1::uuid returning rank, id, lane_id, attempt) "
            "insert into timer (run_at, rank, id, lane_id, attempt) "
            "select clock_timestamp(), rank, id, lane_id, attempt from gone",
            job,
        )


@asynccontextmanager
async def connected(stack: Stack) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(stack.dsn, server_settings={"search_path": "horae"})
    try:
        yield connection
    finally:
        await connection.close()


async def nothing_left(connection: Connection) -> bool:
    query = "select (select count(*) from ready) + (select count(*) from timer) + (select count(*) from lease)"
    return await connection.fetchval(query) == 0
