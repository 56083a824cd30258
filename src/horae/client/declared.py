"""Schedules declared beside the tasks they run. Declaring contacts nobody: `app.apply_schedules()` puts them in force.

Why not when a worker starts: in a rolling deployment old and new workers run side by side, and each restart of an old
one would put the old rule back. So it is a step of its own, as a migration is.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

import msgspec

from horae.model.definition import ScheduleDefinition, settled
from horae.model.errors import InvalidInput, SetupError, UnknownTask

if TYPE_CHECKING:
    from horae.client.client import AsyncClient, Client
    from horae.client.task import Task
    from horae.wire.schedules import SchedulePut

P = ParamSpec("P")
R = TypeVar("R")
_DURATIONS = ("every", "jitter", "missed_window")


class Declared(Mapping[str, ScheduleDefinition]):
    """The schedules of an app, by name."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[ScheduleDefinition, Task[..., Any]]] = {}

    def __getitem__(self, name: str) -> ScheduleDefinition:
        return self._found[name][0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def add(self, name: str, task: "Task[..., Any]", **fields: Any) -> ScheduleDefinition:
        if name in self._found:
            raise SetupError(f"two schedules are called {name!r}; give one of them another name=…")
        for field in _DURATIONS:
            if isinstance(fields.get(field), timedelta):
                fields[field] = fields[field].total_seconds()
        given = msgspec.to_builtins({"name": name, "task": task.name, **fields})
        try:
            definition = settled(msgspec.convert(given, ScheduleDefinition))
        except msgspec.ValidationError as error:
            raise InvalidInput(f"schedule {name!r}: {error}") from error
        self._found[name] = (definition, task)
        return definition

    def apply(self, client: "Client", why: str) -> "list[SchedulePut]":
        done = []
        for definition, task in self._found.values():
            try:
                done.append(client.schedules.put(definition, why))
            except UnknownTask:
                client.put_task(task.definition)
                done.append(client.schedules.put(definition, why))
        return done

    async def apply_async(self, client: "AsyncClient", why: str) -> "list[SchedulePut]":
        done = []
        for definition, task in self._found.values():
            try:
                done.append(await client.schedules.put(definition, why))
            except UnknownTask:
                await client.put_task(task.definition)
                done.append(await client.schedules.put(definition, why))
        return done


class Every(Generic[P]):
    """`send.every("0 10 * * FRI")("john@example.com")`: called with the task's arguments, it declares the schedule."""

    def __init__(self, declare: Callable[[dict[str, Any]], ScheduleDefinition], bind: Callable[..., Any]) -> None:
        self._declare = declare
        self._bind = bind

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> ScheduleDefinition:
        return self._declare(self._bind(args, kwargs))


def rule_fields(rule: str | float | timedelta | None) -> dict[str, Any]:
    """A cron expression has blanks or begins with @; anything else is an interval."""
    if rule is None:
        return {}
    is_cron = isinstance(rule, str) and (" " in rule.strip() or rule.strip().startswith("@"))
    return {"cron" if is_cron else "every": rule}
