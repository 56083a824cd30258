"""Two servers, workers that fail and vanish, connections that are cut: no job is lost, none is done twice."""

import asyncio
import random
from contextlib import suppress
from uuid import UUID

import asyncpg

from horae.engine.engine import Engine
from horae.engine.rows import state_of
from horae.model.errors import HoraeError
from horae.model.job import JobRequest
from horae.model.retry import RetryPolicy
from horae.model.states import End, State
from horae.store.database import LOST
from horae.testing.waiting import wait_for

from .staging import ROOT, done, join

TROUBLE = (HoraeError, asyncpg.PostgresError, *LOST)
JOBS = 300
CUT = """select pg_terminate_backend(pid) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and random() < 0.4"""


class Careless:
    """A worker that succeeds, fails, loses answers and walks away, and remembers whose success was accepted."""

    def __init__(self, engines: list[Engine], accepted: list[str], dice: random.Random) -> None:
        self._engines = engines
        self._accepted = accepted
        self._dice = dice

    async def work(self, over: asyncio.Event) -> None:
        while not over.is_set():
            with suppress(*TROUBLE):
                await self._life(over)
            await asyncio.sleep(0.01)

    async def _life(self, over: asyncio.Event) -> None:
        engine = self._dice.choice(self._engines)
        session = await join(engine)
        for number in range(1, 15):
            if over.is_set() or self._dice.random() < 0.05:
                break
            grants = await engine.dispatch.take(session, number, 8)
            if self._dice.random() < 0.1:
                await engine.fleet.take_back(session.worker_id, [number])
            else:
                await self._end(engine, session.worker_id, grants)
            await asyncio.sleep(0.02)
        await engine.fleet.leave(ROOT, session.worker_id)

    async def _end(self, engine: Engine, worker_id: int, grants: list) -> None:
        ends = [done(grant, self._dice.choice([End.SUCCEEDED] * 8 + [End.ERROR, End.TIMEOUT])) for grant in grants]
        stale: list | None = None
        while stale is None:
            # As the real worker does: ends are reported until an answer comes.
            with suppress(*TROUBLE):
                stale = await engine.complete.attempts(worker_id, ends)
        fences = set(stale)
        self._accepted += [f.id for f in ends if f.end is End.SUCCEEDED and (f.id, f.attempt) not in fences]


async def test_no_job_is_lost_or_done_twice_in_a_storm(start_engine, conn):
    engines = [await start_engine(), await start_engine()]
    await join(engines[0])
    policy = RetryPolicy(first=0.05, cap=0.2)
    made = await engines[0].submit.many(
        ROOT,
        [
            JobRequest(task="work", queue=f"q{n % 3}", max_attempts=50, retry=policy, delay=n % 4 * 0.3)
            for n in range(JOBS)
        ],
    )
    accepted: list[str] = []
    over = asyncio.Event()
    workers = [asyncio.create_task(Careless(engines, accepted, random.Random(n)).work(over)) for n in range(4)]

    async def ended() -> int:
        return await conn.fetchval("select count(*) from outcome")

    async def cut() -> bool:
        """Again only when some jobs have ended since: on a slow machine none might between two cuts."""
        before = await ended()
        await conn.execute(CUT)
        await asyncio.sleep(0.4)
        await wait_for(lambda: ended_since(before), 100, what="some jobs that end between two cuts")
        return await ended() > JOBS * 0.9

    async def ended_since(before: int) -> bool:
        return await ended() >= min(before + JOBS // 30, JOBS * 0.9)

    await wait_for(cut, 100)
    # What the vanished still hold comes back when their leases end.
    await conn.execute(
        "update worker set expires_at = clock_timestamp() - interval '1 s' where state in ('active', 'draining')"
    )

    async def all_ended() -> bool:
        return await ended() == JOBS

    await wait_for(all_ended, 100)
    over.set()
    await asyncio.gather(*workers)
    assert len(accepted) == len(set(accepted)), "a success was accepted twice"
    states = [state_of(await engines[1].steer.get(ROOT, UUID(job.id))) for job in made]
    succeeded = {job.id for job, state in zip(made, states, strict=True) if state is State.SUCCEEDED}
    assert set(accepted) <= succeeded
    assert all(state in {State.SUCCEEDED, State.FAILED} for state in states)
    for table in ("ready", "timer", "lease"):
        assert await conn.fetchval(f"select count(*) from {table}") == 0
