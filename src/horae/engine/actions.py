"""Bulk actions as their makers see them: looked at beforehand, made, followed, stopped, undone. The work on them is in
`actionwork`; a filter means the same here as in lists."""

import time
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import asyncpg
import msgspec
import structlog

from horae.engine.access import Access, Caller
from horae.engine.clock import Clock
from horae.engine.lists import LAST_ID, MAX_PAGE, JobFilter, Lists
from horae.model.actions import AGAIN, DEAD, DEFAULT_RATE, UNDOABLE, ActionKind, check_action, concerned
from horae.model.errors import NotFound, WrongState
from horae.model.ids import JobIds, lowest_id
from horae.model.job import DEFAULT_TENANT, JobRequest, check_request
from horae.model.states import State
from horae.store.actions import Actions as ActionStore

log = structlog.get_logger()

COUNTED: Final = 100_000
COUNT_SECONDS: Final = 3.0
SAMPLE: Final = 10
UNDO_SECONDS: Final = 3600.0
CLOCKS_APART: Final = timedelta(milliseconds=100)
"""So far may another server's reading of the database's clock be ahead, and the ids that it gave to jobs."""
_encoder = msgspec.json.Encoder()


class ActionRequest(msgspec.Struct, kw_only=True, frozen=True):
    kind: ActionKind
    wanted: JobFilter
    tenant: str | None = None
    changes: dict[str, Any] = {}
    reason: str = ""
    rate: float | None = None


class Found(msgspec.Struct, frozen=True):
    """How many jobs an action is for, and some of them. `more`: there are more than were counted."""

    count: int
    more: bool
    sample: list[asyncpg.Record]


class Actions:
    def __init__(self, store: ActionStore, lists: Lists, access: Access, clock: Clock, ids: JobIds) -> None:
        self._store = store
        self._lists = lists
        self._access = access
        self._clock = clock
        self._ids = ids

    async def preview(self, by: Caller, request: ActionRequest) -> tuple[str, Found]:
        """The tenant, and what the action would be for."""
        tenant_id = await self._access.tenant_for(by, request.tenant)
        found = await self._count(tenant_id, checked(request).wanted, LAST_ID)
        return request.tenant or by.tenant or DEFAULT_TENANT, found

    async def create(self, by: Caller, request: ActionRequest) -> asyncpg.Record:
        tenant_id = await self._access.tenant_for(by, request.tenant)
        request = checked(request)
        action_id = UUID(self._ids.make(self._clock.unix()))
        bound = await self._bound(tenant_id, request.wanted, action_id)
        found = await self._count(tenant_id, request.wanted, bound)
        await self._store.action_create(
            action_id,
            tenant_id,
            request.kind.value,
            _encoder.encode(request.wanted).decode(),
            _encoder.encode(request.changes).decode() if request.changes else None,
            request.reason[:500],
            request.rate or (DEFAULT_RATE if request.kind in AGAIN else None),
            found.count,
            found.more,
            by.name,
            bound,
        )
        log.info("action_made", action=str(action_id), kind=request.kind.value, jobs=found.count, by=by.name)
        return await self.get(by, action_id)

    async def _bound(self, tenant_id: int, wanted: JobFilter, action_id: UUID) -> UUID:
        """An action is for the jobs that there are: those with smaller ids. Named ones are meant whatever their ids, as
        that of a tick's job is of the tick, which may be to come."""
        if wanted.ids is not None:
            return LAST_ID
        newest = await self._lists.jobs([tenant_id], JobFilter(), lowest_id(self._clock.now() + CLOCKS_APART), 1)
        return max([action_id, *(UUID(int=row["id"].int + 1) for row in newest.rows)])

    async def _count(self, tenant_id: int, wanted: JobFilter, before: UUID) -> Found:
        """Exact up to a number and a time."""
        until = time.monotonic() + COUNT_SECONDS
        count = 0
        cursor: UUID | None = before
        sample: list[asyncpg.Record] = []
        while cursor is not None and count <= COUNTED and time.monotonic() < until:
            page = await self._lists.jobs([tenant_id], wanted, cursor, MAX_PAGE)
            count += len(page.rows)
            sample += page.rows[: SAMPLE - len(sample)]
            cursor = page.cursor
        return Found(min(count, COUNTED), cursor is not None or count > COUNTED, sample)

    async def get(self, by: Caller, action_id: UUID) -> asyncpg.Record:
        row = await self._store.action_get(by.tenant_id, action_id)
        if row is None:
            raise NotFound(f"there is no action {action_id}")
        return row

    async def list_all(
        self, by: Caller, tenant: str | None, before: UUID | None, limit: int
    ) -> list[asyncpg.Record]:  # fmt: skip
        tenant_id = await self._access.tenant_filter(by, tenant)
        return await self._store.action_list(tenant_id, before or LAST_ID, limit)

    async def cancel(self, by: Caller, action_id: UUID) -> asyncpg.Record:
        """Stops it where it is; what it did stays done."""
        row = await self.get(by, action_id)
        if not await self._store.action_cancel(row["tenant_id"], action_id, UNDO_SECONDS):
            raise WrongState(f"action {action_id} is {row['state']}: only one that runs can be cancelled")
        log.info("action_cancelled", action=str(action_id), by=by.name)
        return await self.get(by, action_id)

    async def undo(self, by: Caller, action_id: UUID) -> asyncpg.Record:
        """Puts back what it changed, as far as nothing has happened to it since."""
        row = await self.get(by, action_id)
        if not await self._store.action_undo(row["tenant_id"], action_id, sorted(UNDOABLE)):
            raise WrongState(_why_not(row))
        log.info("action_undone", action=str(action_id), by=by.name)
        return await self.get(by, action_id)


def checked(request: ActionRequest) -> ActionRequest:
    """The request with the filter narrowed to the jobs that the action is for."""
    check_action(request.kind, request.changes, request.rate)
    check_request(JobRequest(task="any", **request.changes))
    wanted = request.wanted
    dead = request.kind in DEAD or wanted.dead
    states = concerned(request.kind, frozenset({State.FAILED}) if dead else wanted.states)
    narrowed = msgspec.structs.replace(wanted, states=states, dead=dead)
    return msgspec.structs.replace(request, wanted=narrowed)


def _why_not(row: asyncpg.Record) -> str:
    if row["action"] not in UNDOABLE:
        return f"{row['action']} cannot be undone: the jobs may have run by now; cancel them instead"
    if row["state"] in {"undoing", "undone"}:
        return f"action {row['id']} is {row['state']} already"
    return f"action {row['id']} ended more than an hour ago: it can no longer be undone"
