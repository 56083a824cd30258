"""Versions of tasks that are data: what each was, when, by whom and why; going back to one; and the end of a task.

Going back makes a new version with the old definition: the numbers only grow. A task that was deleted comes back the
same way. The latest hundred are kept; what is in force is always the last of them.
"""

from datetime import datetime

import asyncpg
import msgspec
import structlog

from horae.engine.taskrows import read_definition
from horae.engine.tasks import Saved, Tasks, check_reason
from horae.model.errors import NotFound, TaskInUse
from horae.model.task import TaskDefinition
from horae.store.tasks import TaskRows

log = structlog.get_logger()


class VersionView(msgspec.Struct, frozen=True):
    version: int
    made_at: datetime
    made_by: str
    reason: str
    current: bool
    definition: TaskDefinition | None = None
    """None in a list."""


class TaskVersions:
    def __init__(self, rows: TaskRows, tasks: Tasks) -> None:
        self._rows = rows
        self._tasks = tasks

    async def list_all(self, tenant_id: int, name: str) -> list[VersionView]:
        """Latest first."""
        rows = await self._rows.task_version_list(tenant_id, name)
        if not rows:
            raise NotFound(
                f"there are no versions of a task {name!r}: only scripts, containers and HTTP calls have them"
            )
        return [_view(row) for row in rows]

    async def get(self, tenant_id: int, name: str, version: int) -> VersionView:
        row = await self._row(tenant_id, name, version)
        return msgspec.structs.replace(_view(row), definition=read_definition(row["definition"]))

    async def _row(self, tenant_id: int, name: str, version: int) -> asyncpg.Record:
        row = await self._rows.task_version_get(tenant_id, name, version)
        if row is None:
            raise NotFound(f"there is no version {version} of a task {name!r}")
        return row

    async def compare(
        self, tenant_id: int, name: str, before: int | None, after: int | None
    ) -> tuple[VersionView, VersionView]:
        """Two versions; by default the one in force, or else the last, and the one before."""
        if after is None:
            there = await self.list_all(tenant_id, name)
            after = next((one.version for one in there if one.current), there[0].version)
        earlier = max(after - 1, 1) if before is None else before
        return await self.get(tenant_id, name, earlier), await self.get(tenant_id, name, after)

    async def roll_back(self, tenant_id: int, name: str, version: int, by: str, reason: str) -> Saved:
        """Puts an earlier definition in force again, for the jobs that wait as well."""
        row = await self._row(tenant_id, name, version)
        if row["tenant_id"] != tenant_id:
            raise NotFound(f"the task {name!r} is for all tenants: only a key that belongs to none can change it")
        why = check_reason(reason) or f"back to version {version}"
        saved = await self._tasks.register(tenant_id, read_definition(row["definition"]), by, why)
        log.info("task_rolled_back", task=name, tenant=tenant_id, to=version, version=saved.version, by=by)
        return saved

    async def delete(self, tenant_id: int, name: str, by: str, *, force: bool) -> None:
        """Ends a task. The jobs that wait for it, if that is forced, fail when they are to start."""

        def allow(use: asyncpg.Record) -> None:
            if not force and (use["jobs"] or use["schedules"]):
                raise _in_use(name, use)

        if not await self._rows.task_delete(tenant_id, name, allow):
            raise NotFound(f"there is no task {name!r} of this tenant")
        for listener in self._tasks.on_register:
            # Without its definition it declares nothing: its limits go, too.
            await listener(tenant_id, TaskDefinition(name=name))
        self._tasks.forget()
        log.info("task_deleted", task=name, tenant=tenant_id, by=by, force=force)


def _view(row: asyncpg.Record) -> VersionView:
    return VersionView(row["version"], row["made_at"], row["made_by"], row["reason"], bool(row["current"]))


def _in_use(name: str, use: asyncpg.Record) -> TaskInUse:
    jobs, schedules = use["jobs"], list(use["schedules"])
    needed = [f"{jobs} jobs that have not ended"] if jobs else []
    needed += [f"the schedules {', '.join(schedules)}"] if schedules else []
    return TaskInUse(
        f"the task {name!r} is needed by {' and '.join(needed)}; cancel or delete those, or force it",
        jobs=jobs, schedules=schedules,
    )  # fmt: skip
