"""Lists: pages of jobs and executions. Ids are time, so a cursor is the id (or the instant) to go on from.

A filter that matches little must not read a whole partition for one page: every query looks at a bounded number of
rows and hands back a cursor even when the page is short.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import asyncpg
import msgspec

from horae.engine.clock import Clock
from horae.engine.rows import options_of, state_of
from horae.model.ids import lowest_id
from horae.model.states import PENDING, State
from horae.store.jobs import ExecutionPlace, JobLists, Jobs

LOOK_AT: Final = 5_000
"""Rows a page looks at."""
MANY: Final = 20_000
"""From this many jobs in a live state on, they are found by walking the tenant's jobs, newest first."""
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
    labels: tuple[tuple[str, str], ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    dead: bool = False
    """Only dead letters: failed jobs that nobody has discarded."""
    cause: str | None = None
    """Of dead letters: the fingerprint of the error."""
    ids: tuple[UUID, ...] | None = None


class Page(msgspec.Struct):
    rows: list[asyncpg.Record]
    cursor: UUID | None


class Search(msgspec.Struct, frozen=True):
    """A filter made ready for one tenant."""

    tenant_id: int
    wanted: JobFilter
    lanes: list[int]
    keys: list[int] | None
    since: UUID
    before: UUID


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
        search = await self._search(tenant_id, wanted, before)
        if search is None:
            return Page([], None)
        ids, cursor = await self._candidates(search)
        rows: list[asyncpg.Record] = []
        for start in range(0, len(ids), limit):
            chunk = ids[start : start + limit]
            rows += [row for row in await self._jobs.job_states(tenant_id, chunk) if _matches(row, search)]
            if len(rows) > limit or (len(rows) == limit and start + limit < len(ids)):
                rows = rows[:limit]
                return Page(rows, rows[-1]["id"])
        return Page(rows, cursor)

    async def _search(self, tenant_id: int, wanted: JobFilter, before: UUID | None) -> Search | None:
        """None when nothing can match."""
        lanes = await self._lists.lane_select(tenant_id, wanted.queue, wanted.task)
        keys = None if wanted.user is None else await self._lists.key_by_name(tenant_id, wanted.user)
        if not lanes or keys == []:
            return None
        since = lowest_id(wanted.since) if wanted.since else FIRST_ID
        bound = min(before or LAST_ID, lowest_id(wanted.until) if wanted.until else LAST_ID)
        return Search(tenant_id, wanted, lanes, keys, since, bound)

    async def _candidates(self, search: Search) -> tuple[list[UUID], UUID | None]:
        """Ids that may match, newest first, and where to go on when there may be more."""
        if search.wanted.dead:
            ids = await self._lists.dead_ids(
                search.tenant_id, search.wanted.cause, search.wanted.ids, search.since, search.before, LOOK_AT
            )
            return ids, ids[-1] if len(ids) >= LOOK_AT else None
        if search.wanted.ids is not None:
            between = {i for i in search.wanted.ids if search.since <= i < search.before}
            return sorted(between, key=_as_int, reverse=True), None
        if search.wanted.states:
            found: list[UUID] = []
            horizon: UUID | None = None
            for state in search.wanted.states:
                ids, more = await self._in_state(state, search)
                found += ids
                if more is not None:
                    horizon = max(horizon, more) if horizon else more
            ids = sorted({i for i in found if horizon is None or i >= horizon}, key=_as_int, reverse=True)
            return ids, horizon
        return await self._walk(search)

    async def _in_state(self, state: State, search: Search) -> tuple[list[UUID], UUID | None]:
        """Driven from the table that holds the state; a live state with very many jobs is found by walking the jobs."""
        if state.ended:
            ids = await self._lists.ended_ids(state, search.tenant_id, search.since, search.before, LOOK_AT)
            return ids, ids[-1] if len(ids) >= LOOK_AT else None
        ids = await self._lists.live_ids(state, search.lanes, search.since, search.before, MANY)
        if len(ids) >= MANY:
            return await self._walk(search)
        ids.sort(key=_as_int, reverse=True)
        return ids[:LOOK_AT], ids[LOOK_AT - 1] if len(ids) > LOOK_AT else None

    async def _walk(self, search: Search) -> tuple[list[UUID], UUID | None]:
        wanted = search.wanted
        filtered = search.lanes if wanted.task or wanted.queue else None
        label = wanted.labels[0] if wanted.labels else None
        rows = await self._lists.job_list(
            search.tenant_id, filtered, search.keys, label, search.since, search.before, LOOK_AT
        )
        cursor = rows[-1]["id"] if len(rows) >= LOOK_AT else None
        return [row["id"] for row in rows if row["wanted"]], cursor

    async def executions_of_worker(
        self, worker_id: int, tenant_id: int | None, after: ExecutionPlace | None, limit: int
    ) -> tuple[list[asyncpg.Record], ExecutionPlace | None]:
        """What a worker ran, latest first: windows of time, each wider than the one before."""
        now = self._clock.now()
        oldest, width = now - OLDEST, FIRST_WINDOW
        place = ExecutionPlace(now + timedelta(seconds=1), LAST_ID, 0)
        if after is not None and after < place:
            place = after
        rows: list[asyncpg.Record] = []
        while len(rows) < limit and place.ended_at > oldest:
            start = max(place.ended_at - width, oldest)
            rows += await self._lists.executions_of_worker(worker_id, tenant_id, start, place, limit - len(rows))
            place, width = ExecutionPlace(start, FIRST_ID, 0), min(width * 4, OLDEST)
        if len(rows) < limit:
            return rows, None
        last = rows[-1]
        return rows, ExecutionPlace(last["ended_at"], last["id"], last["attempt"])

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


def _matches(row: asyncpg.Record, search: Search) -> bool:
    """What the driving query did not check, checked on the row as it is now."""
    wanted = search.wanted
    if wanted.states and state_of(row) not in wanted.states:
        return False
    if (wanted.task and row["task"] != wanted.task) or (wanted.queue and row["queue"] != wanted.queue):
        return False
    if wanted.user is not None and row["key_name"] != wanted.user:
        return False
    if wanted.worker_id is not None and row["worker_id"] != wanted.worker_id:
        return False
    labels = (options_of(row).labels or {}) if wanted.labels else {}
    return all(labels.get(name) == value for name, value in wanted.labels)
