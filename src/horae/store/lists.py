"""Pages of jobs and executions. Every query looks at a bounded number of rows; ids are time, so the cursor is an id."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from horae.model.states import State
from horae.store.database import Database, Rows, columns

LIVE_LISTS: Final = {
    State.SCHEDULED: "job_list_timer",
    State.BLOCKED: "job_list_blocked",
    State.READY: "job_list_ready",
    State.RUNNING: "job_list_lease",
}


class Spot(NamedTuple):
    """Where a job is found."""

    tenant_id: int
    id: UUID


class Reading(NamedTuple):
    """A bounded look at the jobs of tenants: from which id to which, how many rows, and how many heads of each."""

    tenants: Sequence[int]
    since: UUID
    before: UUID
    rows: int
    heads: int


class Narrowing(NamedTuple):
    """What is looked at in the rows themselves; None is anything."""

    lanes: list[int] | None
    keys: list[int] | None
    labels: str | None
    """As a JSON object."""
    worker_id: int | None
    text: str | None


class ExecutionPlace(NamedTuple):
    """A place in the list of executions: latest first, then by id and attempt."""

    ended_at: datetime
    id: UUID
    attempt: int


class JobLists:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def lane_select(self, tenants: Sequence[int], queue: str | None, task: str | None) -> list[int]:
        rows = await self._database.fetch("lane_select", tenants, queue, task)
        return [row["id"] for row in rows]

    async def key_by_name(self, tenant_id: int | None, name: str) -> list[int]:
        return [row["id"] for row in await self._database.fetch("key_by_name", tenant_id, name)]

    async def newest(self, state: State | None, reading: Reading) -> Rows:
        """Jobs, or those that ended in a state, newest first; `wanted` says which of those looked at are meant."""
        if state is None:
            return await self._database.fetch("job_list", *reading)
        if state is State.SUCCEEDED:
            return await self._database.fetch("job_list_succeeded", *reading)
        return await self._database.fetch("job_list_unsuccessful", *reading, state.value)

    async def live(
        self, state: State, lanes: list[int], since: UUID, before: UUID, look_at: int, rows: int
    ) -> tuple[list[Spot], bool]:
        """Jobs of lanes in a live state, newest first, and whether all of them were looked at."""
        found = await self._database.fetch(LIVE_LISTS[state], lanes, since, before, look_at, rows)
        spots = [Spot(row["tenant_id"], row["id"]) for row in found if row["id"] is not None]
        return spots, found[0]["looked"] < look_at

    async def dead(
        self,
        cause: str | None,
        ids: Sequence[UUID] | None,
        tenants: Sequence[int],
        since: UUID,
        before: UUID,
        rows: int,
    ) -> list[Spot]:
        """Dead letters, newest first."""
        if cause is None:
            found = await self._database.fetch_planned("dead_list", tenants, ids, since, before, rows)
        else:
            found = await self._database.fetch_planned("dead_list_cause", tenants, ids, since, before, rows, cause)
        return [Spot(row["tenant_id"], row["id"]) for row in found]

    async def job_live(self, spots: Sequence[Spot], state: State) -> list[Spot]:
        """Those of them that are in a live state."""
        rows = await self._database.fetch("job_live", *columns(spots), state.value) if spots else []
        return [Spot(row["tenant_id"], row["id"]) for row in rows]

    async def job_narrow(self, spots: Sequence[Spot], narrowing: Narrowing) -> list[Spot]:
        rows = await self._database.fetch("job_narrow", *columns(spots), *narrowing)
        return [Spot(row["tenant_id"], row["id"]) for row in rows]

    async def job_page(self, spots: Sequence[Spot]) -> Rows:
        return await self._database.fetch("job_page", *columns(spots))

    async def executions_of_worker(
        self, worker_id: int, tenant_id: int | None, start: datetime, after: ExecutionPlace, rows: int
    ) -> Rows:
        """Executions that ended between `start` and the place to go on after, latest first."""
        return await self._database.fetch("executions_of_worker", worker_id, tenant_id, start, *after, rows)

    async def executions_running(self, worker_id: int, tenant_id: int | None) -> Rows:
        return await self._database.fetch("executions_running", worker_id, tenant_id)
