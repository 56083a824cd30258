"""Tasks: their definitions and their defaults.

A function is registered by the workers that have it. A task that is data is saved by people: each definition it ever
had is a version (see `taskversions`). Neither takes the name of the other, and a task keeps its kind, so that the jobs
that wait for a worker of that kind can still be run.
"""

import difflib
import time
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

import asyncpg
import msgspec

from horae.engine.schemas import KnownSchema, Schemas, known_schema
from horae.engine.taskrows import (
    SHARED,
    definition_of,
    placement_text,
    read_definition,
    secrets_giver,
    task_values,
    timeout_seconds,
    write_definition,
)
from horae.model.errors import AlreadyExists, InvalidInput, NotFound, TaskChanged, UnknownTask
from horae.model.job import DEFAULT_QUEUE
from horae.model.kinds import Kind
from horae.model.placement import read_placement
from horae.model.rank import EMERGENCY
from horae.model.task import TaskDefinition, check_task
from horae.store.control import Control
from horae.store.tasks import TaskRows

REMEMBER_SECONDS: Final = 5.0
MAX_REMEMBERED: Final = 20_000
MAX_REASON: Final = 500


class TaskView(msgspec.Struct, frozen=True):
    tenant: str | None
    """None: shared with all tenants."""
    definition: TaskDefinition
    updated_at: datetime
    kind: Kind = Kind.FUNCTION
    version: int = 0
    with_secrets: bool = False
    cut: bool = False
    """The definition is too long for a list: what runs is left out."""


class SaveOutcome(StrEnum):
    CREATED = "created"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


class Saved(NamedTuple):
    outcome: SaveOutcome
    version: int


class KnownTask(msgspec.Struct):
    """A definition made ready for submits."""

    definition: TaskDefinition
    timeout: float | None
    schema: KnownSchema
    until: float
    plain_lane: int | None = None
    """The lane of a request that names neither queue nor concurrency key, once it is known."""


class Tasks:
    def __init__(self, control: Control, rows: TaskRows, schemas: Schemas) -> None:
        self._control = control
        self._rows = rows
        self._schemas = schemas
        self._known: dict[tuple[int, str], KnownTask] = {}
        self.on_register: list[Callable[[int, TaskDefinition], Awaitable[None]]] = []

    def recall(self, tenant_id: int, name: str) -> KnownTask | None:
        """The task if it is fresh in memory: the quick way of the hot path."""
        known = self._known.get((tenant_id, name))
        return known if known is not None and known.until > time.monotonic() else None

    def forget(self) -> None:
        """Whose task is whose has changed."""
        self._known.clear()

    async def find(self, tenant_id: int, name: str) -> KnownTask:
        """The task that a tenant means by a name."""
        known = self.recall(tenant_id, name)
        if known is not None:
            return known
        row = await self._control.task_get(tenant_id, name)
        if row is None:
            raise await self._unknown(tenant_id, name)
        return self._remember(tenant_id, definition_of(row))

    async def learn(self, asked: Iterable[tuple[int, str]]) -> None:
        """Reads those that are not fresh in memory, all at once. A task of many tenants is made ready once."""
        missing = sorted({one for one in asked if self.recall(*one) is None})
        ready: dict[tuple[int, str], KnownTask] = {}
        for row in await self._control.task_get_many(missing) if missing else ():
            owned = (row["tenant_id"], row["name"])
            if owned not in ready:
                ready[owned] = self._remember(row["asked_by"], definition_of(row))
            else:
                self._keep(row["asked_by"], msgspec.structs.replace(ready[owned], plain_lane=None))

    async def register(
        self,
        tenant_id: int,
        definition: TaskDefinition,
        by: str = "horae",
        reason: str = "",
        if_version: int | None = None,
    ) -> Saved:
        """Makes the task so. One that is data gets another version, unless it was so already."""
        check_task(definition)
        await self._schemas.check_schema(tenant_id, definition)
        values = task_values(tenant_id, definition)
        if definition.kind is Kind.FUNCTION:
            saved = await self._put_function(values, definition)
        else:
            saved = await self._save(tenant_id, definition, values, (by, check_reason(reason)), if_version)
        await self._control.task_lanes(
            tenant_id, definition.name, definition.queue or DEFAULT_QUEUE, placement_text(definition),
            definition.priority == EMERGENCY,
        )  # fmt: skip
        for listener in self.on_register:
            await listener(tenant_id, definition)
        if tenant_id == SHARED or definition.kind is not Kind.FUNCTION:
            self.forget()
        self._remember(tenant_id, definition)
        return saved

    async def _put_function(self, values: tuple[object, ...], definition: TaskDefinition) -> Saved:
        version, done = await self._control.task_put(*values, 0)
        if version:
            raise AlreadyExists(
                f"the task {definition.name!r} is data, saved by a person; delete it, or rename the function"
            )
        return Saved(SaveOutcome.CHANGED if done else SaveOutcome.UNCHANGED, 0)

    async def _save(
        self,
        tenant_id: int,
        definition: TaskDefinition,
        values: tuple[object, ...],
        why: tuple[str, str],
        if_version: int | None,
    ) -> Saved:
        def changes(before: asyncpg.Record) -> bool:
            return _compared(before, definition, if_version) is not SaveOutcome.UNCHANGED

        before, version = await self._rows.task_save(values, write_definition(definition), why, changes)
        return Saved(_compared(before, definition, None), version)

    async def look(self, tenant_id: int, definition: TaskDefinition) -> Saved:
        """What saving the task would do. Refuses what that would refuse."""
        check_task(definition)
        await self._schemas.check_schema(tenant_id, definition)
        before = await self._rows.task_current(tenant_id, definition.name)
        outcome = _compared(before, definition, None)
        return Saved(outcome, before["last"] + (outcome is not SaveOutcome.UNCHANGED))

    async def get(self, tenant_id: int, name: str) -> TaskView:
        row = await self._control.task_get(tenant_id, name)
        if row is None:
            raise NotFound(f"there is no task {name!r}")
        return task_view(row)

    async def giver(self, tenant_id: int, name: str) -> int:
        """Whose secrets the jobs of a tenant get that are of this task."""
        row = await self._control.task_get(tenant_id, name)
        return (
            tenant_id if row is None else secrets_giver(row["tenant_id"], tenant_id, name, shared=row["with_secrets"])
        )

    async def list_all(self, tenant_id: int | None) -> list[TaskView]:
        return [task_view(row) for row in await self._control.task_overview(tenant_id)]

    async def list_own(self, tenant_id: int, name: str | None = None) -> list[TaskDefinition]:
        """A tenant's own tasks that are data, as they were saved: all, or the one of a name."""
        rows = await self._rows.task_own(tenant_id, name)
        if not rows and name is not None:
            raise NotFound(f"there is no task {name!r} of this tenant that is data")
        return [read_definition(row["definition"]) for row in rows]

    def _remember(self, tenant_id: int, definition: TaskDefinition) -> KnownTask:
        until = time.monotonic() + REMEMBER_SECONDS
        return self._keep(
            tenant_id, KnownTask(definition, timeout_seconds(definition), known_schema(definition), until)
        )

    def _keep(self, tenant_id: int, known: KnownTask) -> KnownTask:
        if len(self._known) >= MAX_REMEMBERED:
            self._known.clear()
        self._known[tenant_id, known.definition.name] = known
        return known

    async def _unknown(self, tenant_id: int, name: str) -> UnknownTask:
        names = [row["name"] for row in await self._control.task_overview(tenant_id)]
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "start a worker that has it, or register it with PUT /v1/tasks"
        return UnknownTask(f"no task {name!r} is registered in this tenant; {hint}", field="task")


def task_view(row: asyncpg.Record) -> TaskView:
    kind = Kind(read_placement(row["placement"]).runner or Kind.FUNCTION)
    return TaskView(
        row["tenant"], definition_of(row), row["updated_at"], kind, row["version"], row["with_secrets"], row["cut"]
    )


def check_reason(reason: str) -> str:
    if len(reason) > MAX_REASON or "\x00" in reason:
        raise InvalidInput(f"reason: at most {MAX_REASON} characters, no NUL", field="reason")
    return reason


def _compared(before: asyncpg.Record, definition: TaskDefinition, if_version: int | None) -> SaveOutcome:
    """What the definition is beside what is there; raises when it must not take its place."""
    name, version = definition.name, before["version"]
    if if_version is not None and if_version != (version or 0):
        raise TaskChanged(f"the task {name!r} has the version {version or 0}, not {if_version}; look at it again")
    if version is None:
        return SaveOutcome.CREATED
    if version == 0:
        raise AlreadyExists(f"the task {name!r} is a function of a worker's app; take another name, or delete it")
    there = read_definition(before["definition"])
    if there.kind is not definition.kind:
        raise AlreadyExists(
            f"the task {name!r} is a {there.kind}, and a task keeps its kind; delete it, or take another name"
        )
    return SaveOutcome.UNCHANGED if there == definition else SaveOutcome.CHANGED
