"""How long results and files are kept: as the task says now, else as long as the job.

Nothing is written when a job ends. Whether a result's time is over is judged when somebody asks for it, by the task as
it is then, so jobs of tasks without a lifetime pay nothing; a duty takes out what is over.
"""

from typing import Final
from uuid import UUID

import asyncpg

from horae.engine.clock import Clock
from horae.engine.tasks import Tasks
from horae.model.durations import parse_duration
from horae.model.errors import Gone, UnknownTask

REMOVED: Final = -1
"""The size of a result that was taken out."""


class Lifetimes:
    def __init__(self, tasks: Tasks, clock: Clock) -> None:
        self._tasks = tasks
        self._clock = clock

    async def of(self, tenant_id: int, task: str) -> float | None:
        """Seconds; None: as long as the job."""
        try:
            known = await self._tasks.find(tenant_id, task)
        except UnknownTask:
            return None
        keep = known.definition.keep_results
        return None if keep is None else parse_duration(keep, "keep_results").total_seconds()

    async def check(self, job: asyncpg.Record) -> None:
        """Refuses the result of a job, a `job_get` row, whose time is over."""
        if job["finished_at"] is None:
            return
        keep = await self.of(job["tenant_id"], job["task"])
        age = (self._clock.now() - job["finished_at"]).total_seconds()
        if job["blob"] == REMOVED or (keep is not None and age >= keep):
            raise gone(job["id"])


def gone(job_id: UUID) -> Gone:
    return Gone(f"the result of job {job_id} was kept for its lifetime (keep_results of its task) and is gone")
