"""A task's definition, as a worker or an SDK registers it."""

from typing import Any

import msgspec

from horae.model.durations import parse_duration
from horae.model.errors import InvalidInput
from horae.model.job import check_name
from horae.model.rank import EMERGENCY, LOWEST
from horae.model.retry import RetryPolicy, check_max_attempts


class TaskDefinition(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    name: str
    queue: str | None = None
    priority: int | None = None
    max_attempts: int | None = None
    retry: RetryPolicy | None = None
    timeout: str | float | None = None
    params_schema: dict[str, Any] | None = None
    """JSON Schema of the params object; checked at submit."""
    description: str | None = None


def check_task(task: TaskDefinition) -> TaskDefinition:
    check_name(task.name, "name")
    if task.queue is not None:
        check_name(task.queue, "queue")
    if task.priority is not None and not LOWEST <= task.priority <= EMERGENCY:
        raise InvalidInput(f"priority: {task.priority} is outside {LOWEST}…{EMERGENCY}", field="priority")
    if task.max_attempts is not None:
        check_max_attempts(task.max_attempts)
    if task.timeout is not None and not parse_duration(task.timeout, "timeout"):
        raise InvalidInput("timeout: must be more than 0", field="timeout")
    return task
