"""Tasks that are data: versions, going back, the end of a task, and sharing."""

import asyncio

import pytest

from horae.engine.access import Caller
from horae.engine.engine import Engine
from horae.engine.fleet import Joining
from horae.engine.tasks import SaveOutcome
from horae.model.errors import (
    AlreadyExists,
    InvalidInput,
    InvalidParams,
    NotFound,
    TaskChanged,
    TaskInUse,
    UnknownTask,
    WrongState,
)
from horae.model.kinds import HttpCall, Script
from horae.model.roles import GRANTS, Role
from horae.model.task import TaskDefinition
from horae.store.tasks import KEPT_VERSIONS

from .staging import ROOT, submit, take_one
from .test_briefs import join as join_for

TENANT = 1


def script(source: str, name: str = "greet", **more: object) -> TaskDefinition:
    return TaskDefinition(name=name, script=Script(source=source, interpreter="sh"), **more)


async def guest(engine: Engine, name: str) -> int:
    return (await engine.access.create_tenant(None, name)).id


async def test_every_change_makes_a_version_and_the_same_again_makes_none(resting):
    saved = [
        await resting.tasks.register(TENANT, script(source), "ann", reason)
        for source, reason in (("echo 1", "first"), ("echo 1", "again"), ("echo 2", "second"))
    ]
    assert [(s.outcome, s.version) for s in saved] == [
        (SaveOutcome.CREATED, 1), (SaveOutcome.UNCHANGED, 1), (SaveOutcome.CHANGED, 2)
    ]  # fmt: skip
    found = await resting.task_versions.list_all(TENANT, "greet")
    assert [(v.version, v.made_by, v.reason, v.current) for v in found] == [
        (2, "ann", "second", True), (1, "ann", "first", False)
    ]  # fmt: skip
    assert (await resting.task_versions.get(TENANT, "greet", 1)).definition == script("echo 1")


async def test_going_back_makes_a_new_version_with_the_old_definition(resting):
    for source in ("echo 1", "echo 2"):
        await resting.tasks.register(TENANT, script(source))
    saved = await resting.task_versions.roll_back(TENANT, "greet", 1, "ann", "")
    assert saved.version == 3
    assert (await resting.tasks.find(TENANT, "greet")).definition.script.source == "echo 1"
    assert (await resting.task_versions.get(TENANT, "greet", 3)).reason == "back to version 1"
    with pytest.raises(NotFound, match="version 9"):
        await resting.task_versions.roll_back(TENANT, "greet", 9, "ann", "")


async def test_the_latest_hundred_versions_are_kept(resting, conn):
    for number in range(KEPT_VERSIONS + 3):
        await resting.tasks.register(TENANT, script(f"echo {number}"))
    await resting.tasks.register(TENANT, script("echo 1", "other"))
    found = [v.version for v in await resting.task_versions.list_all(TENANT, "greet")]
    assert found == list(range(KEPT_VERSIONS + 3, 3, -1))
    assert await conn.fetchval("select count(*) from task_version") == KEPT_VERSIONS + 1
    with pytest.raises(NotFound, match="version 3"):
        await resting.task_versions.roll_back(TENANT, "greet", 3, "ann", "")
    assert (await resting.task_versions.roll_back(TENANT, "greet", 4, "ann", "")).version == KEPT_VERSIONS + 4


async def test_saving_at_the_same_time_loses_no_version(resting):
    await asyncio.gather(*(resting.tasks.register(TENANT, script(f"echo {n}")) for n in range(8)))
    found = await resting.task_versions.list_all(TENANT, "greet")
    assert [v.version for v in found] == list(range(8, 0, -1))
    kept = [await resting.task_versions.get(TENANT, "greet", v.version) for v in found]
    assert len({v.definition.script.source for v in kept}) == 8


async def test_a_change_of_something_that_has_changed_meanwhile_is_refused(resting):
    await resting.tasks.register(TENANT, script("echo 1"), if_version=0)
    await resting.tasks.register(TENANT, script("echo 2"), if_version=1)
    for expected in (0, 1):
        with pytest.raises(TaskChanged, match="has the version 2"):
            await resting.tasks.register(TENANT, script("echo 3"), if_version=expected)


async def test_a_function_and_a_task_that_is_data_do_not_take_each_others_name(resting):
    await resting.tasks.register(TENANT, script("echo 1"))
    await resting.tasks.register(TENANT, TaskDefinition(name="work"))
    with pytest.raises(AlreadyExists, match="is data"):
        await resting.tasks.register(TENANT, TaskDefinition(name="greet"))
    with pytest.raises(AlreadyExists, match="is a function"):
        await resting.tasks.register(TENANT, script("echo 1", "work"))
    assert (await resting.tasks.get(TENANT, "greet")).definition.script is not None


async def test_a_task_keeps_its_kind(resting):
    await resting.tasks.register(TENANT, script("echo 1"))
    with pytest.raises(AlreadyExists, match="keeps its kind"):
        await resting.tasks.register(TENANT, TaskDefinition(name="greet", http=HttpCall(url="https://example.com")))


async def test_a_worker_does_not_bring_tasks_that_are_data(resting):
    worker = Joining(name="w", host="h", slots=1, tasks=[script("echo 1")])
    with pytest.raises(InvalidInput, match="is data"):
        await resting.fleet.join(ROOT, worker)


async def test_what_saving_would_do_is_told_without_doing_it(resting):
    assert (await resting.tasks.look(TENANT, script("echo 1"))) == (SaveOutcome.CREATED, 1)
    with pytest.raises(NotFound):
        await resting.task_versions.list_all(TENANT, "greet")
    with pytest.raises(InvalidInput, match="params_schema"):
        await resting.tasks.look(TENANT, script("echo 1", params_schema={"type": "nothing"}))


async def test_a_task_is_not_deleted_while_jobs_wait_or_schedules_need_it(resting):
    await resting.tasks.register(TENANT, script("echo 1"))
    await submit(resting, "greet", delay="1h")
    with pytest.raises(TaskInUse, match="1 jobs") as refused:
        await resting.task_versions.delete(TENANT, "greet", "ann", force=False)
    assert refused.value.extra == {"jobs": 1, "schedules": []}


async def test_a_deleted_task_is_gone_for_submits_and_can_be_brought_back(engine):
    await engine.tasks.register(TENANT, script("echo 1", max_running=2))
    worker = await join_for(engine, "script")
    await submit(engine, "greet")
    await engine.task_versions.delete(TENANT, "greet", "ann", force=True)
    with pytest.raises(UnknownTask):
        await submit(engine, "greet")
    assert await engine.limits.list_all(ROOT, None) == []
    grant = await take_one(engine, worker)
    with pytest.raises(UnknownTask, match="was deleted"):
        await engine.briefs.give(worker.worker_id, grant.lane, grant.id, 1)
    await engine.task_versions.roll_back(TENANT, "greet", 1, "ann", "")
    assert (await engine.tasks.get(TENANT, "greet")).version == 2
    assert (await engine.briefs.give(worker.worker_id, grant.lane, grant.id, 1)).version == 2


async def test_params_that_leave_a_placeholder_empty_are_refused_at_submit(resting):
    call = HttpCall(url="https://example.com/${{ params.user.id }}", headers={"x-note": "${{ params.note }}"})
    await resting.tasks.register(TENANT, TaskDefinition(name="call", http=call))
    with pytest.raises(InvalidParams, match="/params/user/id") as refused:
        await submit(resting, "call", params={"user": {"name": "ann"}})
    assert [error["pointer"] for error in refused.value.extra["errors"]] == ["/params/user/id", "/params/note"]
    await submit(resting, "call", params={"user": {"id": 7}, "note": None})


async def test_params_are_checked_against_the_schema_of_a_task_that_is_data(resting):
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    await resting.tasks.register(TENANT, script("echo 1", params_schema=schema))
    with pytest.raises(InvalidParams, match="/params/n"):
        await submit(resting, "greet", params={"n": "seven"})


async def shared_with_blue(keeping, *, with_secrets):
    """A worker, and its lease on blue's job of a task that asks for a secret, which owner and guest both have."""
    blue = await guest(keeping, "blue")
    for tenant_id, value in ((TENANT, "of the owner"), (blue, "of the guest")):
        await keeping.secrets.set(ROOT, tenant_id, "KEY", value)
    await keeping.tasks.register(TENANT, script("echo 1", env={"KEY": "${{ secrets.KEY }}"}))
    with pytest.raises(UnknownTask):
        await submit(keeping, "greet", tenant="blue")
    await keeping.task_sharing.share(TENANT, "greet", ["blue"], "ann", with_secrets=with_secrets)
    await submit(keeping, "greet", tenant="blue")
    worker = await join_for(keeping, "script")
    return worker, await take_one(keeping, worker)


async def test_a_task_shared_with_its_secrets_runs_as_the_guests_job_with_the_owners(keeping):
    worker, grant = await shared_with_blue(keeping, with_secrets=True)
    brief = await keeping.briefs.give(worker.worker_id, grant.lane, grant.id, 1)
    assert (brief.tenant, brief.task.name, brief.secrets) == ("blue", "greet", {"KEY": "of the owner"})


async def test_a_guests_secrets_are_given_to_no_task_of_another_tenants(keeping):
    """Its owner could change it to tell them."""
    worker, grant = await shared_with_blue(keeping, with_secrets=False)
    with pytest.raises(WrongState, match="shared it without its own"):
        await keeping.briefs.give(worker.worker_id, grant.lane, grant.id, 1)


async def test_a_name_means_the_own_task_then_the_one_for_all_then_what_was_given_first(resting):
    blue, red = await guest(resting, "blue"), await guest(resting, "red")

    async def meant() -> str:
        resting.tasks.forget()
        return (await resting.tasks.find(blue, "greet")).definition.script.source

    await resting.tasks.register(TENANT, script("given to all"))
    await resting.task_sharing.share(TENANT, "greet", "*", "ann", with_secrets=False)
    assert await meant() == "given to all"
    await resting.tasks.register(red, script("given later, by name"))
    await resting.task_sharing.share(red, "greet", ["blue"], "mallory", with_secrets=False)
    await resting.task_sharing.share(TENANT, "greet", "*", "ann", with_secrets=True)
    assert await meant() == "given to all"
    await resting.tasks.register(0, script("for all"))
    assert await meant() == "for all"
    await resting.tasks.register(blue, script("own"))
    assert await meant() == "own"
    for tenant_id in (blue, 0):
        await resting.task_versions.delete(tenant_id, "greet", "ann", force=False)
    await resting.task_sharing.unshare(TENANT, "greet", "*", "ann")
    assert await meant() == "given later, by name"


async def test_an_owner_gives_its_secrets_to_a_guest_by_name_though_not_to_all(resting):
    blue = await guest(resting, "blue")
    await resting.tasks.register(TENANT, script("echo 1"))
    await resting.task_sharing.share(TENANT, "greet", "*", "ann", with_secrets=False)
    await resting.task_sharing.share(TENANT, "greet", ["blue"], "ann", with_secrets=True)
    assert (await resting.tasks.get(blue, "greet")).with_secrets


async def test_the_owners_secrets_are_given_to_no_worker_of_the_guests(keeping):
    blue = await guest(keeping, "blue")
    await keeping.secrets.set(ROOT, TENANT, "KEY", "of the owner")
    await keeping.tasks.register(TENANT, script("echo 1", env={"KEY": "${{ secrets.KEY }}"}))
    await keeping.task_sharing.share(TENANT, "greet", ["blue"], "ann", with_secrets=True)
    await submit(keeping, "greet", tenant="blue")
    mallory = Caller(0, "mallory", Role.WORKER, blue, "blue", GRANTS[Role.WORKER])
    joining = Joining(name="w", host="h", slots=1, tasks=[], kinds=["script"])
    worker = await keeping.fleet.session(mallory, await keeping.fleet.join(mallory, joining))
    grant = await take_one(keeping, worker)
    with pytest.raises(WrongState, match="owner's secrets"):
        await keeping.briefs.give(worker.worker_id, grant.lane, grant.id, 1)


async def test_a_job_that_waits_gets_nothing_of_a_task_that_was_taken_back(keeping):
    await guest(keeping, "blue")
    await keeping.secrets.set(ROOT, TENANT, "KEY", "of the owner")
    await keeping.tasks.register(TENANT, script("echo 1", env={"KEY": "${{ secrets.KEY }}"}))
    await keeping.task_sharing.share(TENANT, "greet", ["blue"], "ann", with_secrets=True)
    await submit(keeping, "greet", tenant="blue")
    worker = await join_for(keeping, "script")
    grant = await take_one(keeping, worker)
    await keeping.task_sharing.unshare(TENANT, "greet", ["blue"], "ann")
    with pytest.raises(UnknownTask):
        await keeping.briefs.give(worker.worker_id, grant.lane, grant.id, 1)


async def test_only_tasks_that_are_data_and_of_a_tenant_are_shared(resting):
    await guest(resting, "blue")
    await resting.tasks.register(TENANT, TaskDefinition(name="work"))
    await resting.tasks.register(0, script("for all"))
    for tenant, name, tenants, words in (
        (TENANT, "work", ["blue"], "is a function"),
        (0, "greet", ["blue"], "for all tenants already"),
        (TENANT, "greet", ["blue"], "no task"),
    ):
        with pytest.raises((InvalidInput, NotFound), match=words):
            await resting.task_sharing.share(tenant, name, tenants, "ann", with_secrets=False)
    await resting.tasks.register(TENANT, script("own"))
    for tenants, words in ((["nobody"], "no tenant"), ([], "tenants"), (["default"], "own already")):
        with pytest.raises((InvalidInput, NotFound), match=words):
            await resting.task_sharing.share(TENANT, "greet", tenants, "ann", with_secrets=False)


async def test_a_transaction_of_the_user_finds_a_shared_task(resting, conn):
    await guest(resting, "blue")
    await resting.tasks.register(TENANT, script("echo 1"))
    await resting.task_sharing.share(TENANT, "greet", ["blue"], "ann", with_secrets=False)
    job_id = await conn.fetchval("select horae.submit('greet', '{}', '{\"tenant\": \"blue\"}')")
    row = await conn.fetchrow(
        "select l.requires, n.name from horae.job j join horae.lane l on l.id = j.lane_id "
        "join horae.tenant n on n.id = j.tenant_id where j.id = $1", job_id
    )  # fmt: skip
    assert (row["name"], row["requires"]) == ("blue", '{"runner":"script"}')
