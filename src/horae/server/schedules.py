"""Schedules, calendars, backfills, the forecast."""

from datetime import timedelta
from typing import Final

import msgspec

from horae.engine.glance import MAX_LATEST, MAX_NEXT
from horae.engine.schedules import MAX_PREVIEW, PREVIEW
from horae.model.calendars import CalendarDefinition
from horae.model.definition import ScheduleDefinition
from horae.model.durations import format_duration, parse_duration
from horae.model.errors import Forbidden, InvalidInput
from horae.model.job import check_instant
from horae.server.calls import Call, Reply
from horae.server.scheduleviews import backfill_view, calendar_view, schedule_view, tick_view, version_view, words
from horae.store.schedules import Wanted
from horae.wire import schedules as wire

PAGE, MAX_PAGE = 100, 1000
COLLISIONS: Final = 10
_save = msgspec.json.Decoder(wire.ScheduleSave)
_change = msgspec.json.Decoder(wire.ScheduleChange)
_why = msgspec.json.Decoder(wire.Why)
_trigger = msgspec.json.Decoder(wire.Trigger)
_preview = msgspec.json.Decoder(wire.PreviewRequest)
_backfill = msgspec.json.Decoder(wire.BackfillRequest)
_calendar = msgspec.json.Decoder(CalendarDefinition)
_limits = msgspec.json.Decoder(wire.ScheduleLimits)


async def _tenant(call: Call, given: str | None = None) -> int:
    return await call.engine.access.tenant_for(call.caller, given or call.query.get("tenant"))


def _definition(saved: ScheduleDefinition) -> ScheduleDefinition:
    """Without what the request says beside it."""
    return ScheduleDefinition(**{field: getattr(saved, field) for field in ScheduleDefinition.__struct_fields__})


def _reason(call: Call) -> str:
    if call.body.strip():
        return call.read(_why).why
    return call.query.get("why", "")


async def list_schedules(call: Call) -> Reply:
    tenant_id = await call.engine.access.tenant_filter(call.caller, call.query.get("tenant"))
    limit = int(call.query_number("limit", PAGE, 1, MAX_PAGE))
    coming = int(call.query_number("next", 0, 0, MAX_NEXT))
    past = int(call.query_number("latest", 0, 0, MAX_LATEST))
    rows = await call.engine.scheduling.list_all(tenant_id, _wanted(call), _after(call), limit)
    following = f"{rows[-1]['name']}@{rows[-1]['tenant_id']}" if len(rows) == limit else None
    views = [schedule_view(row) for row in rows]
    if coming:
        for row, view in zip(rows, views, strict=True):
            view.next = await call.engine.glances.next_ticks(row, coming)
    if past:
        latest = await call.engine.glances.latest(tenant_id, rows, past)
        for row, view in zip(rows, views, strict=True):
            view.latest = msgspec.convert(latest[row["id"]], list[wire.LatestTick], from_attributes=True)
    return Reply(wire.SchedulePage(views, following))


def _wanted(call: Call) -> Wanted:
    given = {name: call.query.get(name) or None for name in Wanted._fields}
    for name, value in given.items():
        if value is not None and "\x00" in value:
            raise InvalidInput(f"{name}: has a NUL in it", field=name)
    return Wanted(**given)


def _after(call: Call) -> tuple[str, int]:
    """Where the last page ended: a name and the number of its tenant."""
    name, _, tenant = (call.query.get("cursor") or "@0").rpartition("@")
    if not tenant.isdecimal() or len(tenant) > 9:
        raise InvalidInput("cursor: give back the one from the last page", field="cursor")
    return name, int(tenant)


async def create(call: Call) -> Reply:
    saved = call.read(_save)
    tenant_id = await _tenant(call, saved.tenant)
    row = await call.engine.scheduling.create(
        call.caller, tenant_id, _definition(saved), saved.why, paused=saved.paused
    )
    return Reply(schedule_view(row), 201)


async def get(call: Call) -> Reply:
    return Reply(schedule_view(await call.engine.scheduling.get(await _tenant(call), call.path["name"])))


async def put(call: Call) -> Reply:
    saved = call.read(_save)
    if saved.name != call.path["name"]:
        raise InvalidInput(f"name: the body says {saved.name!r}, the address {call.path['name']!r}", field="name")
    tenant_id = await _tenant(call, saved.tenant)
    row, outcome = await call.engine.scheduling.put(call.caller, tenant_id, _definition(saved), saved.why)
    view = msgspec.structs.asdict(schedule_view(row))
    return Reply(wire.SchedulePut(**view, outcome=outcome), 201 if outcome == "created" else 200)


async def change(call: Call) -> Reply:
    asked = call.read(_change)
    row = await call.engine.scheduling.patch(call.caller, await _tenant(call), call.path["name"], asked.set, asked.why)
    return Reply(schedule_view(row))


async def delete(call: Call) -> Reply:
    await call.engine.scheduling.delete(call.caller, await _tenant(call), call.path["name"], _reason(call))
    return Reply(status=204)


async def pause(call: Call) -> Reply:
    row = await call.engine.scheduling.pause(call.caller, await _tenant(call), call.path["name"], _reason(call))
    return Reply(schedule_view(row))


async def resume(call: Call) -> Reply:
    row = await call.engine.scheduling.resume(call.caller, await _tenant(call), call.path["name"], _reason(call))
    return Reply(schedule_view(row))


async def trigger(call: Call) -> Reply:
    params = call.read(_trigger).params if call.body.strip() else None
    job_id = await call.engine.scheduling.trigger(call.caller, await _tenant(call), call.path["name"], params)
    return Reply(wire.Triggered(job_id), 201)


async def history(call: Call) -> Reply:
    limit = int(call.query_number("limit", PAGE, 1, MAX_PAGE))
    rows = await call.engine.scheduling.history(await _tenant(call), call.path["name"], limit)
    return Reply(wire.VersionPage([version_view(row) for row in rows]))


async def list_ticks(call: Call) -> Reply:
    limit = int(call.query_number("limit", PAGE, 1, MAX_PAGE))
    before = call.query_instant("cursor")
    if call.query.get("due") == "true":
        now = call.engine.clock.now()
        before = now if before is None else min(before, now)
    state = call.query.get("state")
    rows = await call.engine.scheduling.ticks(await _tenant(call), call.path["name"], before, state, limit)
    following = rows[-1]["at"].isoformat() if len(rows) == limit else None
    return Reply(wire.TickPage([tick_view(row) for row in rows], following))


async def preview_new(call: Call) -> Reply:
    asked = call.read(_preview)
    tenant_id = await _tenant(call, asked.tenant)
    definition = await call.engine.scheduling.check_times(tenant_id, _definition(asked))
    problem = await _problem(call, tenant_id, definition, draft=asked.draft)
    for name in ("since", "until"):
        if (instant := getattr(asked, name)) is not None:
            check_instant(instant, name)
    if not 1 <= asked.count <= MAX_PREVIEW:
        raise InvalidInput(f"count: must be 1…{MAX_PREVIEW}", field="count")
    ticks = await call.engine.scheduling.preview(tenant_id, definition, asked.since, asked.until, asked.count)
    return Reply(wire.Preview(words(definition), ticks, problem))


async def _problem(
    call: Call, tenant_id: int, definition: ScheduleDefinition, *, draft: bool
) -> wire.PreviewProblem | None:
    try:
        await call.engine.scheduling.check_job(tenant_id, definition)
    except InvalidInput as error:
        if not draft:
            raise
        told = {"code": error.code, "detail": error.detail} | error.extra
        return msgspec.convert(told, wire.PreviewProblem)
    return None


async def preview(call: Call) -> Reply:
    tenant_id = await _tenant(call)
    view = schedule_view(await call.engine.scheduling.get(tenant_id, call.path["name"]))
    count = int(call.query_number("count", PREVIEW, 1, MAX_PREVIEW))
    since, until = call.query_instant("since"), call.query_instant("until")
    ticks = await call.engine.scheduling.preview(tenant_id, view.definition, since, until, count)
    return Reply(wire.Preview(view.words, ticks))


async def backfill(call: Call) -> Reply:
    asked, tenant_id, name = call.read(_backfill), await _tenant(call), call.path["name"]
    if not asked.dry_run:
        row = await call.engine.backfilling.start(
            call.caller, tenant_id, name, asked.since, asked.until, asked.concurrency
        )
        return Reply(backfill_view(row), 201)
    found = await call.engine.backfilling.look(tenant_id, name, asked.since, asked.until)
    shown = [wire.BackfillTick(item.tick.at, item.left_out is None, item.left_out) for item in found]
    total = sum(item.runs for item in shown)
    return Reply(wire.Backfill(state="planned", since=asked.since, until=asked.until, concurrency=asked.concurrency,
                               total=total, skipped=len(shown) - total, ticks=shown))  # fmt: skip


async def list_backfills(call: Call) -> Reply:
    rows = await call.engine.backfilling.list_all(await _tenant(call), call.path["name"])
    return Reply(wire.BackfillPage([backfill_view(row) for row in rows]))


async def get_backfill(call: Call) -> Reply:
    row = await call.engine.backfilling.get(await _tenant(call), call.path["name"], call.number("backfill"))
    return Reply(backfill_view(row))


async def cancel_backfill(call: Call) -> Reply:
    row = await call.engine.backfilling.cancel(await _tenant(call), call.path["name"], call.number("backfill"))
    return Reply(backfill_view(row))


async def forecast(call: Call) -> Reply:
    since = call.query_instant("since") or call.engine.clock.now().replace(second=0, microsecond=0)
    hours = call.query_number("hours", 24, 0.1, 24 * 7)
    collisions = int(call.query_number("collisions", COLLISIONS, 0, 1000))
    until = since + timedelta(hours=hours)
    found = await call.engine.forecasting.forecast(await _tenant(call), since, until, collisions)
    return Reply(msgspec.convert(found, wire.Forecast, from_attributes=True))


async def agenda(call: Call) -> Reply:
    since = call.query_instant("since") or call.engine.clock.now()
    until = call.query_instant("until") or since + timedelta(days=31)
    tz = call.query.get("tz", "UTC")
    if (name := call.query.get("schedule")) is not None:
        found = await call.engine.agenda.look_at_one(await _tenant(call), name, since, until, tz)
    else:
        tenant_id = await call.engine.access.tenant_filter(call.caller, call.query.get("tenant"))
        found = await call.engine.agenda.look(tenant_id, _wanted(call), since, until, tz)
    return Reply(msgspec.convert(found, wire.Agenda, from_attributes=True))


async def get_limits(call: Call) -> Reply:
    seconds = await call.engine.scheduling.shortest_interval(await _tenant(call))
    return Reply(wire.ScheduleLimits(shortest_interval=format_duration(timedelta(seconds=seconds))))


async def put_limits(call: Call) -> Reply:
    seconds = parse_duration(call.read(_limits).shortest_interval, "shortest_interval").total_seconds()
    if call.caller.tenant_id is not None:
        raise Forbidden("only a key that belongs to no tenant sets the limits of one")
    await call.engine.scheduling.set_shortest_interval(await _tenant(call), seconds)
    return await get_limits(call)


async def list_calendars(call: Call) -> Reply:
    found = await call.engine.calendars.list_all(await _tenant(call))
    return Reply(wire.CalendarPage([calendar_view(view) for view in found]))


async def get_calendar(call: Call) -> Reply:
    return Reply(calendar_view(await call.engine.calendars.get(await _tenant(call), call.path["name"])))


async def put_calendar(call: Call) -> Reply:
    calendar = call.read(_calendar)
    if calendar.name != call.path["name"]:
        raise InvalidInput(f"name: the body says {calendar.name!r}, the address {call.path['name']!r}", field="name")
    await call.engine.scheduling.put_calendar(call.caller, await _tenant(call), calendar)
    return await get_calendar(call)


async def delete_calendar(call: Call) -> Reply:
    await call.engine.calendars.delete(await _tenant(call), call.path["name"])
    return Reply(status=204)
