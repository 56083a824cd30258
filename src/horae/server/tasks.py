"""Tasks: saving them, their versions, sharing, export and import."""

import asyncio
import difflib

import msgspec

from horae.engine.taskrows import SHARED
from horae.engine.tasksharing import ShareView
from horae.engine.taskvalidation import validate as look_at
from horae.model.errors import HoraeError, InvalidInput
from horae.model.kinds import Kind
from horae.model.roles import Permission
from horae.model.task import TaskDefinition
from horae.server.calls import Call, Reply
from horae.server.views import task_view
from horae.wire.access import TaskPage
from horae.wire.taskfiles import read_task, read_tasks, write_task, write_tasks
from horae.wire.tasks import (
    ImportAnswer,
    ImportedTask,
    Rollback,
    ShareRequest,
    TaskDiff,
    TaskShare,
    TaskSharePage,
    TaskStatistics,
    TaskStep,
    TaskTotals,
    TaskTotalsPage,
    TaskVersion,
    TaskVersionPage,
    UnshareRequest,
    Validate,
    Validated,
)

YAML = b"application/yaml"
MAX_DIFF_LINES = 5000
_task = msgspec.json.Decoder(TaskDefinition)
_validate = msgspec.json.Decoder(Validate)
_rollback = msgspec.json.Decoder(Rollback)
_share = msgspec.json.Decoder(ShareRequest)
_unshare = msgspec.json.Decoder(UnshareRequest)


async def _owner(call: Call) -> int:
    """Whose task a change is about. Without a tenant, a key that belongs to none means the tasks for all."""
    if call.caller.tenant_id is None and "tenant" not in call.query:
        return SHARED
    return await call.engine.access.tenant_for(call.caller, call.query.get("tenant"))


async def _reader(call: Call) -> int:
    return await call.engine.access.tenant_for(call.caller, call.query.get("tenant"))


def _flag(call: Call, name: str) -> bool:
    text = call.query.get(name, "false")
    if text not in ("true", "false"):
        raise InvalidInput(f"{name}: {text[:40]!r} is neither true nor false", field=name)
    return text == "true"


async def list_tasks(call: Call) -> Reply:
    tenant_id = await call.engine.access.tenant_filter(call.caller, call.query.get("tenant"))
    return Reply(TaskPage([task_view(task) for task in await call.engine.tasks.list_all(tenant_id)]))


async def get(call: Call) -> Reply:
    return Reply(task_view(await call.engine.tasks.get(await _reader(call), call.path["name"])))


async def statistics(call: Call) -> Reply:
    span = call.engine.statistics.span(call.query_instant("since"), call.query_instant("until"))
    tenant_id = await call.engine.access.tenant_filter(call.caller, call.query.get("tenant"))
    steps = await call.engine.statistics.of_task(tenant_id, call.path["name"], span)
    items = [TaskStep(at=at, **msgspec.structs.asdict(figures)) for at, figures in steps]
    return Reply(TaskStatistics(since=span.since, until=span.until, step=span.step, items=items))


async def totals(call: Call) -> Reply:
    span = call.engine.statistics.span(call.query_instant("since"), call.query_instant("until"))
    tenant_id = await call.engine.access.tenant_filter(call.caller, call.query.get("tenant"))
    found = await call.engine.statistics.of_tasks(tenant_id, span)
    items = [TaskTotals(tenant=tenant, task=task, **msgspec.structs.asdict(it)) for tenant, task, it in found]
    return Reply(TaskTotalsPage(since=span.since, until=span.until, items=items))


async def put(call: Call) -> Reply:
    definition = call.read(_task)
    if definition.name != call.path["name"]:
        raise InvalidInput(f"name: the body says {definition.name!r}, the address {call.path['name']!r}", field="name")
    tenant_id, tasks = await _owner(call), call.engine.tasks
    await tasks.register(
        tenant_id, definition, call.caller.name, call.query.get("reason", ""), _number(call, "if_version")
    )
    return Reply(task_view(await tasks.get(tenant_id, definition.name)))


async def validate(call: Call) -> Reply:
    asked = call.read(_validate)
    engine, tenant_id = call.engine, call.caller.tenant_id or SHARED
    found = await look_at(engine.schemas, tenant_id, asked.definition, asked.params)
    return Reply(msgspec.convert(found, Validated, from_attributes=True))


async def versions(call: Call) -> Reply:
    found = await call.engine.task_versions.list_all(await _reader(call), call.path["name"])
    return Reply(TaskVersionPage([msgspec.convert(one, TaskVersion, from_attributes=True) for one in found]))


async def version(call: Call) -> Reply:
    found = await call.engine.task_versions.get(await _reader(call), call.path["name"], call.number("version"))
    return Reply(msgspec.convert(found, TaskVersion, from_attributes=True))


async def diff(call: Call) -> Reply:
    before, after = await call.engine.task_versions.compare(
        await _reader(call), call.path["name"], _number(call, "before"), _number(call, "after")
    )
    old, new = before.definition, after.definition
    if old is None or new is None:
        raise AssertionError("only lists leave definitions out")
    fields = [name for name in TaskDefinition.__struct_fields__ if getattr(old, name) != getattr(new, name)]
    text = await asyncio.to_thread(_differences, old, new, f"version {before.version}", f"version {after.version}")
    return Reply(TaskDiff(before=before.version, after=after.version, fields=fields, text=text))


def _differences(old: TaskDefinition, new: TaskDefinition, was_called: str, is_called: str) -> str:
    """What it takes grows with the square of the lines."""
    was, will = (write_task(side).splitlines(keepends=True) for side in (old, new))
    if max(len(was), len(will)) > MAX_DIFF_LINES:
        return f"{was_called} or {is_called} has more than {MAX_DIFF_LINES} lines: get both and compare them there\n"
    return "".join(difflib.unified_diff(was, will, was_called, is_called))


def _number(call: Call, name: str) -> int | None:
    return int(call.query_number(name, 0, 0, 1e9)) if name in call.query else None


async def rollback(call: Call) -> Reply:
    asked, tenant_id, name = call.read(_rollback), await _owner(call), call.path["name"]
    await call.engine.task_versions.roll_back(tenant_id, name, asked.version, call.caller.name, asked.reason)
    return Reply(task_view(await call.engine.tasks.get(tenant_id, name)))


async def delete(call: Call) -> Reply:
    force = _flag(call, "force")
    await call.engine.task_versions.delete(await _owner(call), call.path["name"], call.caller.name, force=force)
    return Reply(status=204)


async def share(call: Call) -> Reply:
    asked = call.read(_share)
    if asked.with_secrets:
        call.caller.may(Permission.SECRETS_WRITE)
    found = await call.engine.task_sharing.share(
        await _owner(call), call.path["name"], asked.tenants, call.caller.name, with_secrets=asked.with_secrets
    )
    return _page(found)


async def unshare(call: Call) -> Reply:
    asked = call.read(_unshare)
    found = await call.engine.task_sharing.unshare(
        await _owner(call), call.path["name"], asked.tenants, call.caller.name
    )
    return _page(found)


async def shares(call: Call) -> Reply:
    found = await call.engine.task_sharing.list_all(await _reader(call), call.path["name"])
    return _page(found)


def _page(found: list[ShareView]) -> Reply:
    return Reply(TaskSharePage([msgspec.convert(one, TaskShare, from_attributes=True) for one in found]))


async def export(call: Call) -> Reply:
    """The tasks that are data, of one tenant; for a key that belongs to none and names none, those for all."""
    tenant_id = await _owner(call)
    found = await call.engine.tasks.list_own(tenant_id, call.query.get("name"))
    text = await asyncio.to_thread(write_tasks, found)
    return Reply(text.encode(), content_type=YAML)


async def import_tasks(call: Call) -> Reply:
    dry_run, tenant_id = _flag(call, "dry_run"), await _owner(call)
    try:
        items = await asyncio.to_thread(read_tasks, call.body.decode())
    except UnicodeDecodeError as error:
        raise InvalidInput("the file is not UTF-8") from error
    done = [await _import(call, tenant_id, number, item, dry_run=dry_run) for number, item in enumerate(items)]
    return Reply(ImportAnswer(dry_run=dry_run, items=done))


async def _import(call: Call, tenant_id: int, number: int, item: object, *, dry_run: bool) -> ImportedTask:
    """Each task for itself: one that is refused does not spoil the others."""
    name = str(item.get("name", "")) if isinstance(item, dict) else ""
    try:
        definition = read_task(item)
        if definition.kind is Kind.FUNCTION:
            raise InvalidInput("a function comes with the code of a worker; only data can be imported")
        if dry_run:
            saved = await call.engine.tasks.look(tenant_id, definition)
        else:
            reason = call.query.get("reason", "imported")
            saved = await call.engine.tasks.register(tenant_id, definition, call.caller.name, reason)
    except HoraeError as error:
        if error.status >= 500:
            raise
        return ImportedTask(name=name or f"tasks[{number}]", outcome="refused", error=error.detail)
    return ImportedTask(name=definition.name, outcome=saved.outcome.value, version=saved.version)
