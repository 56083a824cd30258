"""Tasks as the clients offer them: `client.tasks.put(…)`. Two faces over the same calls."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from horae.client import taskcalls as calls
from horae.model.task import TaskDefinition
from horae.wire import tasks as wire
from horae.wire.access import Task, TaskPage

Names = list[str] | str
"""Of tenants; "*" for all of them."""
Instant = datetime | str | None

if TYPE_CHECKING:
    from horae.client.client import AsyncClient, Client


class Tasks:
    def __init__(self, client: "Client") -> None:
        self._client = client

    def __call__(self) -> TaskPage:
        """All tasks that can be submitted; the same as `list`."""
        return self._client.send(calls.tasks())

    def list(self, tenant: str | None = None) -> TaskPage:
        return self._client.send(calls.tasks(tenant))

    def get(self, name: str, tenant: str | None = None) -> Task:
        return self._client.send(calls.task(name, tenant))

    def put(
        self, definition: TaskDefinition, reason: str = "", if_version: int | None = None, tenant: str | None = None
    ) -> Task:
        """Makes the task so; another definition of a task that is data is another version.

        `if_version` is the version that it must have now, 0 for none.
        """
        return self._client.send(calls.put(definition, reason, if_version, tenant))

    def validate(self, definition: TaskDefinition, params: dict[str, Any] | None = None) -> wire.Validated:
        """All that is wrong with a task that is not saved, and what it makes of sample params."""
        return self._client.send(calls.validate(definition, params))

    def versions(self, name: str, tenant: str | None = None) -> wire.TaskVersionPage:
        return self._client.send(calls.versions(name, tenant))

    def version(self, name: str, number: int, tenant: str | None = None) -> wire.TaskVersion:
        return self._client.send(calls.version(name, number, tenant))

    def diff(
        self, name: str, before: int | None = None, after: int | None = None, tenant: str | None = None
    ) -> wire.TaskDiff:
        """What differs between two versions; by default the one in force and the one before."""
        return self._client.send(calls.diff(name, before, after, tenant))

    def rollback(self, name: str, number: int, reason: str = "", tenant: str | None = None) -> Task:
        """Puts an earlier version in force again, as a new one."""
        return self._client.send(calls.rollback(name, number, reason, tenant))

    def delete(self, name: str, *, force: bool = False, tenant: str | None = None) -> None:
        """Refused while jobs or schedules need the task, unless forced."""
        self._client.send(calls.delete(name, force=force, tenant=tenant))

    def share(
        self, name: str, tenants: Names, *, with_secrets: bool = False, tenant: str | None = None
    ) -> wire.TaskSharePage:
        """Lets other tenants use the task: names, or "*" for all."""
        return self._client.send(calls.share(name, tenants, with_secrets=with_secrets, tenant=tenant))

    def unshare(self, name: str, tenants: Names, tenant: str | None = None) -> wire.TaskSharePage:
        return self._client.send(calls.unshare(name, tenants, tenant))

    def shares(self, name: str, tenant: str | None = None) -> wire.TaskSharePage:
        return self._client.send(calls.shares(name, tenant))

    def statistics(
        self, name: str, since: Instant = None, until: Instant = None, tenant: str | None = None
    ) -> wire.TaskStatistics:
        """What became of a task's jobs, step by step; the last day unless it is said."""
        return self._client.send(calls.statistics(name, since, until, tenant))

    def totals(self, since: Instant = None, until: Instant = None, tenant: str | None = None) -> wire.TaskTotalsPage:
        """The same of every task, in one sum each."""
        return self._client.send(calls.totals(since, until, tenant))

    def export(self, name: str | None = None, tenant: str | None = None) -> str:
        """The tenant's tasks that are data, as YAML."""
        return self._client.send(calls.export(name, tenant))

    def import_text(
        self, text: str, *, dry_run: bool = False, reason: str = "", tenant: str | None = None
    ) -> wire.ImportAnswer:
        """Saves the tasks of a YAML file; each is answered for itself."""
        return self._client.send(calls.import_text(text, dry_run=dry_run, reason=reason, tenant=tenant))


class AsyncTasks:
    def __init__(self, client: "AsyncClient") -> None:
        self._client = client

    async def __call__(self) -> TaskPage:
        return await self._client.send(calls.tasks())

    async def list(self, tenant: str | None = None) -> TaskPage:
        return await self._client.send(calls.tasks(tenant))

    async def get(self, name: str, tenant: str | None = None) -> Task:
        return await self._client.send(calls.task(name, tenant))

    async def put(
        self, definition: TaskDefinition, reason: str = "", if_version: int | None = None, tenant: str | None = None
    ) -> Task:
        return await self._client.send(calls.put(definition, reason, if_version, tenant))

    async def validate(self, definition: TaskDefinition, params: dict[str, Any] | None = None) -> wire.Validated:
        return await self._client.send(calls.validate(definition, params))

    async def versions(self, name: str, tenant: str | None = None) -> wire.TaskVersionPage:
        return await self._client.send(calls.versions(name, tenant))

    async def version(self, name: str, number: int, tenant: str | None = None) -> wire.TaskVersion:
        return await self._client.send(calls.version(name, number, tenant))

    async def diff(
        self, name: str, before: int | None = None, after: int | None = None, tenant: str | None = None
    ) -> wire.TaskDiff:
        return await self._client.send(calls.diff(name, before, after, tenant))

    async def rollback(self, name: str, number: int, reason: str = "", tenant: str | None = None) -> Task:
        return await self._client.send(calls.rollback(name, number, reason, tenant))

    async def delete(self, name: str, *, force: bool = False, tenant: str | None = None) -> None:
        await self._client.send(calls.delete(name, force=force, tenant=tenant))

    async def share(
        self, name: str, tenants: Names, *, with_secrets: bool = False, tenant: str | None = None
    ) -> wire.TaskSharePage:
        return await self._client.send(calls.share(name, tenants, with_secrets=with_secrets, tenant=tenant))

    async def unshare(self, name: str, tenants: Names, tenant: str | None = None) -> wire.TaskSharePage:
        return await self._client.send(calls.unshare(name, tenants, tenant))

    async def shares(self, name: str, tenant: str | None = None) -> wire.TaskSharePage:
        return await self._client.send(calls.shares(name, tenant))

    async def statistics(
        self, name: str, since: Instant = None, until: Instant = None, tenant: str | None = None
    ) -> wire.TaskStatistics:
        return await self._client.send(calls.statistics(name, since, until, tenant))

    async def totals(
        self, since: Instant = None, until: Instant = None, tenant: str | None = None
    ) -> wire.TaskTotalsPage:
        return await self._client.send(calls.totals(since, until, tenant))

    async def export(self, name: str | None = None, tenant: str | None = None) -> str:
        return await self._client.send(calls.export(name, tenant))

    async def import_text(
        self, text: str, *, dry_run: bool = False, reason: str = "", tenant: str | None = None
    ) -> wire.ImportAnswer:
        return await self._client.send(calls.import_text(text, dry_run=dry_run, reason=reason, tenant=tenant))
