"""`client.tasks`: what both faces send, and what they make of the answers."""

import inspect
from typing import Any

import pytest

from horae.client.client import AsyncClient, Client
from horae.client.tasks import AsyncTasks, Tasks
from horae.model.errors import TaskInUse, Unreachable
from horae.model.kinds import Script
from horae.model.task import TaskDefinition

TASK = TaskDefinition(name="a/b", script=Script(source="echo", interpreter="sh"))
PATH = "/v1/tasks/a%2Fb"
WHOLE = {
    "definition": {"name": "a/b", "script": {"source": "echo", "interpreter": "sh"}},
    "updated_at": "2026-01-01T00:00:00Z", "kind": "script", "version": 3,
}  # fmt: skip
VERSION = {"version": 3, "definition": {"name": "a/b"}, "made_at": "2026-01-01T00:00:00Z", "made_by": "ann"}
NOBODY: dict[str, Any] = {"items": []}
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any], str, str, Any, Any]] = [
    ("list", ("red",), {}, "GET", "/v1/tasks?tenant=red", None, NOBODY),
    ("get", ("a/b",), {}, "GET", PATH, None, WHOLE),
    ("put", (TASK, "why", 2, "red"), {}, "PUT", f"{PATH}?reason=why&if_version=2&tenant=red", WHOLE["definition"],
     WHOLE),
    ("validate", (TASK, {"x": 1}), {}, "POST", "/v1/tasks/validate",
     {"definition": WHOLE["definition"], "params": {"x": 1}}, {"valid": True}),
    ("versions", ("a/b",), {}, "GET", f"{PATH}/versions", None, {"items": [VERSION]}),
    ("version", ("a/b", 3), {}, "GET", f"{PATH}/versions/3", None, VERSION),
    ("diff", ("a/b", 1, 3), {}, "GET", f"{PATH}/diff?before=1&after=3", None,
     {"before": 1, "after": 3, "fields": ["script"], "text": ""}),
    ("rollback", ("a/b", 1, "why", "red"), {}, "POST", f"{PATH}/rollback?tenant=red", {"version": 1, "reason": "why"},
     WHOLE),
    ("delete", ("a/b",), {"force": True}, "DELETE", f"{PATH}?force=true", None, None),
    ("share", ("a/b", ["red"]), {"with_secrets": True}, "POST", f"{PATH}/share",
     {"tenants": ["red"], "with_secrets": True}, NOBODY),
    ("share", ("a/b", "*"), {}, "POST", f"{PATH}/share", {"tenants": "*"}, NOBODY),
    ("unshare", ("a/b", "*"), {}, "POST", f"{PATH}/unshare", {"tenants": "*"}, NOBODY),
    ("shares", ("a/b",), {}, "GET", f"{PATH}/shares", None, NOBODY),
]  # fmt: skip


async def answered(found: Any) -> Any:
    return await found if inspect.isawaitable(found) else found


@pytest.mark.parametrize(("method", "args", "named", "verb", "target", "body", "answer"), CALLS)
async def test_both_faces_send_the_same(
    stub, client: Client, async_client: AsyncClient, method: str, args: Any, named: Any, verb: str, target: str,
    body: Any, answer: Any,
) -> None:  # fmt: skip
    for face in (client.tasks, async_client.tasks):
        stub.answer(answer)
        await answered(getattr(face, method)(*args, **named))
        sent = stub.requests[-1]
        assert (sent.method, sent.target, sent.json() if sent.body else None) == (verb, target, body)


async def test_tasks_are_listed_by_calling_it(stub, client: Client, async_client: AsyncClient) -> None:
    for face in (client.tasks, async_client.tasks):
        stub.answer({"items": [WHOLE]})
        (task,) = (await answered(face())).items
        assert (task.definition, task.version, task.kind) == (TASK, 3, "script")


async def test_yaml_goes_out_and_in_as_text(stub, client: Client, async_client: AsyncClient) -> None:
    for face in (client.tasks, async_client.tasks):
        stub.answer(b"tasks: []\n")
        assert await answered(face.export("a/b")) == "tasks: []\n"
        assert stub.requests[-1].target == "/v1/tasks/export?name=a%2Fb"
        stub.answer({"dry_run": True, "items": [{"name": "x", "outcome": "refused", "error": "no"}]})
        done = await answered(face.import_text("tasks: []\n", dry_run=True))
        assert (done.items[0].outcome, done.items[0].error) == ("refused", "no")
        assert (stub.requests[-1].target, stub.requests[-1].body) == ("/v1/tasks/import?dry_run=true", b"tasks: []\n")


def test_both_faces_offer_the_same() -> None:
    def offered(face: type) -> dict[str, list[str]]:
        methods = inspect.getmembers(face, inspect.isfunction)
        return {name: list(inspect.signature(method).parameters) for name, method in methods}

    assert offered(Tasks) == offered(AsyncTasks)


def test_a_refusal_says_who_needs_the_task(stub, client: Client) -> None:
    stub.refuse(TaskInUse("needed", jobs=1, schedules=["nightly"]))
    with pytest.raises(TaskInUse) as refused:
        client.tasks.delete("a/b")
    assert refused.value.extra["schedules"] == ["nightly"]


def test_a_change_of_an_expected_version_is_not_sent_twice(stub, client: Client) -> None:
    stub.hang_up()
    with pytest.raises(Unreachable, match="may or may not"):
        client.tasks.put(TASK, if_version=1)
    assert len(stub.requests) == 1
