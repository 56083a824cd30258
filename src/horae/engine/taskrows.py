"""Definitions of tasks as rows: what has a column of its own, what is stored together, and back."""

from datetime import timedelta
from typing import Any, Final

import asyncpg
import msgspec

from horae.model.durations import format_duration, parse_duration
from horae.model.errors import WrongState
from horae.model.job import JobRequest
from horae.model.matching import placement_of
from horae.model.placement import canonical
from horae.model.retry import RetryPolicy
from horae.model.task import TaskDefinition, secrets_of

SHARED: Final = 0
"""The tenant number under which tasks stand that every tenant may use."""
COLUMNS: Final = frozenset(
    {"name", "queue", "priority", "max_attempts", "timeout", "retry", "params_schema", "description"}
)
EXTRA: Final = tuple(field for field in TaskDefinition.__struct_fields__ if field not in COLUMNS)
"""The fields of a definition that are stored together, as JSON."""
_definition = msgspec.json.Decoder(TaskDefinition)


def task_values(tenant_id: int, definition: TaskDefinition) -> tuple[object, ...]:
    """A definition as `task_put` takes it, but for the version, which comes last."""
    return (
        tenant_id,
        definition.name,
        definition.queue,
        definition.priority,
        definition.max_attempts,
        timeout_seconds(definition),
        msgspec.json.encode(definition.retry).decode() if definition.retry else None,
        msgspec.json.encode(definition.params_schema).decode() if definition.params_schema is not None else None,
        definition.description,
        _encode_extra(definition),
        placement_text(definition),
        secrets_of(definition),
    )


def placement_text(definition: TaskDefinition) -> str:
    """Where jobs of the task run that say nothing of it themselves."""
    return canonical(placement_of(JobRequest(task=definition.name), definition))


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


def read_definition(text: str) -> TaskDefinition:
    """Of a version."""
    return _definition.decode(text)


def write_definition(definition: TaskDefinition) -> str:
    return msgspec.json.encode(definition).decode()


def timeout_seconds(definition: TaskDefinition) -> float | None:
    return None if definition.timeout is None else parse_duration(definition.timeout, "timeout").total_seconds()


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


def secrets_giver(owner: int, tenant_id: int, name: str, *, shared: bool) -> int:
    """Whose secrets a tenant's job of a task gets: those of whoever wrote it, for its code could tell them to anybody.
    So none of a guest's is given to a task of another tenant's."""
    if owner in (SHARED, tenant_id):
        return tenant_id
    if not shared:
        raise WrongState(
            f"the task {name!r} asks for secrets, and its owner shared it without its own; a task of another tenant "
            "gets none of yours: have it shared with its secrets, or save a copy of it"
        )
    return owner
