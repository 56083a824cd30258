"""The calls about tasks, each described once; see `calls`."""

from datetime import datetime
from typing import Any, Final, TypeVar
from urllib.parse import quote

import msgspec

from horae.client.calls import JSON, Call, _post, _query, _reads
from horae.model.task import TaskDefinition
from horae.wire import tasks as wire
from horae.wire.access import Task, TaskPage

T = TypeVar("T")
YAML: Final = {"Content-Type": "application/yaml"}


def tasks(tenant: str | None = None) -> Call[TaskPage]:
    return Call("GET", "/v1/tasks", _reads(TaskPage), _query(tenant=tenant))


def task(name: str, tenant: str | None = None) -> Call[Task]:
    return Call("GET", _path(name), _reads(Task), _query(tenant=tenant))


def put(definition: TaskDefinition, reason: str = "", if_version: int | None = None, tenant: str | None = None
        ) -> Call[Task]:  # fmt: skip
    query = _query(reason=reason or None, if_version=if_version, tenant=tenant)
    body = msgspec.json.encode(definition)
    # Once it is done, a second one would find another version than the one it expects.
    repeatable = if_version is None
    return Call("PUT", _path(definition.name), _reads(Task), query, body, JSON, repeatable=repeatable)


def validate(definition: TaskDefinition, params: dict[str, Any] | None = None) -> Call[wire.Validated]:
    body = msgspec.json.encode(wire.Validate(definition=definition, params=params))
    return Call("POST", "/v1/tasks/validate", _reads(wire.Validated), body=body, headers=JSON)


def versions(name: str, tenant: str | None = None) -> Call[wire.TaskVersionPage]:
    return Call("GET", _path(name) + "/versions", _reads(wire.TaskVersionPage), _query(tenant=tenant))


def version(name: str, number: int, tenant: str | None = None) -> Call[wire.TaskVersion]:
    return Call("GET", f"{_path(name)}/versions/{number}", _reads(wire.TaskVersion), _query(tenant=tenant))


def diff(name: str, before: int | None = None, after: int | None = None, tenant: str | None = None
         ) -> Call[wire.TaskDiff]:  # fmt: skip
    query = _query(before=before, after=after, tenant=tenant)
    return Call("GET", _path(name) + "/diff", _reads(wire.TaskDiff), query)


def rollback(name: str, number: int, reason: str = "", tenant: str | None = None) -> Call[Task]:
    return _to(name, "rollback", Task, wire.Rollback(version=number, reason=reason), tenant)


def delete(name: str, *, force: bool = False, tenant: str | None = None) -> Call[None]:
    query = _query(force="true" if force else None, tenant=tenant)
    return Call("DELETE", _path(name), lambda _body: None, query, repeatable=False)


def share(name: str, tenants: list[str] | str, *, with_secrets: bool = False, tenant: str | None = None
          ) -> Call[wire.TaskSharePage]:  # fmt: skip
    body: Any = {"tenants": tenants, "with_secrets": with_secrets}
    return _to(name, "share", wire.TaskSharePage, msgspec.convert(body, wire.ShareRequest), tenant)


def unshare(name: str, tenants: list[str] | str, tenant: str | None = None) -> Call[wire.TaskSharePage]:
    body: Any = {"tenants": tenants}
    return _to(name, "unshare", wire.TaskSharePage, msgspec.convert(body, wire.UnshareRequest), tenant)


def shares(name: str, tenant: str | None = None) -> Call[wire.TaskSharePage]:
    return Call("GET", _path(name) + "/shares", _reads(wire.TaskSharePage), _query(tenant=tenant))


def export(name: str | None = None, tenant: str | None = None) -> Call[str]:
    return Call("GET", "/v1/tasks/export", bytes.decode, _query(name=name, tenant=tenant))


def import_text(text: str, *, dry_run: bool = False, reason: str = "", tenant: str | None = None
                ) -> Call[wire.ImportAnswer]:  # fmt: skip
    query = _query(dry_run="true" if dry_run else None, reason=reason or None, tenant=tenant)
    return Call("POST", "/v1/tasks/import", _reads(wire.ImportAnswer), query, text.encode(), YAML, waits=30.0)


def statistics(
    name: str, since: datetime | str | None = None, until: datetime | str | None = None, tenant: str | None = None
) -> Call[wire.TaskStatistics]:
    query = _query(since=since, until=until, tenant=tenant)
    return Call("GET", _path(name) + "/statistics", _reads(wire.TaskStatistics), query)


def totals(
    since: datetime | str | None = None, until: datetime | str | None = None, tenant: str | None = None
) -> Call[wire.TaskTotalsPage]:
    query = _query(since=since, until=until, tenant=tenant)
    return Call("GET", "/v1/tasks/statistics", _reads(wire.TaskTotalsPage), query)


def _path(name: str) -> str:
    return f"/v1/tasks/{quote(name, safe='')}"


def _to(name: str, what: str, kind: type[T], body: msgspec.Struct, tenant: str | None) -> Call[T]:
    call = _post(f"{_path(name)}/{what}", kind, body)
    call.query.update(_query(tenant=tenant))
    return call
