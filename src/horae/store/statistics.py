"""What became of tasks' jobs over time, from the rollups."""

from datetime import datetime
from typing import Final

from horae.store.database import Database, Rows

MAX_TASKS: Final = 5000


class Statistics:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def statistics_steps(
        self, tenant_id: int | None, task: str | None, since: datetime, until: datetime, step: int, queue: str | None
    ) -> Rows:
        return await self._database.fetch("statistics_steps", tenant_id, task, since, until, step, step, queue)

    async def statistics_tasks(self, tenant_id: int | None, since: datetime, until: datetime, step: int) -> Rows:
        """`since` begins a step; sums longer than that are not read."""
        return await self._database.fetch("statistics_tasks", tenant_id, since, until, step, MAX_TASKS)
