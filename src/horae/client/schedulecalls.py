"""The calls about schedules and calendars, each described once; see `calls`."""

from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from horae.client.calls import JSON, Call, _post, _query, _reads
from horae.model.calendars import CalendarDefinition
from horae.model.definition import ScheduleDefinition
from horae.wire import schedules as wire

T = TypeVar("T")


def schedules(task: str | None = None, tenant: str | None = None, cursor: str | None = None,
              limit: int | None = None, **more: str | int | None) -> Call[wire.SchedulePage]:  # fmt: skip
    query = _query(task=task, tenant=tenant, cursor=cursor, limit=limit, **more)
    return Call("GET", "/v1/schedules", _reads(wire.SchedulePage), query)


def schedule(name: str, tenant: str | None = None) -> Call[wire.Schedule]:
    return Call("GET", _path(name), _reads(wire.Schedule), _query(tenant=tenant))


def create(definition: ScheduleDefinition, why: str = "", *, paused: bool = False,
           tenant: str | None = None) -> Call[wire.Schedule]:  # fmt: skip
    return _post("/v1/schedules", wire.Schedule, _saved(definition, why, tenant, paused=paused))


def put(definition: ScheduleDefinition, why: str = "", tenant: str | None = None) -> Call[wire.SchedulePut]:
    body = msgspec.json.encode(_saved(definition, why, tenant, paused=False))
    return Call("PUT", _path(definition.name), _reads(wire.SchedulePut), body=body, headers=JSON)


def change(name: str, changes: dict[str, Any], why: str = "", tenant: str | None = None) -> Call[wire.Schedule]:
    body = msgspec.json.encode(wire.ScheduleChange(set=changes, why=why))
    return Call("PATCH", _path(name), _reads(wire.Schedule), _query(tenant=tenant), body=body, headers=JSON)


def delete(name: str, why: str = "", tenant: str | None = None) -> Call[None]:
    return Call("DELETE", _path(name), _nothing, _query(tenant=tenant, why=why or None), repeatable=False)


def pause(name: str, why: str = "", tenant: str | None = None) -> Call[wire.Schedule]:
    return _to(name, "pause", wire.Schedule, wire.Why(why=why), tenant)


def resume(name: str, why: str = "", tenant: str | None = None) -> Call[wire.Schedule]:
    return _to(name, "resume", wire.Schedule, wire.Why(why=why), tenant)


def trigger(name: str, params: dict[str, Any] | None = None, tenant: str | None = None) -> Call[wire.Triggered]:
    return _to(name, "trigger", wire.Triggered, wire.Trigger(params=params), tenant)


def preview(definition: ScheduleDefinition, count: int = 10, since: datetime | None = None,
            until: datetime | None = None, tenant: str | None = None) -> Call[wire.Preview]:  # fmt: skip
    given = _fields(definition) | {"count": count, "since": since, "until": until, "tenant": tenant}
    body = msgspec.json.encode(wire.PreviewRequest(**given))
    return Call("POST", "/v1/schedules/preview", _reads(wire.Preview), body=body, headers=JSON)


def preview_saved(name: str, count: int = 10, since: datetime | None = None, until: datetime | None = None,
                  tenant: str | None = None) -> Call[wire.Preview]:  # fmt: skip
    query = _query(count=count, since=since, until=until, tenant=tenant)
    return Call("GET", _path(name) + "/preview", _reads(wire.Preview), query)


def ticks(name: str, state: str | None = None, cursor: str | None = None, limit: int | None = None,
          tenant: str | None = None, *, due: bool = False) -> Call[wire.TickPage]:  # fmt: skip
    query = _query(state=state, cursor=cursor, limit=limit, tenant=tenant, due="true" if due else None)
    return Call("GET", _path(name) + "/ticks", _reads(wire.TickPage), query)


def history(name: str, limit: int | None = None, tenant: str | None = None) -> Call[wire.VersionPage]:
    query = _query(limit=limit, tenant=tenant)
    return Call("GET", _path(name) + "/history", _reads(wire.VersionPage), query)


def backfill(name: str, since: datetime, until: datetime, concurrency: int = 1, *, dry_run: bool = False,
             tenant: str | None = None) -> Call[wire.Backfill]:  # fmt: skip
    asked = wire.BackfillRequest(since=since, until=until, concurrency=concurrency, dry_run=dry_run)
    return _to(name, "backfill", wire.Backfill, asked, tenant)


def backfills(name: str, tenant: str | None = None) -> Call[wire.BackfillPage]:
    return Call("GET", _path(name) + "/backfills", _reads(wire.BackfillPage), _query(tenant=tenant))


def backfill_state(name: str, backfill_id: int, tenant: str | None = None) -> Call[wire.Backfill]:
    return Call("GET", f"{_path(name)}/backfills/{backfill_id}", _reads(wire.Backfill), _query(tenant=tenant))


def cancel_backfill(name: str, backfill_id: int, tenant: str | None = None) -> Call[wire.Backfill]:
    return Call("DELETE", f"{_path(name)}/backfills/{backfill_id}", _reads(wire.Backfill), _query(tenant=tenant))


def forecast(since: datetime | None = None, hours: float | None = None, tenant: str | None = None
             ) -> Call[wire.Forecast]:  # fmt: skip
    query = _query(since=since, hours=hours, tenant=tenant)
    return Call("GET", "/v1/schedules/forecast", _reads(wire.Forecast), query, waits=30.0)


def agenda(schedule: str | None = None, since: datetime | None = None, until: datetime | None = None,
           tz: str | None = None, task: str | None = None, text: str | None = None,
           tenant: str | None = None) -> Call[wire.Agenda]:  # fmt: skip
    query = _query(schedule=schedule, since=since, until=until, tz=tz, task=task, text=text, tenant=tenant)
    return Call("GET", "/v1/schedules/agenda", _reads(wire.Agenda), query)


def limits(tenant: str | None = None) -> Call[wire.ScheduleLimits]:
    return Call("GET", "/v1/schedules/limits", _reads(wire.ScheduleLimits), _query(tenant=tenant))


def set_limits(shortest_interval: str | float, tenant: str | None = None) -> Call[wire.ScheduleLimits]:
    body = msgspec.json.encode(wire.ScheduleLimits(shortest_interval=shortest_interval))
    path = "/v1/schedules/limits"
    return Call("PUT", path, _reads(wire.ScheduleLimits), _query(tenant=tenant), body=body, headers=JSON)


def calendars(tenant: str | None = None) -> Call[wire.CalendarPage]:
    return Call("GET", "/v1/calendars", _reads(wire.CalendarPage), _query(tenant=tenant))


def calendar(name: str, tenant: str | None = None) -> Call[wire.Calendar]:
    return Call("GET", _calendar(name), _reads(wire.Calendar), _query(tenant=tenant))


def put_calendar(definition: CalendarDefinition, tenant: str | None = None) -> Call[wire.Calendar]:
    body = msgspec.json.encode(definition)
    path = _calendar(definition.name)
    return Call("PUT", path, _reads(wire.Calendar), _query(tenant=tenant), body=body, headers=JSON)


def delete_calendar(name: str, tenant: str | None = None) -> Call[None]:
    return Call("DELETE", _calendar(name), _nothing, _query(tenant=tenant), repeatable=False)


def _path(name: str) -> str:
    return f"/v1/schedules/{quote(name, safe='')}"


def _calendar(name: str) -> str:
    return f"/v1/calendars/{quote(name, safe='')}"


def _nothing(_body: bytes) -> None:
    """The answer is empty."""


def _fields(definition: ScheduleDefinition) -> dict[str, Any]:
    return {field: getattr(definition, field) for field in ScheduleDefinition.__struct_fields__}


def _saved(definition: ScheduleDefinition, why: str, tenant: str | None, *, paused: bool) -> wire.ScheduleSave:
    return wire.ScheduleSave(**_fields(definition), why=why, tenant=tenant, paused=paused)


def _to(name: str, what: str, kind: type[T], body: msgspec.Struct, tenant: str | None) -> Call[T]:
    call = _post(f"{_path(name)}/{what}", kind, body)
    call.query.update(_query(tenant=tenant))
    return call
