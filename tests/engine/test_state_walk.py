"""Random walks of jobs through all their states on a real PostgreSQL, checked against TRANSITIONS after every step.

The engine rests: nothing happens but what a rule does, so each step moves a job at most once and the whole truth can be
read from the tables in between.
"""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from horae.engine.duties.scout import Scout
from horae.engine.sessions import Session
from horae.model.errors import WorkerGone, WrongState
from horae.model.job import JobRequest
from horae.model.retry import RetryPolicy
from horae.model.states import TRANSITIONS, End, State
from horae.model.work import Grant
from horae.testing.database import cloned_database

from .staging import ROOT, done, duty, engine_config, join, resting_engine

WHERE = """
select j.id::text as id,
       (select count(*) from timer t where t.id = j.id) as timers,
       (select count(*) from ready r where r.id = j.id) as readies,
       (select count(*) from lease l where l.id = j.id) as leases,
       (select count(*) from outcome o where o.id = j.id) as outcomes,
       (select state::text from outcome o where o.id = j.id) as outcome,
       coalesce((select max(attempt) from (
           select attempt from timer where id = j.id union all select attempt from ready where id = j.id
           union all select attempt from lease where id = j.id
           union all select attempt from outcome where id = j.id) x), -1) as attempt,
       (select array_agg(attempt order by attempt) from (
           select attempt from attempt where id = j.id union all select attempt from lease where id = j.id
           union all select attempt from outcome where id = j.id and worker_id is not null) x) as history,
       (select bool_and(r.rank = j.rank and r.lane_id = j.lane_id) from ready r where r.id = j.id) as in_place
from job j
"""
NOT_ENDED = [End.ERROR, End.TIMEOUT, End.CRASHED, End.FATAL, End.CANCELLED, End.UNDELIVERED]


class Stage:
    """One database and one resting engine, for all walks of a test."""

    def __init__(self, cluster_dsn: str, folder: Path) -> None:
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()
        self.run(self._open(cluster_dsn, folder))

    async def _open(self, cluster_dsn: str, folder: Path) -> None:
        dsn = await self._stack.enter_async_context(cloned_database(cluster_dsn))
        self.engine = await self._stack.enter_async_context(resting_engine(engine_config(dsn, folder)))
        self.conn = await asyncpg.connect(dsn, server_settings={"search_path": "horae"})
        self._stack.push_async_callback(self.conn.close)
        self.reclaim = duty(self.engine, "reclaim")
        self.scout = Scout(self.engine.upkeep, self.engine.dispatch)

    def run(self, work: Any) -> Any:
        return self._runner.run(work)

    async def clear(self) -> None:
        await self.conn.execute(
            "truncate job, outcome, attempt, ready, lease, timer, cancel_request; update worker set state = 'left'"
        )

    def close(self) -> None:
        self.run(self._stack.aclose())
        self._runner.close()


@pytest.fixture
def stage(cluster_dsn: str, tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(cluster_dsn, tmp_path)
    yield stage
    stage.close()


class Walk(RuleBasedStateMachine):
    stage: Stage

    @initialize()
    def begin(self) -> None:
        self.run(self.stage.clear())
        self.engine = self.stage.engine
        self.workers: list[Session] = [self.run(join(self.engine)) for _ in range(2)]
        self.seen: dict[str, tuple[State, int]] = {}
        self.held: list[tuple[Session, Grant, int]] = []
        self.past: list[tuple[Session, Grant]] = []
        self.number = 0

    def run(self, work: Any) -> Any:
        return self.stage.run(work)

    def pick(self, data: st.DataObject, *states: State) -> UUID | None:
        fit = sorted(job_id for job_id, (state, _) in self.seen.items() if state in states)
        return UUID(data.draw(st.sampled_from(fit))) if fit else None

    def holding(self, data: st.DataObject) -> tuple[Session, Grant, int]:
        chosen = data.draw(st.sampled_from(self.held))
        self.held.remove(chosen)
        self.past.append(chosen[:2])
        return chosen

    @rule(
        delay=st.sampled_from([None, 0, 3600]),
        priority=st.integers(1, 10),
        max_attempts=st.integers(1, 3),
        first=st.sampled_from([0, 60]),
    )
    def submit(self, delay: int | None, priority: int, max_attempts: int, first: float) -> None:
        policy = RetryPolicy(first=first, jitter=False)
        request = JobRequest(task="work", delay=delay, priority=priority, max_attempts=max_attempts, retry=policy)
        made = self.run(self.engine.submit.one(ROOT, request))
        assert made.state is (State.SCHEDULED if delay else State.READY)
        self.seen[made.id] = (made.state, 0)

    @rule()
    def time_passes(self) -> None:
        async def pass_on() -> None:
            await self.stage.conn.execute("update timer set run_at = clock_timestamp() - interval '1 second'")
            await self.engine.timers.run_once()

        self.run(pass_on())
        assert self.run(self.stage.conn.fetchval("select count(*) from timer")) == 0

    @rule(data=st.data(), want=st.integers(1, 3))
    def claim(self, data: st.DataObject, want: int) -> None:
        session = data.draw(st.sampled_from(self.workers))
        self.number += 1

        async def take() -> list[Grant]:
            await self.stage.scout.run_once()
            return await self.engine.dispatch.take(session, self.number, want)

        grants = self.run(take())
        ready = sum(state is State.READY for state, _ in self.seen.values())
        assert len(grants) == min(want, ready)
        for grant in grants:
            assert self.seen[grant.id] == (State.READY, grant.attempt - 1)
            self.held.append((session, grant, self.number))

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def succeed(self, data: st.DataObject) -> None:
        session, grant, _ = self.holding(data)
        assert self.run(self.engine.complete.attempts(session.worker_id, [done(grant)])) == []

    @precondition(lambda self: self.held)
    @rule(data=st.data(), end=st.sampled_from(NOT_ENDED))
    def end_otherwise(self, data: st.DataObject, end: End) -> None:
        session, grant, _ = self.holding(data)
        assert self.run(self.engine.complete.attempts(session.worker_id, [done(grant, end)])) == []

    @precondition(lambda self: self.past)
    @rule(data=st.data(), end=st.sampled_from([End.SUCCEEDED, *NOT_ENDED]))
    def report_again(self, data: st.DataObject, end: End) -> None:
        """An end reported late or twice changes nothing, whoever holds the job now."""
        session, grant = data.draw(st.sampled_from(self.past))
        before = self.look()
        self.run(self.engine.complete.attempts(session.worker_id, [done(grant, end)]))
        assert self.look() == before

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def report_from_another_worker(self, data: st.DataObject) -> None:
        session, grant, _ = data.draw(st.sampled_from(self.held))
        other = next(w for w in self.workers if w is not session)
        before = self.look()
        stale = self.run(self.engine.complete.attempts(other.worker_id, [done(grant)]))
        assert stale == [(grant.id, grant.attempt)]
        assert self.look() == before

    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        job_id = self.pick(data, State.SCHEDULED, State.READY, State.RUNNING)
        if job_id is not None:
            was = self.seen[str(job_id)][0]
            now = self.run(self.engine.steer.cancel(ROOT, job_id, "because"))
            assert now is (State.RUNNING if was is State.RUNNING else State.CANCELLED)

    @rule(data=st.data(), delay=st.sampled_from([None, 0, 3600]), queue=st.sampled_from([None, "default", "other"]))
    def change(self, data: st.DataObject, delay: int | None, queue: str | None) -> None:
        job_id = self.pick(data, *State)
        changes = {name: value for name, value in (("delay", delay), ("queue", queue)) if value is not None}
        if job_id is None:
            return
        try:
            self.run(self.engine.steer.change(ROOT, job_id, changes | {"priority": 7}))
        except WrongState:
            assert self.seen[str(job_id)][0] not in (State.SCHEDULED, State.READY)

    @rule(data=st.data(), delay=st.sampled_from([None, 3600]))
    def retry(self, data: st.DataObject, delay: int | None) -> None:
        job_id = self.pick(data, *State)
        if job_id is None:
            return
        try:
            self.run(self.engine.steer.retry(ROOT, job_id, {} if delay is None else {"delay": delay}))
        except WrongState:
            assert self.seen[str(job_id)][0] not in (State.FAILED, State.CANCELLED)

    @rule(data=st.data())
    def lose_worker(self, data: st.DataObject) -> None:
        session = data.draw(st.sampled_from(self.workers))

        async def lose() -> None:
            await self.stage.conn.execute(
                "update worker set expires_at = clock_timestamp() - interval '1 second' where id = $1",
                session.worker_id,
            )
            await self.stage.reclaim.run_once()

        self.run(lose())
        self.forget(session)
        session.valid_until = 0.0
        with pytest.raises(WorkerGone):
            self.run(self.engine.fleet.session(ROOT, session.worker_id))

    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        session = data.draw(st.sampled_from(self.workers))
        self.run(self.engine.fleet.leave(ROOT, session.worker_id))
        self.forget(session)

    def forget(self, session: Session) -> None:
        self.past += [(s, grant) for s, grant, _ in self.held if s is session]
        self.held = [entry for entry in self.held if entry[0] is not session]
        self.workers[self.workers.index(session)] = self.run(join(self.engine))

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def lose_an_answer(self, data: st.DataObject) -> None:
        session, _, number = data.draw(st.sampled_from(self.held))
        lost = [entry for entry in self.held if entry[0] is session and entry[2] == number]
        assert self.run(self.engine.fleet.take_back(session.worker_id, [number])) == len(lost)
        self.past += [(s, grant) for s, grant, _ in lost]
        self.held = [entry for entry in self.held if entry not in lost]

    def look(self) -> dict[str, dict[str, Any]]:
        return {row["id"]: dict(row) for row in self.run(self.stage.conn.fetch(WHERE))}

    @invariant()
    def every_job_is_where_it_may_be(self) -> None:
        if not hasattr(self, "seen"):
            return
        found = self.look()
        assert found.keys() == self.seen.keys()
        for job_id, row in found.items():
            assert row["timers"] + row["readies"] + row["leases"] + row["outcomes"] == 1, row
            state, attempt = _state(row), row["attempt"]
            before, last = self.seen[job_id]
            assert state is before or state in TRANSITIONS[before], f"{before} → {state}"
            assert attempt == last + (state is State.RUNNING and before is not State.RUNNING), row
            assert (row["history"] or []) == list(range(1, attempt + 1)), row
            assert row["in_place"] in (None, True), row
            self.seen[job_id] = (state, attempt)
        running = {job_id for job_id, (state, _) in self.seen.items() if state is State.RUNNING}
        assert sorted(grant.id for _, grant, _ in self.held) == sorted(running)


def _state(row: dict[str, Any]) -> State:
    if row["outcome"]:
        return State(row["outcome"])
    if row["leases"]:
        return State.RUNNING
    return State.SCHEDULED if row["timers"] else State.READY


@pytest.mark.timeout(400)  # finding the shortest walk that fails takes minutes
def test_every_walk_keeps_to_the_transitions(stage: Stage) -> None:
    class ThisWalk(Walk):
        pass

    ThisWalk.stage = stage
    run_state_machine_as_test(
        ThisWalk,
        settings=settings(
            max_examples=30,
            stateful_step_count=30,
            deadline=timedelta(seconds=20),
            suppress_health_check=list(HealthCheck),
            database=None,
            print_blob=False,
        ),
    )
