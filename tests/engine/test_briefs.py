"""Jobs whose tasks are data: who gets them, and what a worker is told of them."""

from uuid import UUID

import pytest

from horae.engine.engine import Engine
from horae.engine.fleet import Joining
from horae.engine.sessions import Session
from horae.model.errors import WrongState
from horae.model.explanation import Code
from horae.model.job import JobRequest
from horae.model.kinds import HttpCall, Script, SecretUse
from horae.model.task import TaskDefinition
from horae.testing.waiting import wait_for

from .staging import ROOT, submit, take_one

SCRIPT = TaskDefinition(name="greet", script=Script(source="echo hello", interpreter="sh"))


async def join(engine: Engine, *kinds: str) -> Session:
    worker = Joining(name="w", host="h", slots=10, tasks=[], kinds=kinds)
    return await engine.fleet.session(ROOT, await engine.fleet.join(ROOT, worker))


async def test_a_job_goes_to_a_worker_that_offers_its_kind_and_to_no_other(engine):
    await engine.tasks.register(0, SCRIPT)
    other, fitting = await join(engine, "function", "container"), await join(engine, "script")
    await submit(engine, "greet")
    assert await engine.dispatch.take(other, 1, 1) == []
    grant = await take_one(engine, fitting)
    assert (grant.task, grant.kind) == ("greet", "script")


async def test_a_function_is_not_given_to_a_worker_that_lacks_it_whatever_its_kinds(engine):
    await engine.tasks.register(0, TaskDefinition(name="work"))
    await submit(engine, "work")
    assert await engine.dispatch.take(await join(engine, "function", "script"), 1, 1) == []


async def test_the_brief_holds_the_definition_that_is_in_force_now(engine):
    await engine.tasks.register(0, SCRIPT)
    worker = await join(engine, "script")
    await submit(engine, "greet")
    grant = await take_one(engine, worker)
    await engine.tasks.register(0, TaskDefinition(name="greet", script=Script(source="echo better", interpreter="sh")))
    brief = await engine.briefs.give(worker.worker_id, grant.lane, grant.id, grant.attempt)
    assert brief.task.script.source == "echo better"
    assert (brief.id, brief.attempt, brief.tenant, brief.secrets) == (grant.id, 1, "default", {})


async def test_a_brief_is_given_to_nobody_but_the_worker_that_holds_the_attempt(engine):
    await engine.tasks.register(0, SCRIPT)
    worker, other = await join(engine, "script"), await join(engine, "script")
    await submit(engine, "greet")
    grant = await take_one(engine, worker)
    for worker_id, attempt in ((other.worker_id, 1), (worker.worker_id, 2)):
        with pytest.raises(WrongState, match="no longer holds"):
            await engine.briefs.give(worker_id, grant.lane, grant.id, attempt)


async def test_a_brief_has_every_secret_that_the_task_names_and_no_other(keeping):
    task = TaskDefinition(
        name="greet",
        script=Script(source="echo hello", interpreter="sh"),
        env={"TOKEN": "Bearer ${{ secrets.API }}"},
        secrets=[SecretUse(name="PASSWORD", file=True)],
    )
    call = HttpCall(url="https://example.com", headers={"x": "${{ secrets.API }}"}, sign_with="SIGN")
    await keeping.tasks.register(0, task)
    await keeping.tasks.register(0, TaskDefinition(name="call", http=call))
    for name in ("API", "PASSWORD", "SIGN", "OTHER"):
        await keeping.secrets.set(ROOT, 1, name, f"the value of {name}")
    worker, found = await join(keeping, "script", "http"), {}
    for name in ("greet", "call"):
        await submit(keeping, name)
        grant = await take_one(keeping, worker)
        found[name] = (await keeping.briefs.give(worker.worker_id, grant.lane, grant.id, 1)).secrets
    assert found == {
        "greet": {"API": "the value of API", "PASSWORD": "the value of PASSWORD"},
        "call": {"API": "the value of API", "SIGN": "the value of SIGN"},
    }


async def test_it_is_explained_and_warned_of_that_no_worker_offers_the_kind(engine):
    await engine.tasks.register(0, SCRIPT)
    await join(engine, "container")
    await engine.prospects.refresh()
    submitted = await engine.submit.one(ROOT, JobRequest(task="greet"))
    assert "kind script" in submitted.warnings[0]
    explanation = await engine.explain.of(ROOT, UUID(submitted.id))
    (reason,) = explanation.reasons
    assert reason.code is Code.NO_WORKER_MATCHES
    assert "its kinds are: container" in reason.summary


async def test_a_job_that_is_changed_still_goes_to_a_worker_of_its_kind(engine):
    await engine.tasks.register(0, SCRIPT)
    job_id = await submit(engine, "greet", delay="1h")
    await engine.steer.change(ROOT, UUID(job_id), {"spread": 3, "delay": 0})
    worker, grants = await join(engine, "script"), []

    async def granted() -> bool:
        grants.extend(await engine.dispatch.take(worker, 1, 1))
        return bool(grants)

    await wait_for(granted)
    assert grants[0].kind == "script"
