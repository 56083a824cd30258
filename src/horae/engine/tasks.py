"""Tasks: their definitions, their defaults, and the check of parameters against their schema."""

import difflib
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any, Final

import asyncpg
import jsonschema_rs
import msgspec

from horae.model.durations import format_duration, parse_duration
from horae.model.errors import InvalidInput, InvalidParams, NotFound, UnknownTask
from horae.model.job import DEFAULT_QUEUE, JobRequest
from horae.model.matching import placement_of
from horae.model.placement import canonical
from horae.model.rank import EMERGENCY
from horae.model.retry import RetryPolicy
from horae.model.task import TaskDefinition, check_task
from horae.store.control import Control

SHARED: Final = 0
"""The tenant number under which tasks stand that every tenant may use."""
REMEMBER_SECONDS: Final = 5.0
MAX_REMEMBERED: Final = 20_000
MAX_SCHEMA_BYTES: Final = 64 * 1024
MAX_ERRORS: Final = 10
COLUMNS: Final = frozenset(
    {"name", "queue", "priority", "max_attempts", "timeout", "retry", "params_schema", "description"}
)
EXTRA: Final = tuple(field for field in TaskDefinition.__struct_fields__ if field not in COLUMNS)
"""The fields of a definition that are stored together, as JSON."""


class TaskView(msgspec.Struct, frozen=True):
    tenant: str | None
    """None: shared with all tenants."""
    definition: TaskDefinition
    updated_at: datetime


class KnownTask(msgspec.Struct):
    """A definition made ready for submits."""

    definition: TaskDefinition
    timeout: float | None
    check: Callable[[Any], bool] | None
    """Whether params fit the schema; None where there is nothing to check."""
    validator: Any
    until: float
    plain_lane: int | None = None
    """The lane of a request that names neither queue nor concurrency key, once it is known."""


class Tasks:
    def __init__(self, control: Control) -> None:
        self._control = control
        self._known: dict[tuple[int, str], KnownTask] = {}
        self.on_register: list[Callable[[int, TaskDefinition], Awaitable[None]]] = []

    def recall(self, tenant_id: int, name: str) -> KnownTask | None:
        """The task if it is fresh in memory: the quick way of the hot path."""
        known = self._known.get((tenant_id, name))
        return known if known is not None and known.until > time.monotonic() else None

    async def find(self, tenant_id: int, name: str) -> KnownTask:
        known = self.recall(tenant_id, name)
        if known is not None:
            return known
        row = await self._control.task_get(tenant_id, name)
        if row is None:
            raise await self._unknown(tenant_id, name)
        return self._remember(tenant_id, definition_of(row))

    async def register(self, tenant_id: int, definition: TaskDefinition) -> None:
        check_task(definition)
        schema = _encode_schema(definition)
        seconds = _timeout(definition)
        placement = canonical(placement_of(JobRequest(task=definition.name), definition))
        await self._control.task_put(
            tenant_id,
            definition.name,
            definition.queue,
            definition.priority,
            definition.max_attempts,
            seconds,
            msgspec.json.encode(definition.retry).decode() if definition.retry else None,
            schema,
            definition.description,
            _encode_extra(definition),
            placement,
        )
        urgent = definition.priority == EMERGENCY
        await self._control.task_lanes(
            tenant_id, definition.name, definition.queue or DEFAULT_QUEUE, placement, urgent
        )  # fmt: skip
        for listener in self.on_register:
            await listener(tenant_id, definition)
        if tenant_id == SHARED:
            self._known.clear()
        self._remember(tenant_id, definition)

    async def get(self, tenant_id: int, name: str) -> TaskView:
        row = await self._control.task_get(tenant_id, name)
        if row is None:
            raise NotFound(f"there is no task {name!r}")
        return TaskView(row["tenant"], definition_of(row), row["updated_at"])

    async def list_all(self, tenant_id: int | None) -> list[TaskView]:
        rows = await self._control.task_list(tenant_id)
        return [TaskView(row["tenant"], definition_of(row), row["updated_at"]) for row in rows]

    def _remember(self, tenant_id: int, definition: TaskDefinition) -> KnownTask:
        if len(self._known) >= MAX_REMEMBERED:
            self._known.clear()
        validator = None
        if definition.params_schema:
            validator = jsonschema_rs.validator_for(definition.params_schema, retriever=_refuse_reference)
        known = KnownTask(
            definition,
            _timeout(definition),
            validator.is_valid if validator else None,
            validator,
            time.monotonic() + REMEMBER_SECONDS,
        )
        self._known[tenant_id, definition.name] = known
        return known

    async def _unknown(self, tenant_id: int, name: str) -> UnknownTask:
        names = [row["name"] for row in await self._control.task_list(tenant_id)]
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "start a worker that has it, or register it with PUT /v1/tasks"
        return UnknownTask(f"no task {name!r} is registered in this tenant; {hint}", field="task")


def check_params(task: KnownTask, params: dict[str, Any]) -> None:
    """Refuses params that do not fit, naming the path of each fault."""
    if task.check is None or task.check(params):
        return
    faults = []
    for error in task.validator.iter_errors(params):
        path = "".join(f"/{part}" for part in error.instance_path)
        faults.append({"pointer": f"/params{path}", "detail": error.message[:300]})
        if len(faults) >= MAX_ERRORS:
            break
    first = faults[0] if faults else {"pointer": "/params", "detail": "does not fit"}
    raise InvalidParams(
        f"params of task {task.definition.name!r}: {first['pointer']}: {first['detail']}", errors=faults
    )


def definition_of(row: asyncpg.Record) -> TaskDefinition:
    seconds = row["timeout_seconds"]
    return TaskDefinition(
        name=row["name"],
        queue=row["queue"],
        priority=row["priority"],
        max_attempts=row["max_attempts"],
        timeout=None if seconds is None else format_duration(timedelta(seconds=seconds)),
        retry=msgspec.json.decode(row["retry"], type=RetryPolicy) if row["retry"] else None,
        params_schema=msgspec.json.decode(row["params_schema"]) if row["params_schema"] else None,
        description=row["description"],
        **_decode_extra(row["extra"]),
    )


def _decode_extra(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    read = msgspec.convert({"name": "x", **msgspec.json.decode(text)}, TaskDefinition)
    extra = {name: getattr(read, name) for name in EXTRA}
    if isinstance(read.expires_in, int | float):
        extra["expires_in"] = format_duration(timedelta(seconds=read.expires_in))
    return extra


def _encode_extra(definition: TaskDefinition) -> str | None:
    """The fields that have no column of their own."""
    extra = {name: value for name in EXTRA if (value := getattr(definition, name)) is not None}
    if definition.expires_in is not None:
        # In seconds, which SQL understands too.
        extra["expires_in"] = parse_duration(definition.expires_in, "expires_in").total_seconds()
    return msgspec.json.encode(extra, order="sorted").decode() if extra else None


def _refuse_reference(uri: str) -> Any:
    """A schema must not make the server fetch anything."""
    raise ValueError(f"references to other documents are not followed: {uri[:200]}")


def _timeout(definition: TaskDefinition) -> float | None:
    return None if definition.timeout is None else parse_duration(definition.timeout, "timeout").total_seconds()


def _encode_schema(definition: TaskDefinition) -> str | None:
    if definition.params_schema is None:
        return None
    text = msgspec.json.encode(definition.params_schema)
    if len(text) > MAX_SCHEMA_BYTES:
        raise InvalidInput(f"params_schema: larger than {MAX_SCHEMA_BYTES} bytes", field="params_schema")
    try:
        jsonschema_rs.validator_for(definition.params_schema, retriever=_refuse_reference)
    except (ValueError, jsonschema_rs.ValidationError) as error:
        raise InvalidInput(f"params_schema: not a JSON Schema: {str(error)[:300]}", field="params_schema") from error
    return text.decode()
