"""Bulk actions and dead letters."""

from typing import Any, Final
from uuid import UUID

import asyncpg
import msgspec

from horae.engine.actions import ActionRequest as Wanted
from horae.engine.actions import checked
from horae.engine.dead import Cause as Group
from horae.engine.lists import MAX_PAGE, PAGE, JobFilter
from horae.model.actions import ActionKind, ActionState
from horae.model.errors import InvalidInput, NotFound
from horae.model.job import check_instant, check_labels
from horae.model.work import JobError
from horae.server.calls import Call, Reply
from horae.server.jobs import cursor_id, job_filter, read_states, read_text
from horae.server.views import error_view, job_view
from horae.wire.actions import Action, ActionPage, ActionRequest, Cause, DeadLetterRequest, DeadLetters, JobsFilter
from horae.wire.jobs import JobChanges

MAX_IDS: Final = 1000
NUL: Final = "\x00"
_request = msgspec.json.Decoder(ActionRequest)
_dead_request = msgspec.json.Decoder(DeadLetterRequest)
_filter = msgspec.json.Decoder(JobFilter)
_changes = msgspec.json.Decoder(JobChanges)


async def create(call: Call) -> Reply:
    request = call.read(_request)
    if request.filter == JobsFilter(tenant=request.filter.tenant):
        raise InvalidInput('filter: say which jobs; {"status": "pending"} is all that wait', field="filter")
    return await _make(call, request.action, request)


async def redrive(call: Call) -> Reply:
    return await _make(call, ActionKind.REDRIVE, _dead(call))


async def discard(call: Call) -> Reply:
    return await _make(call, ActionKind.DISCARD, _dead(call))


def _dead(call: Call) -> DeadLetterRequest:
    return call.read(_dead_request) if call.body.strip() else DeadLetterRequest()


async def _make(call: Call, kind: ActionKind, request: ActionRequest | DeadLetterRequest) -> Reply:
    wanted = Wanted(
        kind=kind,
        wanted=read_filter(request.filter),
        tenant=request.filter.tenant,
        changes=_given(request.changes),
        reason=request.reason.replace(NUL, ""),
        rate=request.rate,
    )
    if not request.preview:
        return Reply(_view(await call.engine.actions.create(call.caller, wanted)), 202)
    tenant, found = await call.engine.actions.preview(call.caller, wanted)
    answer = Action(
        action=kind,
        state=ActionState.PREVIEW,
        tenant=tenant,
        filter=filter_view(checked(wanted).wanted),
        changes=request.changes,
        rate=request.rate,
        total=found.count,
        more=found.more,
        sample=[job_view(row) for row in found.sample],
    )
    return Reply(answer)


async def list_actions(call: Call) -> Reply:
    limit = int(call.query_number("limit", PAGE, 1, MAX_PAGE))
    rows = await call.engine.actions.list_all(call.caller, call.query.get("tenant"), cursor_id(call), limit)
    return Reply(ActionPage([_view(row) for row in rows], str(rows[-1]["id"]) if len(rows) >= limit else None))


async def get(call: Call) -> Reply:
    return Reply(_view(await call.engine.actions.get(call.caller, _id(call))))


async def cancel(call: Call) -> Reply:
    return Reply(_view(await call.engine.actions.cancel(call.caller, _id(call))))


async def undo(call: Call) -> Reply:
    return Reply(_view(await call.engine.actions.undo(call.caller, _id(call))), 202)


async def dead_letters(call: Call) -> Reply:
    wanted, access = job_filter(call), call.engine.access
    tenant_id = await access.tenant_filter(call.caller, call.query.get("tenant"))
    tenants = {t.id: t.name for t in await access.list_tenants(call.caller) if tenant_id in (None, t.id)}
    groups = await call.engine.dead.causes(list(tenants), wanted.cause, wanted.since, wanted.until)
    if wanted.task:
        groups = [group for group in groups if wanted.task in group.tasks]
    answer = DeadLetters([_cause(group, tenants[group.tenant_id]) for group in groups])
    if wanted.cause is not None:
        limit = int(call.query_number("limit", PAGE, 1, MAX_PAGE))
        page = await call.engine.dead.jobs(list(tenants), wanted, cursor_id(call), limit)
        answer.jobs = [job_view(row) for row in page.rows]
        answer.next_cursor = str(page.cursor) if page.cursor else None
    return Reply(answer)


def _id(call: Call) -> UUID:
    try:
        return UUID(call.path["action_id"])
    except ValueError:
        raise NotFound(f"there is no action {call.path['action_id'][:80]!r}: its id is a UUID") from None


def read_filter(given: JobsFilter) -> JobFilter:
    for name in ("user", "task", "queue", "cause"):
        if NUL in (getattr(given, name) or ""):
            raise InvalidInput(f"filter.{name}: has a NUL in it", field=f"filter.{name}")
    for name in ("since", "until"):
        if (instant := getattr(given, name)) is not None:
            check_instant(instant, f"filter.{name}")
    if given.ids is not None and not 1 <= len(given.ids) <= MAX_IDS:
        raise InvalidInput(f"filter.ids: 1…{MAX_IDS} ids", field="filter.ids")
    if given.worker is not None and not 0 <= given.worker < 2**31:
        raise InvalidInput(f"filter.worker: there is no worker {given.worker}", field="filter.worker")
    check_labels(given.label)
    return JobFilter(
        states=None if given.status is None else read_states(given.status),
        user=given.user,
        task=given.task,
        queue=given.queue,
        worker_id=given.worker,
        labels=tuple(given.label.items()),
        since=given.since,
        until=given.until,
        dead=given.cause is not None,
        cause=given.cause,
        ids=None if given.ids is None else tuple(given.ids),
        text=read_text(given.text, "filter.text"),
    )


def filter_view(wanted: JobFilter) -> JobsFilter:
    return JobsFilter(
        status=None if wanted.states is None else ",".join(sorted(wanted.states)),
        user=wanted.user,
        task=wanted.task,
        queue=wanted.queue,
        worker=wanted.worker_id,
        label=dict(wanted.labels),
        since=wanted.since,
        until=wanted.until,
        cause=wanted.cause,
        ids=None if wanted.ids is None else list(wanted.ids),
        text=wanted.text,
    )


def _given(changes: JobChanges | None) -> dict[str, Any]:
    """What changes: only the fields that are in it."""
    given = {} if changes is None else msgspec.structs.asdict(changes)
    return {name: value for name, value in given.items() if value is not None}


def _view(row: asyncpg.Record) -> Action:
    same = ("id", "tenant", "reason", "rate", "created_at", "finished_at", "undo_until", "total", "more", "seen",
            "done", "skipped", "failed", "undone", "note")  # fmt: skip
    return Action(
        action=ActionKind(row["action"]),
        state=ActionState(row["state"]),
        filter=filter_view(_filter.decode(row["filter"])),
        changes=None if row["changes"] is None else _changes.decode(row["changes"]),
        by=row["made_by"],
        **{name: row[name] for name in same},
    )


def _cause(group: Group, tenant: str) -> Cause:
    error = error_view(group.error)
    return Cause(
        cause=group.cause,
        tenant=tenant,
        count=group.count,
        error=None if error is None else JobError(error.kind, error.message),
        tasks=group.tasks,
        first_at=group.first_at,
        last_at=group.last_at,
        job_ids=group.job_ids,
    )
