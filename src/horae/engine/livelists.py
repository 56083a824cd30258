"""Lists of jobs that live: what runs, what is ready, what is blocked, what is scheduled, each in the order in which it
stands. What is ready comes by rank, what is scheduled by when it falls due, the others by age.

Read from the table that holds the state, so millions of jobs that have ended cost nothing. Jobs are indexed by lane,
and the lines of the lanes are merged; a page merges LANES of them at most, and the list goes on with the next ones
after that. So a page has a bound however many lanes and jobs there are, and whatever stays where it is comes exactly
once.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg
import msgspec

from horae.engine.lists import FIRST_ID, MANY, JobFilter, Lists, Search
from horae.model.merge import Merge, Standing
from horae.model.rank import EPOCH
from horae.model.states import State
from horae.store.lines import Due, Lines
from horae.store.lists import Spot

LANES: Final = 5_000
"""Lanes that a page merges."""
LAST_LANE: Final = 2**31 - 1
ORDER: Final = (State.RUNNING, State.READY, State.BLOCKED, State.SCHEDULED)


class LivePlace(NamedTuple):
    """Where a list goes on."""

    state: State | None
    """None among those that have ended."""
    first: int = 0
    last: int = LAST_LANE
    """The lanes that are merged."""
    place: int = 0
    id: UUID = FIRST_ID
    """The last job that was looked at."""


class LivePage(NamedTuple):
    rows: list[asyncpg.Record]
    after: LivePlace | None


class Found(NamedTuple):
    """Candidates in one state, where they begin, and where to go on when there may be more."""

    jobs: list[Standing]
    within: LivePlace
    more: LivePlace | None

    def place_of(self, job_id: UUID) -> LivePlace:
        return next(_at(self.within, job) for job in self.jobs if job.id == job_id)


class LiveLists:
    def __init__(self, lists: Lists, lines: Lines) -> None:
        self._lists = lists
        self._lines = lines

    async def jobs(self, tenants: Sequence[int], wanted: JobFilter, after: LivePlace | None, limit: int) -> LivePage:
        """One page over one tenant, or all there are; those that have ended come last, newest first."""
        page = await self._page(tenants, wanted, after, limit)
        return page._replace(rows=_once(page.rows))

    async def _page(self, tenants: Sequence[int], wanted: JobFilter, after: LivePlace | None, limit: int) -> LivePage:
        search = await self._lists.search(tenants, wanted, None, limit)
        if search is None:
            return LivePage([], None)
        rows: list[asyncpg.Record] = []
        for start in _states(wanted, after):
            if len(rows) == limit:
                return LivePage(rows, start)
            if start.state is None:
                return await self._ended(search, start, rows)
            found = await self._find(start.state, start, search)
            more, cut = await self._lists.fill(search, _spots(found.jobs, search), limit - len(rows))
            rows += more
            if cut is not None:
                return LivePage(rows, found.place_of(cut))
            if found.more is not None:
                return LivePage(rows, found.more)
        return LivePage(rows, None)

    async def _ended(self, search: Search, start: LivePlace, rows: list[asyncpg.Record]) -> LivePage:
        ended = frozenset(state for state in search.wanted.states or () if state.ended)
        wanted = msgspec.structs.replace(search.wanted, states=ended)
        before = None if start.id == FIRST_ID else start.id
        page = await self._lists.jobs(search.tenants, wanted, before, search.limit - len(rows))
        return LivePage(rows + page.rows, None if page.cursor is None else LivePlace(None, id=page.cursor))

    async def _find(self, state: State, start: LivePlace, search: Search) -> Found:
        lanes = await self._lists.lanes(search)
        if state is State.SCHEDULED:
            return await self._due(start, lanes, search.look_at)
        return await self._merge(state, start, lanes, search.look_at)

    async def _merge(self, state: State, start: LivePlace, lanes: list[int] | None, rows: int) -> Found:
        # A merge that has begun goes on with the same lanes.
        most = LANES if start.last == LAST_LANE else LAST_LANE
        if lanes is None:
            merged = await self._lines.lanes(state, start.first, start.last, most)
        else:
            merged = sorted(lane for lane in lanes if start.first <= lane <= start.last)[:most]
        within = start if len(merged) < most else start._replace(last=merged[-1])
        merge: Merge[Standing] = Merge(merged, rows)
        while merge.ask:
            merge.tell(await self._lines.line(state, merge.ask, (start.place, start.id), merge.heads))
        return Found(merge.first, within, _more(within, merge.first, rows))

    async def _due(self, start: LivePlace, lanes: list[int] | None, rows: int) -> Found:
        after = (EPOCH + timedelta(microseconds=start.place), start.id)
        due = Due([], MANY, None)
        if lanes is not None:
            due = await self._lines.due_few(after, lanes, MANY, rows)
        if due.looked < MANY:
            return Found(due.jobs, start, _at(start, due.jobs[-1]) if len(due.jobs) == rows else None)
        look_at = rows if lanes is None else MANY
        due = await self._lines.due(after, lanes, look_at, rows)
        last = due.jobs[-1] if len(due.jobs) == rows else due.last
        return Found(due.jobs, start, _at(start, last) if due.looked == look_at and last is not None else None)


def _states(wanted: JobFilter, after: LivePlace | None) -> Iterator[LivePlace]:
    """Where each state begins, or goes on."""
    states: list[State | None] = [state for state in ORDER if state in (wanted.states or ())]
    if any(state.ended for state in wanted.states or ()):
        states.append(None)
    if after is not None:
        states = states[states.index(after.state) :] if after.state in states else []
    for state in states:
        yield after if after is not None and after.state is state else LivePlace(state)


def _spots(jobs: Sequence[Standing], search: Search) -> list[Spot]:
    return [Spot(job.tenant_id, job.id) for job in jobs if search.since <= job.id < search.before]


def _once(rows: Sequence[asyncpg.Record]) -> list[asyncpg.Record]:
    """A job that went on while its page was read was read in two states: the later is true."""
    last = {row["id"]: row for row in rows}
    return [row for row in rows if row is last[row["id"]]]


def _at(within: LivePlace, job: Standing) -> LivePlace:
    return within._replace(place=job.place, id=job.id)


def _more(within: LivePlace, jobs: Sequence[Standing], rows: int) -> LivePlace | None:
    if len(jobs) == rows:
        return _at(within, jobs[-1])
    return LivePlace(within.state, first=within.last + 1) if within.last < LAST_LANE else None
