"""Explain: every reason that holds a job is found and none is invented; what it says is free is claimed."""

import random
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
import pytest

from horae.engine.access import Caller
from horae.engine.engine import Engine
from horae.engine.fleet import Joining
from horae.engine.limits import LimitSpec
from horae.engine.sessions import Session
from horae.model.errors import NotFound
from horae.model.explanation import Code, Explanation, What
from horae.model.job import JobRequest
from horae.model.placement import Requirements
from horae.model.rank import EPOCH
from horae.model.roles import GRANTS, Role
from horae.model.states import End, State
from horae.model.task import TaskDefinition
from horae.testing.waiting import wait_for

from .staging import ROOT, done, duty, engine_config, resting_engine, submit, take_one

C = Code
LASTING = {
    C.NOT_DUE, C.GATE, C.GATE_PARTIAL, C.NO_WORKER_FOR_TASK, C.NO_WORKER_FOR_QUEUE, C.NO_WORKER_MATCHES,
    C.WORKERS_DRAINING,
}  # fmt: skip


@pytest.fixture
async def patient(database: str, tmp_path: Path) -> AsyncIterator[Engine]:
    """A resting engine whose workers stay however slow the machine is."""
    config = msgspec.structs.replace(engine_config(database, tmp_path), lease_seconds=3600.0)
    async with resting_engine(config) as engine:
        yield engine


@pytest.fixture
async def red(patient: Engine) -> Caller:
    tenant = await patient.access.create_tenant(ROOT, "red")
    return Caller(7, "red", Role.ADMIN, tenant.id, "red", GRANTS[Role.ADMIN])


async def crew(engine: Engine, *tasks: str, **offer: Any) -> Session:
    worker = Joining(name="w", host="h", tasks=[TaskDefinition(name=name) for name in tasks], **{"slots": 50} | offer)
    return await engine.fleet.session(ROOT, await engine.fleet.join(ROOT, worker))


async def explained(engine: Engine, job_id: str, by: Caller = ROOT) -> Explanation:
    return await engine.explain.of(by, UUID(job_id))


async def codes(engine: Engine, job_id: str, by: Caller = ROOT) -> set[Code]:
    found = [reason.code for reason in (await explained(engine, job_id, by)).reasons]
    assert found == sorted(found, key=list(Code).index)
    return set(found)


async def hold(engine: Engine, database: str, **gate: Any) -> int:
    """A gate, made as the gates' own statements make it."""
    values = {"action": "hold", "owner": "ann", "reason": "why"} | gate
    connection = await asyncpg.connect(database, server_settings={"search_path": "horae"})
    try:
        async with connection.transaction():
            await connection.fetch("select policy_touch()")
            columns, places = ", ".join(values), ", ".join(f"${n}" for n in range(1, len(values) + 1))
            sql = f"insert into gate ({columns}) values ({places}) returning id"
            gate_id = int(await connection.fetchval(sql, *values.values()))
    finally:
        await connection.close()
    await engine.policy.refresh()
    return gate_id


# Two hundred jobs, each held by a known set of reasons.


@dataclass(frozen=True)
class Trouble:
    """One thing that may be wrong, as a request that meets it, and the reason for it."""

    request: dict[str, Any] = field(default_factory=dict)
    code: Code | None = None
    full: bool = False
    """A limit without room, shared with others of the same queue."""
    private: bool = False
    """Not shared with other tenants."""


TIMES = [Trouble(), Trouble(), Trouble({"delay": "1h"}, C.NOT_DUE)]
QUEUES = [
    Trouble({"queue": "plain"}),
    Trouble({"queue": "plain"}),
    Trouble({"queue": "gated"}, C.GATE),
    Trouble({"queue": "partly", "labels": {"x": "held"}}, C.GATE_PARTIAL),
    Trouble({"queue": "partly", "labels": {"x": "other"}}),
    Trouble({"queue": "probed"}, C.GATE_PROBE, full=True),
    Trouble({"queue": "limited"}, C.LIMIT_RUNNING, full=True),
    Trouble({"queue": "paced"}, C.LIMIT_RATE, full=True),
]
KEYS = [Trouble(), Trouble(), Trouble({"concurrency_key": "taken"}, C.LIMIT_RUNNING, full=True, private=True),
        Trouble({"concurrency_key": "free"})]  # fmt: skip
BUSY = {C.WORKERS_BUSY, C.LARGE_JOB_WAITS_FOR_ROOM, C.WORKER_ON_PROBATION, C.SPREAD_FULL}
WORKERS = [
    Trouble({"task": "free"}),
    Trouble({"task": "free"}),
    Trouble({"task": "busy"}, C.WORKERS_BUSY),
    Trouble({"task": "large", "requires": Requirements(slots=2)}, C.LARGE_JOB_WAITS_FOR_ROOM),
    Trouble({"task": "drained"}, C.WORKERS_DRAINING),
    Trouble({"task": "probing"}, C.WORKER_ON_PROBATION),
    Trouble({"task": "nowhere"}, C.NO_WORKER_FOR_TASK),
    Trouble({"task": "elsewhere"}, C.NO_WORKER_FOR_QUEUE),
    Trouble({"task": "free", "requires": Requirements(labels={"gpu": "a100"})}, C.NO_WORKER_MATCHES),
    Trouble({"task": "free", "requires": Requirements(region="mars")}, C.NO_WORKER_MATCHES),
    Trouble({"task": "free", "requires": Requirements(memory="2GiB")}, C.NO_WORKER_MATCHES),
]


@dataclass(frozen=True)
class Case:
    parts: tuple[Trouble, ...]
    ahead: int
    """Jobs of the same tenant before it."""
    others: int
    """Jobs of another tenant beside it."""

    @property
    def request(self) -> dict[str, Any]:
        return {name: value for part in self.parts for name, value in part.request.items()}

    @property
    def expected(self) -> set[Code]:
        held = {part.code for part in self.parts if part.code is not None}
        if C.NOT_DUE in held:
            return held & LASTING
        shared = any(part.full and not part.private for part in self.parts)
        waiting = bool(held & BUSY)
        if self.ahead and (waiting or any(part.full for part in self.parts)):
            held.add(C.BEHIND_OWN_TENANT)
        if self.others and (waiting or shared) and C.GATE not in held:
            held.add(C.BEHIND_OTHER_TENANTS)
        return held or {C.STARTING}


def cases(count: int) -> list[Case]:
    draw = random.Random(20261116)
    return [
        Case(tuple(draw.choice(kind) for kind in (TIMES, QUEUES, KEYS, WORKERS)), draw.choice([0, 0, 2]),
             draw.choice([0, 0, 3]))
        for _ in range(count)
    ]  # fmt: skip


async def furnish(engine: Engine, database: str) -> Session:
    """Everything that can be wrong, at once. Returns the one worker that is free."""
    free = await crew(engine, "free", memory=2**30)
    holder = await crew(engine, "hold")
    busy, large = await crew(engine, "busy", slots=1), await crew(engine, "large", slots=4)
    drained, probing = await crew(engine, "drained"), await crew(engine, "probing")
    await crew(engine, "elsewhere", queues=["only"])
    await engine.tasks.register(0, TaskDefinition(name="nowhere"))
    await engine.limits.put(ROOT, None, LimitSpec(name="one", queue="limited", max_running=1))
    await engine.limits.put(ROOT, None, LimitSpec(name="slow", queue="paced", rate="1/h", burst=1))
    await hold(engine, database, queue="gated")
    await hold(engine, database, queue="partly", condition='labels.x == "held"')
    await hold(engine, database, queue="probed", kind="breaker", probe_seconds=3600.0)
    for request in ({"queue": "limited"}, {"queue": "paced"}, {"queue": "probed"}, {"concurrency_key": "taken"}):
        await submit(engine, "hold", **request)
    assert len(await engine.dispatch.take(holder, 1, 10)) == 4
    await submit(engine, "busy")
    await take_one(engine, busy)
    for _ in range(3):
        await submit(engine, "large")
    assert len(await engine.dispatch.take(large, 1, 10)) == 3
    await engine.fleet.steer(ROOT, drained.worker_id, "draining")
    for _ in range(5):
        probing.record.failed(0.0)
    await submit(engine, "probing")
    await take_one(engine, probing)
    return free


async def test_of_two_hundred_held_jobs_all_reasons_are_found_and_none_is_invented(
    patient: Engine, red: Caller, database: str
):
    free = await furnish(patient, database)
    seen: set[Code] = set()
    for number, case in enumerate(cases(200)):
        request = case.request
        jobs = [await submit(patient, by=ROOT, **request) for _ in range(case.ahead)]
        jobs += [await submit(patient, by=red, **request) for _ in range(case.others)]
        job = await submit(patient, **request)
        assert await codes(patient, job) == case.expected, (number, case)
        seen |= case.expected
        # What is said to be free is claimed by the next worker that asks, and nothing else is.
        grants = await patient.dispatch.take(free, number + 10, 50)
        assert (job in {grant.id for grant in grants}) == (case.expected == {C.STARTING}), (number, case)
        await patient.complete.attempts(free.worker_id, [done(grant) for grant in grants])
        for left in {*jobs, job} - {grant.id for grant in grants}:
            await patient.steer.cancel(ROOT, UUID(left), "")
    assert seen >= {part.code for kind in (TIMES, QUEUES, KEYS, WORKERS) for part in kind if part.code}
    assert {C.BEHIND_OWN_TENANT, C.BEHIND_OTHER_TENANTS, C.STARTING} <= seen


# Single reasons, and what is told beside them.


async def test_a_job_that_failed_waits_for_its_next_attempt(patient: Engine):
    worker = await crew(patient, "work")
    job = await submit(patient, retry={"first": 100.0, "jitter": False})
    await patient.complete.attempts(worker.worker_id, [done(await take_one(patient, worker), End.ERROR)])
    said = await explained(patient, job)
    assert [reason.code for reason in said.reasons] == [C.RETRY_WAIT]
    assert said.estimate is not None
    assert said.estimate.at == said.reasons[0].until


async def test_a_job_behind_a_gate_for_some_is_held_until_the_gate_opens(patient: Engine, database: str):
    await crew(patient, "work")
    job = await submit(patient, labels={"x": "1"})
    gate = await hold(patient, database, condition='labels.x == "1"')
    await duty(patient, "gates").run_once()
    said = await explained(patient, job)
    assert (said.state, [reason.code for reason in said.reasons]) == (State.BLOCKED, [C.GATE_PARTIAL])
    assert said.reasons[0].held_by is not None
    assert said.reasons[0].held_by.gate is not None
    assert (said.reasons[0].held_by.gate.id, said.reasons[0].held_by.gate.owner) == (gate, "ann")
    assert said.no_estimate is not None


async def test_all_gates_that_hold_a_job_are_told(patient: Engine, database: str):
    await crew(patient, "work")
    gates = [await hold(patient, database, task="work"), await hold(patient, database, queue="default")]
    said = await explained(patient, await submit(patient))
    assert [r.held_by.gate.id for r in said.reasons if r.held_by and r.held_by.gate] == gates


async def test_a_worker_that_runs_enough_jobs_of_a_spread_lane_gets_no_more(patient: Engine):
    worker = await crew(patient, "work")
    jobs = [await submit(patient, spread=1) for _ in range(2)]
    assert [grant.id for grant in await patient.dispatch.take(worker, 1, 10)] == jobs[:1]
    assert await codes(patient, jobs[1]) == {C.SPREAD_FULL}


async def test_a_free_slot_that_others_will_take_is_none(patient: Engine):
    worker = await crew(patient, "work", slots=2)
    jobs = [await submit(patient) for _ in range(4)]
    assert await codes(patient, jobs[1]) == {C.STARTING}
    assert await codes(patient, jobs[3]) == {C.BEHIND_OWN_TENANT}
    assert [grant.id for grant in await patient.dispatch.take(worker, 1, 2)] == jobs[:2]


async def test_an_emergency_is_behind_nobody(patient: Engine, red: Caller):
    worker = await crew(patient, "work", slots=1)
    await submit(patient)
    await take_one(patient, worker)
    for by in (ROOT, red):
        await submit(patient, by=by)
    assert await codes(patient, await submit(patient)) == {
        C.WORKERS_BUSY, C.BEHIND_OWN_TENANT, C.BEHIND_OTHER_TENANTS
    }  # fmt: skip
    assert await codes(patient, await submit(patient, priority=10)) == {C.WORKERS_BUSY}


async def test_the_nearest_worker_is_named_with_what_it_lacks(patient: Engine):
    await crew(patient, "work", region="eu")
    near = await crew(patient, "work", region="us", labels={"gpu": "a100"})
    job = await submit(patient, requires=Requirements(region="asia", labels={"gpu": "a100"}))
    (reason,) = (await explained(patient, job)).reasons
    assert reason.held_by is not None
    (worker,) = reason.held_by.workers
    assert worker.id == near.worker_id
    assert worker.lacks == ["region asia is wanted, it is us"]


async def test_another_server_knows_of_a_workers_probe(patient: Engine, database: str, tmp_path: Path):
    worker = await crew(patient, "work")
    await patient.dispatch.take(await crew(patient, "other"), 1, 1)
    for _ in range(5):
        worker.record.failed(0.0)
    jobs = [await submit(patient) for _ in range(2)]
    await take_one(patient, worker)
    await duty(patient, "waits").run_once()
    async with resting_engine(engine_config(database, tmp_path)) as elsewhere:
        assert await codes(elsewhere, jobs[1]) == await codes(patient, jobs[1]) == {C.WORKER_ON_PROBATION}


# Who may see what.


async def test_other_tenants_jobs_and_names_are_not_told_to_a_tenants_key(patient: Engine, red: Caller):
    worker = await crew(patient, "work", slots=2)
    await patient.limits.put(ROOT, None, LimitSpec(name="l", task="work", max_running=2))
    held = [await submit(patient), await submit(patient, by=red)]
    assert len(await patient.dispatch.take(worker, 1, 2)) == 2
    waiting, job = await submit(patient), await submit(patient, by=red)
    seen = msgspec.json.encode(await explained(patient, job, red)).decode()
    assert held[1] in seen
    for secret in (held[0], waiting, "default"):
        assert secret not in seen.replace('"queue":"default"', "")
    everything = msgspec.json.encode(await explained(patient, job)).decode()
    assert held[0] in everything
    assert '"tenant":"default"' in everything


async def test_another_tenants_job_and_an_unknown_one_are_not_there(patient: Engine, red: Caller):
    await patient.tasks.register(0, TaskDefinition(name="work"))
    for job, by in ((await submit(patient), red), ("01a1e1fe-25d5-7000-850f-46ce55faf4d1", ROOT)):
        with pytest.raises(NotFound):
            await explained(patient, job, by)


# Where the time went.


def spent(said: Explanation) -> dict[What, float]:
    return {part.what: part.seconds for part in said.spent}


def whole(said: Explanation, row: asyncpg.Record) -> float:
    milliseconds = said.id.int >> 80
    return float(row["finished_at"].timestamp() - milliseconds / 1000)


async def test_where_the_time_went_adds_up_to_the_whole(patient: Engine, database: str):
    worker = await crew(patient, "work")
    job = await submit(patient, retry={"first": 0.05, "jitter": False}, delay=0.1)
    gate = await hold(patient, database)
    await wait_for_due(patient)
    assert await patient.dispatch.take(worker, 1, 1) == []
    await patient.gating.release(ROOT, gate, None)
    await patient.complete.attempts(worker.worker_id, [done(await take_one(patient, worker, 2), End.ERROR)])
    await wait_for_due(patient)
    await patient.complete.attempts(worker.worker_id, [done(await take_one(patient, worker, 3))])
    said = await explained(patient, job)
    assert {What.WAITING_FOR_DUE, What.HELD_BY_GATE, What.RETRY_WAITS, What.RUNNING} <= set(spent(said))
    row = await patient.steer.get(ROOT, said.id)
    assert sum(spent(said).values()) == pytest.approx(whole(said, row), abs=0.005)
    assert said.answer.startswith("it succeeded")


async def wait_for_due(engine: Engine) -> None:
    """Moves what is scheduled to ready, when its time has come."""

    async def promoted() -> bool:
        rows = await engine.upkeep.timer_promote(EPOCH, 10, engine.clock.now())
        engine.signals.ready({row["lane_id"]: row["rank"] for row in rows})
        return bool(rows)

    await wait_for(promoted)


async def test_a_wait_for_a_limit_is_written_down_and_found(patient: Engine):
    worker = await crew(patient, "work")
    jobs = [await submit(patient, concurrency_key="k") for _ in range(2)]
    (grant,) = await patient.dispatch.take(worker, 1, 10)
    duty(patient, "waits")._waits.clock = lambda: time.monotonic() + 61
    assert (await duty(patient, "waits").run_once())["written"] == 1
    await patient.complete.attempts(worker.worker_id, [done(grant)])
    await patient.complete.attempts(worker.worker_id, [done(await take_one(patient, worker, 2))])
    said = await explained(patient, jobs[1])
    assert (What.WAITING_FOR_LIMIT, "key k") in {(part.what, part.detail) for part in said.spent}


@pytest.mark.parametrize("end", ["cancelled", "expired", "dropped"])
async def test_a_job_that_never_ran_has_an_account_too(patient: Engine, database: str, end: str):
    await crew(patient, "work")
    job = await submit(patient, **({"expires_in": 0.001} if end == "expired" else {}))
    if end == "cancelled":
        await patient.steer.cancel(ROOT, UUID(job), "")
    elif end == "dropped":
        await hold(patient, database, action="drop")
        await duty(patient, "gates").run_once()
    else:
        await patient.expiry.end_due()
    said = await explained(patient, job)
    assert said.state == end
    assert said.reasons == []
    assert set(spent(said)) <= {What.WAITING_FOR_WORKER}


async def test_a_cancel_that_is_under_way_is_told(patient: Engine):
    worker = await crew(patient, "work")
    job = await submit(patient)
    await take_one(patient, worker)
    await patient.steer.cancel(ROOT, UUID(job), "")
    said = await explained(patient, job)
    assert (said.state, [reason.code for reason in said.reasons]) == (State.RUNNING, [C.CANCEL_REQUESTED])


# Said at once.


async def test_a_submit_warns_when_no_worker_could_run_the_job(patient: Engine):
    await patient.tasks.register(0, TaskDefinition(name="work"))
    await patient.prospects.refresh()
    (warning,) = (await patient.submit.one(ROOT, JobRequest(task="work"))).warnings
    assert "has the task 'work'" in warning
    patient.prospects._read_at = 0.0
    await crew(patient, "work", queues=["default"])
    assert (await patient.submit.one(ROOT, JobRequest(task="work"))).warnings == []
    (warning,) = (await patient.submit.one(ROOT, JobRequest(task="work", queue="q"))).warnings
    assert "takes jobs of the queue 'q'" in warning
