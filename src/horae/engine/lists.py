"""Lists: pages of jobs, newest first, and of executions. Ids are time, so a cursor is the id to go on from: an order
that nothing changes, which is what an action needs that works through a list. People look at jobs that live in the
order in which they stand: `livelists`.

A filter that matches little must not read a whole partition for one page: every query looks at a bounded number of
rows and hands back a cursor even when the page is short. A page has four steps: candidates from the table that knows
best, what the filter leaves of them, their rows, and a last look at whether they are still in the state asked for.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import asyncpg
import msgspec

from horae.engine.clock import Clock
from horae.engine.rows import state_of
from horae.model.ids import created_at, lowest_id
from horae.model.states import PENDING, State
from horae.store.flows import Flows
from horae.store.lists import ExecutionPlace, JobLists, Narrowing, Reading, Spot

LOOK_AT: Final = 3_000
"""Rows a page looks at."""
LOOK_INTO: Final = 2_000
"""Rows whose texts a page searches, which costs more than a comparison."""
FIRST_LOOK: Final = 6
"""Of a filter: rows that are looked at first, for each row of the page."""
MANY: Final = 20_000
"""From this many jobs in a live state on, those of lanes are found by walking over those of others."""
PAGE: Final = 50
MAX_PAGE: Final = 500
FIRST_ID: Final = UUID(int=0)
LAST_ID: Final = UUID(int=2**128 - 1)
ENDED: Final = (5_000, 100_000)
"""Of what a worker ran: so many attempts that ended are looked at first, and so many more when these do not do."""
OLDEST: Final = timedelta(days=366)
HOUR: Final = timedelta(hours=1)
HOURS: Final = 100 * 24
"""The hours that are kept."""
NARROWEST: Final = timedelta(seconds=1)
WINDOWS: Final = (timedelta(hours=1), timedelta(days=1), timedelta(days=8), timedelta(days=64))
"""Of a walk over many tenants: each window touches few partitions, so that tenants long idle cost a probe or two."""


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
    text: str | None = None
    """What stands in its id, task, queue, labels, or the beginning of its params or error."""

    @property
    def live(self) -> bool:
        """Whether jobs that have not ended are asked for by their state."""
        return not self.dead and self.ids is None and any(not state.ended for state in self.states or ())


class Page(msgspec.Struct):
    rows: list[asyncpg.Record]
    cursor: UUID | None


class Search(msgspec.Struct, frozen=True):
    """A filter made ready."""

    tenants: Sequence[int]
    wanted: JobFilter
    lanes: list[int] | None
    """Of the task and queue; None when neither was named."""
    narrowing: Narrowing | None
    since: UUID
    before: UUID
    limit: int
    narrowed: int = LOOK_AT

    @property
    def look_at(self) -> int:
        return self.limit + 1 if self.narrowing is None else self.narrowed


Found = tuple[list[Spot], UUID | None]
"""Candidates, newest first, and where to go on when there may be more."""


class Lists:
    def __init__(self, lists: JobLists, flows: Flows, clock: Clock) -> None:
        self._lists = lists
        self._flows = flows
        self._clock = clock

    async def jobs(self, tenants: Sequence[int], wanted: JobFilter, before: UUID | None, limit: int) -> Page:
        """One page over one tenant, or all there are; newest first."""
        search = await self.search(tenants, wanted, before, limit)
        if search is None:
            return Page([], None)
        if search.narrowing is not None:
            # Most filters match much: then there is no need to look at everything that may be looked at.
            first = min(FIRST_LOOK * limit, search.narrowed)
            page = await self._page(msgspec.structs.replace(search, narrowed=first))
            if len(page.rows) == limit or page.cursor is None or first == search.narrowed:
                return page
            rest = msgspec.structs.replace(
                search, before=page.cursor, limit=limit - len(page.rows), narrowed=search.narrowed - first
            )
            more = await self._page(rest)
            return Page(page.rows + more.rows, more.cursor)
        return await self._page(search)

    async def _page(self, search: Search) -> Page:
        spots, cursor = await self._candidates(search)
        rows, cut = await self.fill(search, spots, search.limit)
        return Page(rows, cut or cursor)

    async def fill(self, search: Search, spots: Sequence[Spot], limit: int) -> tuple[list[asyncpg.Record], UUID | None]:
        """The rows of candidates that match, and the last of these when there may be more than so many."""
        states = search.wanted.states
        if search.narrowing is not None and spots:
            spots = await self._lists.job_narrow(spots, search.narrowing)
        rows: list[asyncpg.Record] = []
        for start, stop in _chunks(len(spots), limit):
            page = await self._lists.job_page(spots[start:stop])
            rows += [row for row in page if not states or state_of(row) in states]
            if len(rows) > limit or (len(rows) == limit and stop < len(spots)):
                return rows[:limit], rows[limit - 1]["id"]
        return rows, None

    async def search(self, tenants: Sequence[int], wanted: JobFilter, before: UUID | None, limit: int) -> Search | None:
        """None when nothing can match."""
        only = tenants[0] if len(tenants) == 1 else None
        lanes, keys = None, None
        if wanted.task or wanted.queue:
            lanes = await self._lists.lane_select(tenants, wanted.queue, wanted.task)
        if wanted.user is not None:
            keys = await self._lists.key_by_name(only, wanted.user)
        if lanes == [] or keys == []:
            return None
        labels = msgspec.json.encode(dict(wanted.labels)).decode() if wanted.labels else None
        narrowing = Narrowing(lanes, keys, labels, wanted.worker_id, wanted.text)
        since = lowest_id(wanted.since) if wanted.since else FIRST_ID
        bound = min(before or LAST_ID, lowest_id(wanted.until) if wanted.until else LAST_ID)
        return Search(
            tenants,
            wanted,
            lanes,
            narrowing if any(part is not None for part in narrowing) else None,
            since,
            bound,
            limit,
            LOOK_AT if wanted.text is None else LOOK_INTO,
        )

    async def _candidates(self, search: Search) -> Found:
        wanted = search.wanted
        if wanted.dead:
            bounds = (search.tenants, search.since, search.before, search.look_at)
            spots = await self._lists.dead(wanted.cause, wanted.ids, *bounds)
            return spots, spots[-1].id if len(spots) >= search.look_at else None
        if wanted.ids is not None:
            between = {i for i in wanted.ids if search.since <= i < search.before}
            return _newest_first([Spot(tenant_id, i) for tenant_id in search.tenants for i in between]), None
        if wanted.states:
            return _merged([await self._in_state(state, search) for state in wanted.states])
        return await self._walk(None, search, search.look_at)

    async def _in_state(self, state: State, search: Search) -> Found:
        """From the table that holds the state; a live state with very many jobs is found by walking the jobs."""
        if state.ended:
            # Successes have no index of their own: some of those looked at are others.
            room = 4 if state is State.SUCCEEDED and search.narrowing is None else 1
            return await self._walk(state, search, search.look_at * room)
        lanes = await self.lanes(search)
        if lanes is not None:
            bounds = (search.since, search.before, MANY, search.look_at)
            spots, all_seen = await self._lists.live(state, lanes, *bounds)
            if all_seen:
                return spots, spots[-1].id if len(spots) >= search.look_at else None
        walked, cursor = await self._walk(None, search, LOOK_AT)
        return await self._lists.job_live(walked, state), cursor

    async def lanes(self, search: Search) -> list[int] | None:
        """Those that can have such jobs; None is any."""
        if search.lanes is None and len(search.tenants) == 1:
            return await self._lists.lane_select(search.tenants, None, None)
        return search.lanes

    async def _walk(self, state: State | None, search: Search, rows: int) -> Found:
        """Jobs, or those that ended so, newest first."""
        looked = 0
        spots: list[Spot] = []
        for since, before in self._windows(search):
            left = rows - looked
            heads = min(-(-2 * left // len(search.tenants)), left)
            found = await self._lists.newest(state, Reading(search.tenants, since, before, left, heads))
            spots += [Spot(row["tenant_id"], row["id"]) for row in found if row["wanted"]]
            looked += len(found)
            if looked >= rows:
                return spots, found[-1]["id"]
        return spots, None

    def _windows(self, search: Search) -> Iterator[tuple[UUID, UUID]]:
        before = search.before
        for width in WINDOWS if len(search.tenants) > 1 else ():
            start = lowest_id(created_at(min(before, lowest_id(self._clock.now()))) - width)
            if start <= search.since:
                break
            yield start, before
            before = start
        yield search.since, before

    async def executions_of_worker(
        self, worker_id: int, tenant_id: int | None, after: ExecutionPlace | None, limit: int
    ) -> tuple[list[asyncpg.Record], ExecutionPlace | None]:
        """What a worker ran, latest first: of what ended lately, and of more when that is not enough."""
        now = self._clock.now()
        oldest = now - OLDEST
        place = ExecutionPlace(now + timedelta(seconds=1), LAST_ID, 0)
        if after is not None and after < place:
            place = after
        rows: list[asyncpg.Record] = []
        for ended in ENDED:
            start = max(await self._reach(place.ended_at, ended, now), oldest)
            rows += await self._lists.executions_of_worker(worker_id, tenant_id, start, place, limit - len(rows))
            if len(rows) == limit:
                last = rows[-1]
                return rows, ExecutionPlace(last["ended_at"], last["id"], last["attempt"])
            place = ExecutionPlace(start, FIRST_ID, 0)
        return rows, place if start > oldest else None

    async def _reach(self, until: datetime, ended: int, now: datetime) -> datetime:
        """How far back about so many ended attempts reach, whoever ran them: those of others are read too. The sums of
        hours tell; within an hour they are taken to lie evenly."""
        left = float(ended)
        for row in await self._flows.flow_ends(None, until, HOURS):
            begin: datetime = row["bucket"]
            end = min(begin + HOUR, until)
            rate = row["ended"] / max((min(now - begin, HOUR)).total_seconds(), 1.0)
            here = rate * (end - begin).total_seconds()
            if here >= left:
                return end - max(timedelta(seconds=left / rate), NARROWEST)
            left -= here
        return until - OLDEST

    async def executions_running(self, worker_id: int, tenant_id: int | None) -> list[asyncpg.Record]:
        return await self._lists.executions_running(worker_id, tenant_id)


def states_of(status: str) -> frozenset[State]:
    """A status filter: a state, or `pending`, or several joined by commas."""
    states: set[State] = set()
    for part in status.split(","):
        states |= PENDING if part == "pending" else {State(part)}
    return frozenset(states)


def _chunks(count: int, size: int) -> Iterator[tuple[int, int]]:
    """Each four times the one before: a page is mostly full after the first."""
    start = 0
    while start < count:
        yield start, min(start + size, count)
        start, size = start + size, size * 4


def _newest_first(spots: Sequence[Spot]) -> list[Spot]:
    return sorted(spots, key=lambda spot: spot.id.int, reverse=True)


def _merged(parts: Sequence[Found]) -> Found:
    """A part that was not read to its end bounds how far the merged one may go."""
    horizon = max((more for _, more in parts if more is not None), default=None)
    spots = {spot for part, _ in parts for spot in part if horizon is None or spot.id >= horizon}
    return _newest_first(list(spots)), horizon
