"""`horae tasks`: what can be submitted."""

from datetime import UTC, datetime

from horae.cli.access import HERE, Access
from horae.cli.screen import console, note, print_lines, table
from horae.cli.text import relative, short
from horae.model.durations import parse_duration
from horae.wire.access import Task


def tasks(*, access: Access = HERE) -> None:
    """List the tasks that can be submitted, with their parameters."""
    with access.client() as client:
        found = client.tasks().items
    if access.json:
        print_lines(found)
        return
    now = datetime.now(UTC)
    columns = ("task", "params", "tenant", "queue", "priority", "attempts", "timeout", "registered", "description")
    spare = ("registered", "priority", "attempts", "tenant", "timeout", "queue")
    console().print(table(columns, (_row(task, now) for task in found), spare))
    if not found:
        note("no task is registered; a worker registers its tasks when it starts: horae worker --app module:app")


def _row(task: Task, now: datetime) -> tuple[str, ...]:
    it = task.definition
    return (
        it.name, _params(task), task.tenant or "all", it.queue or "", str(it.priority or ""),
        str(it.max_attempts or ""), "" if it.timeout is None else short(parse_duration(it.timeout)),
        relative(task.updated_at, now), (it.description or "").split("\n", 1)[0],
    )  # fmt: skip


def _params(task: Task) -> str:
    """The names; those that may be left out in brackets."""
    schema = task.definition.params_schema or {}
    required = schema.get("required", ())
    return " ".join(name if name in required else f"[{name}]" for name in schema.get("properties", ()))
