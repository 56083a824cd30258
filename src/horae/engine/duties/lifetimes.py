"""Lifetimes: no result or file outlives its lifetime or its job by long, nor is any left by attempts that do not count.

Rows go first and objects after them; a server that dies in between leaves an object without a row, which goes with its
day. Whoever asks meanwhile is told that it is gone: that is judged by the clock, not by this duty.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Final

import structlog

from horae.engine.access import Access
from horae.engine.clock import Clock
from horae.engine.taskrows import SHARED
from horae.engine.tasks import Tasks, TaskView
from horae.model.durations import parse_duration
from horae.model.errors import HoraeError
from horae.model.ids import day_bounds
from horae.store.files import FileRows
from horae.store.objects import Objects

log = structlog.get_logger()

ORPHAN_SECONDS: Final = 86_400.0
ROWS: Final = 1000


class LifetimesDuty:
    name = "lifetimes"
    interval = 300.0

    def __init__(
        self, rows: FileRows, objects: Objects, tasks: Tasks, access: Access, clock: Clock, retention: timedelta
    ) -> None:
        self._rows = rows
        self._objects = objects
        self._tasks = tasks
        self._access = access
        self._clock = clock
        self._retention = retention
        self._probed = False

    async def run_once(self) -> Mapping[str, int]:
        await self._probe()
        results = 0
        for tenant_id, task, seconds in await self._kept_briefly():
            while (forgotten := await self._rows.result_forget(tenant_id, task, seconds, ROWS)) == ROWS:
                results += forgotten
            results += forgotten
        return {"results": results, "objects": await self._remove_objects()}

    async def _probe(self) -> None:
        """Once, for the log: what object storage can do is good to know before it is needed."""
        if self._probed:
            return
        self._probed = True
        try:
            honoured = await self._objects.probe()
        except HoraeError as error:
            log.warning("object_storage_fails", address=self._objects.address, error=error.detail)
        else:
            log.info("object_storage", address=self._objects.address, conditional_writes=honoured)

    async def _kept_briefly(self) -> list[tuple[int, str, float]]:
        """(tenant, task, seconds) of every task that says how long its results are kept."""
        tasks = [await self._whole(task) for task in await self._tasks.list_all(None)]
        limited = [task for task in tasks if task.definition.keep_results is not None]
        if not limited:
            return []
        everybody = await self._access.all_tenant_ids()
        own = {
            (await self._access.tenant_for(None, t.tenant), t.definition.name) for t in tasks if t.tenant is not None
        }
        found = []
        for task in limited:
            name, keep = task.definition.name, parse_duration(task.definition.keep_results or 0).total_seconds()
            if task.tenant is not None:
                found.append((await self._access.tenant_for(None, task.tenant), name, keep))
            else:  # A shared task is that of every tenant without one of the same name.
                found += [(tenant_id, name, keep) for tenant_id in everybody if (tenant_id, name) not in own]
        return found

    async def _whole(self, task: TaskView) -> TaskView:
        """A list leaves out what is long in a definition."""
        if not task.cut:
            return task
        owner = SHARED if task.tenant is None else await self._access.tenant_for(None, task.tenant)
        return await self._tasks.get(owner, task.definition.name)

    async def _remove_objects(self) -> int:
        await self._rows.file_settle(ORPHAN_SECONDS, ROWS)
        bound = day_bounds((self._clock.now() - self._retention).date())[0]
        removed = 0
        forget: list[Callable[[], Awaitable[list[str]]]] = [
            lambda: self._rows.file_expire(ROWS),
            lambda: self._rows.file_orphans(ORPHAN_SECONDS, ROWS),
            lambda: self._rows.file_forget(bound, ROWS),
        ]
        for ask in forget:
            while keys := await ask():
                await self._objects.delete(keys)
                removed += len(keys)
        return removed
