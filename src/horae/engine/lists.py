"""Lists: pages of jobs and executions. Ids are time, so a cursor is the id (or the instant) to go on from.

A filter that matches little must not read a whole partition for one page: every query looks at a bounded number of
rows and hands back a cursor even when the page is short.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

import asyncpg
import msgspec

from horae.engine.clock import Clock
from horae.engine.steer import options_of, state_of
from horae.model.ids import lowest_id
from horae.model.states import PENDING, State
from horae.store.jobs import JobLists, Jobs

LOOK_AT: Final = 5_000
"""Rows a page looks at."""
PAGE: Final = 50
MAX_PAGE: Final = 500
FIRST_ID: Final = UUID(int=0)
LAST_ID: Final = UUID(int=2**128 - 1)
FIRST_WINDOW: Final = timedelta(minutes=5)
OLDEST: Final = timedelta(days=366)


class JobFilter(msgspec.Struct, frozen=True, kw_only=True):
    states: frozenset[State] | None = None
    user: str | None = None
    task: str | None = None
    queue: str | None = None
    worker_id: int | None = None
    label: tuple[str, str] | None = None
    since: datetime | None = None
    until: datetime | None = None


class Page(msgspec.Struct):
    rows: list[asyncpg.Record]
    cursor: UUID | None


class Lists:
    def __init__(self, jobs: Jobs, lists: JobLists, clock: Clock) -> None:
        self._jobs = jobs
        self._lists = lists
        self._clock = clock

    async def jobs(self, tenants: Sequence[int], wanted: JobFilter, before: UUID | None, limit: int) -> Page:
        """One page over these tenants, newest first."""
        pages = [await self._tenant_page(tenant_id, wanted, before, limit) for tenant_id in tenants]
        rows = sorted((row for page in pages for row in page.rows), key=lambda row: row["id"].int, reverse=True)
        # A tenant that was not read to its end bounds how far the merged page may go.
        horizon = max((page.cursor for page in pages if page.cursor is not None), default=None)
        if horizon is not None:
            rows = [row for row in rows if row["id"] >= horizon]
        if len(rows) > limit:
            rows = rows[:limit]
            horizon = rows[-1]["id"]
        return Page(rows, horizon)

    async def _tenant_page(self, tenant_id: int, wanted: JobFilter, before: UUID | None, limit: int) -> Page:
        since = lowest_id(wanted.since) if wanted.since else FIRST_ID
        bound = min(before or LAST_ID, lowest_id(wanted.until) if wanted.until else LAST_ID)
        lanes = None
        if wanted.task or wanted.queue or (wanted.states and any(not s.ended for s in wanted.states)):
            lanes = await self._lists.lane_select(tenant_id, wanted.queue, wanted.task)
            if not lanes:
                return Page([], None)
        key_id = None
        if wanted.user is not None:
            key_id = await self._lists.key_by_name(tenant_id, wanted.user)
            if key_id is None:
                return Page([], None)
        ids, cursor = await self._candidates(tenant_id, wanted, lanes, key_id, since, bound)
        rows: list[asyncpg.Record] = []
        for start in range(0, len(ids), limit):
            chunk = ids[start : start + limit]
            rows += [r for r in await self._jobs.job_states(tenant_id, chunk) if self._matches(r, wanted, lanes)]
            if len(rows) > limit or (len(rows) == limit and start + limit < len(ids)):
                rows = rows[:limit]
                return Page(rows, rows[-1]["id"])
        return Page(rows, cursor)

    async def _candidates(
        self,
        tenant_id: int,
        wanted: JobFilter,
        lanes: list[int] | None,
        key_id: int | None,
        since: UUID,
        before: UUID,
    ) -> tuple[list[UUID], UUID | None]:
        """Ids that may match, newest first, and where to go on when there may be more."""
        if wanted.states:
            found: list[UUID] = []
            horizon: UUID | None = None
            for state in wanted.states:
                ids = await self._lists.ids_by_state(
                    state,
                    tenant_id,
                    lanes or [],
                    wanted.worker_id,
                    since,
                    before,
                    LOOK_AT,
                )
                found += ids
                if len(ids) >= LOOK_AT:
                    horizon = max(horizon, ids[-1]) if horizon else ids[-1]
            return sorted((i for i in found if horizon is None or i >= horizon), key=_as_int, reverse=True), horizon
        rows = await self._lists.job_list(tenant_id, lanes, key_id, wanted.label, since, before, LOOK_AT)
        cursor = rows[-1]["id"] if len(rows) >= LOOK_AT else None
        return [row["id"] for row in rows if row["wanted"]], cursor

    def _matches(self, row: asyncpg.Record, wanted: JobFilter, lanes: list[int] | None) -> bool:
        """What the driving query did not check, checked on the row as it is now."""
        if wanted.states and state_of(row) not in wanted.states:
            return False
        if lanes is not None and row["lane_id"] not in lanes:
            return False
        if wanted.user is not None and row["key_name"] != wanted.user:
            return False
        if wanted.worker_id is not None and row["worker_id"] != wanted.worker_id:
            return False
        if wanted.label is not None:
            name, value = wanted.label
            return (options_of(row).labels or {}).get(name) == value
        return True

    async def executions_of_worker(
        self,
        worker_id: int,
        tenant_id: int | None,
        before: datetime | None,
        limit: int,
    ) -> tuple[list[asyncpg.Record], datetime | None]:
        """What a worker ran, latest first: windows of time, each twice as wide as the one before."""
        end = before or self._clock.now() + timedelta(seconds=1)
        oldest = self._clock.now() - OLDEST
        width = FIRST_WINDOW
        rows: list[asyncpg.Record] = []
        while len(rows) < limit and end > oldest:
            start = end - width
            rows += await self._lists.executions_of_worker(worker_id, tenant_id, start, end, limit - len(rows))
            end, width = start, width * 4
        cursor = rows[-1]["ended_at"] if len(rows) >= limit else None
        return rows, cursor

    async def executions_running(self, worker_id: int, tenant_id: int | None) -> list[asyncpg.Record]:
        return await self._lists.executions_running(worker_id, tenant_id)


def states_of(status: str) -> frozenset[State]:
    """A status filter: a state, or `pending`, or several joined by commas."""
    states: set[State] = set()
    for part in status.split(","):
        states |= PENDING if part == "pending" else {State(part)}
    return frozenset(states)


def _as_int(job_id: UUID) -> int:
    return job_id.int


def parse_cursor_instant(text: str) -> datetime:
    return datetime.fromtimestamp(int(text) / 1_000_000, UTC)
