"""Schedules and calendars as the clients offer them: `client.schedules.put(…)`. Two faces over the same calls."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from horae.client import schedulecalls as calls
from horae.client.calls import Call
from horae.model.calendars import CalendarDefinition
from horae.model.definition import ScheduleDefinition
from horae.wire import schedules as wire

if TYPE_CHECKING:
    from horae.client.client import AsyncClient, Client


class Schedules:
    def __init__(self, client: "Client") -> None:
        self._client = client

    def list(
        self,
        task: str | None = None,
        tenant: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        *,
        text: str | None = None,
        state: str | None = None,
        next_ticks: int | None = None,
        latest: int | None = None,
    ) -> wire.SchedulePage:
        """`text` is a part of the name or the task; `next_ticks` and `latest` ask for ticks to come and past ones."""
        more = {"text": text, "state": state, "next": next_ticks, "latest": latest}
        return self._client.send(calls.schedules(task, tenant, cursor, limit, **more))

    def get(self, name: str, tenant: str | None = None) -> wire.Schedule:
        return self._client.send(calls.schedule(name, tenant))

    def create(
        self, definition: ScheduleDefinition, why: str = "", *, paused: bool = False, tenant: str | None = None
    ) -> wire.Schedule:
        return self._client.send(calls.create(definition, why, paused=paused, tenant=tenant))

    def put(self, definition: ScheduleDefinition, why: str = "", tenant: str | None = None) -> wire.SchedulePut:
        """Creates the schedule, or makes it so; a definition that is the same changes nothing."""
        return self._client.send(calls.put(definition, why, tenant))

    def change(self, name: str, changes: dict[str, Any], why: str = "", tenant: str | None = None) -> wire.Schedule:
        """Only what is given changes; None puts a field back to its default."""
        return self._client.send(calls.change(name, changes, why, tenant))

    def delete(self, name: str, why: str = "", tenant: str | None = None) -> None:
        self._client.send(calls.delete(name, why, tenant))

    def pause(self, name: str, why: str = "", tenant: str | None = None) -> wire.Schedule:
        return self._client.send(calls.pause(name, why, tenant))

    def resume(self, name: str, why: str = "", tenant: str | None = None) -> wire.Schedule:
        return self._client.send(calls.resume(name, why, tenant))

    def trigger(self, name: str, params: dict[str, Any] | None = None, tenant: str | None = None) -> wire.Triggered:
        """Runs its job now."""
        return self._client.send(calls.trigger(name, params, tenant))

    def preview(
        self,
        schedule: str | ScheduleDefinition,
        count: int = 10,
        since: datetime | None = None,
        until: datetime | None = None,
        tenant: str | None = None,
    ) -> wire.Preview:
        """The ticks to come, of a saved schedule by its name, or of a definition that is not saved."""
        return self._client.send(_preview(schedule, count, since, until, tenant))

    def ticks(
        self,
        name: str,
        state: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        tenant: str | None = None,
        *,
        due: bool = False,
    ) -> wire.TickPage:
        """What became of its ticks, latest first; `due` leaves out those made ahead of their time."""
        return self._client.send(calls.ticks(name, state, cursor, limit, tenant, due=due))

    def history(self, name: str, limit: int | None = None, tenant: str | None = None) -> wire.VersionPage:
        return self._client.send(calls.history(name, limit, tenant))

    def backfill(
        self,
        name: str,
        since: datetime,
        until: datetime,
        concurrency: int = 1,
        *,
        dry_run: bool = False,
        tenant: str | None = None,
    ) -> wire.Backfill:
        return self._client.send(calls.backfill(name, since, until, concurrency, dry_run=dry_run, tenant=tenant))

    def backfills(self, name: str, tenant: str | None = None) -> wire.BackfillPage:
        return self._client.send(calls.backfills(name, tenant))

    def backfill_state(self, name: str, backfill_id: int, tenant: str | None = None) -> wire.Backfill:
        return self._client.send(calls.backfill_state(name, backfill_id, tenant))

    def cancel_backfill(self, name: str, backfill_id: int, tenant: str | None = None) -> wire.Backfill:
        return self._client.send(calls.cancel_backfill(name, backfill_id, tenant))

    def forecast(
        self, since: datetime | None = None, hours: float | None = None, tenant: str | None = None
    ) -> wire.Forecast:
        return self._client.send(calls.forecast(since, hours, tenant))

    def agenda(
        self,
        schedule: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        tz: str | None = None,
        *,
        task: str | None = None,
        text: str | None = None,
        tenant: str | None = None,
    ) -> wire.Agenda:
        """Which schedules fire on which day."""
        return self._client.send(calls.agenda(schedule, since, until, tz, task, text, tenant))

    def limits(self, tenant: str | None = None) -> wire.ScheduleLimits:
        return self._client.send(calls.limits(tenant))

    def set_limits(self, shortest_interval: str | float, tenant: str | None = None) -> wire.ScheduleLimits:
        return self._client.send(calls.set_limits(shortest_interval, tenant))

    def calendars(self, tenant: str | None = None) -> wire.CalendarPage:
        return self._client.send(calls.calendars(tenant))

    def calendar(self, name: str, tenant: str | None = None) -> wire.Calendar:
        return self._client.send(calls.calendar(name, tenant))

    def put_calendar(self, definition: CalendarDefinition, tenant: str | None = None) -> wire.Calendar:
        return self._client.send(calls.put_calendar(definition, tenant))

    def delete_calendar(self, name: str, tenant: str | None = None) -> None:
        self._client.send(calls.delete_calendar(name, tenant))


class AsyncSchedules:
    def __init__(self, client: "AsyncClient") -> None:
        self._client = client

    async def list(
        self,
        task: str | None = None,
        tenant: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        *,
        text: str | None = None,
        state: str | None = None,
        next_ticks: int | None = None,
        latest: int | None = None,
    ) -> wire.SchedulePage:
        more = {"text": text, "state": state, "next": next_ticks, "latest": latest}
        return await self._client.send(calls.schedules(task, tenant, cursor, limit, **more))

    async def get(self, name: str, tenant: str | None = None) -> wire.Schedule:
        return await self._client.send(calls.schedule(name, tenant))

    async def create(
        self, definition: ScheduleDefinition, why: str = "", *, paused: bool = False, tenant: str | None = None
    ) -> wire.Schedule:
        return await self._client.send(calls.create(definition, why, paused=paused, tenant=tenant))

    async def put(self, definition: ScheduleDefinition, why: str = "", tenant: str | None = None) -> wire.SchedulePut:
        return await self._client.send(calls.put(definition, why, tenant))

    async def change(
        self, name: str, changes: dict[str, Any], why: str = "", tenant: str | None = None
    ) -> wire.Schedule:
        return await self._client.send(calls.change(name, changes, why, tenant))

    async def delete(self, name: str, why: str = "", tenant: str | None = None) -> None:
        await self._client.send(calls.delete(name, why, tenant))

    async def pause(self, name: str, why: str = "", tenant: str | None = None) -> wire.Schedule:
        return await self._client.send(calls.pause(name, why, tenant))

    async def resume(self, name: str, why: str = "", tenant: str | None = None) -> wire.Schedule:
        return await self._client.send(calls.resume(name, why, tenant))

    async def trigger(
        self, name: str, params: dict[str, Any] | None = None, tenant: str | None = None
    ) -> wire.Triggered:
        return await self._client.send(calls.trigger(name, params, tenant))

    async def preview(
        self,
        schedule: str | ScheduleDefinition,
        count: int = 10,
        since: datetime | None = None,
        until: datetime | None = None,
        tenant: str | None = None,
    ) -> wire.Preview:
        return await self._client.send(_preview(schedule, count, since, until, tenant))

    async def ticks(
        self,
        name: str,
        state: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        tenant: str | None = None,
        *,
        due: bool = False,
    ) -> wire.TickPage:
        return await self._client.send(calls.ticks(name, state, cursor, limit, tenant, due=due))

    async def history(self, name: str, limit: int | None = None, tenant: str | None = None) -> wire.VersionPage:
        return await self._client.send(calls.history(name, limit, tenant))

    async def backfill(
        self,
        name: str,
        since: datetime,
        until: datetime,
        concurrency: int = 1,
        *,
        dry_run: bool = False,
        tenant: str | None = None,
    ) -> wire.Backfill:
        return await self._client.send(calls.backfill(name, since, until, concurrency, dry_run=dry_run, tenant=tenant))

    async def backfills(self, name: str, tenant: str | None = None) -> wire.BackfillPage:
        return await self._client.send(calls.backfills(name, tenant))

    async def backfill_state(self, name: str, backfill_id: int, tenant: str | None = None) -> wire.Backfill:
        return await self._client.send(calls.backfill_state(name, backfill_id, tenant))

    async def cancel_backfill(self, name: str, backfill_id: int, tenant: str | None = None) -> wire.Backfill:
        return await self._client.send(calls.cancel_backfill(name, backfill_id, tenant))

    async def forecast(
        self, since: datetime | None = None, hours: float | None = None, tenant: str | None = None
    ) -> wire.Forecast:
        return await self._client.send(calls.forecast(since, hours, tenant))

    async def agenda(
        self,
        schedule: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        tz: str | None = None,
        *,
        task: str | None = None,
        text: str | None = None,
        tenant: str | None = None,
    ) -> wire.Agenda:
        return await self._client.send(calls.agenda(schedule, since, until, tz, task, text, tenant))

    async def limits(self, tenant: str | None = None) -> wire.ScheduleLimits:
        return await self._client.send(calls.limits(tenant))

    async def set_limits(self, shortest_interval: str | float, tenant: str | None = None) -> wire.ScheduleLimits:
        return await self._client.send(calls.set_limits(shortest_interval, tenant))

    async def calendars(self, tenant: str | None = None) -> wire.CalendarPage:
        return await self._client.send(calls.calendars(tenant))

    async def calendar(self, name: str, tenant: str | None = None) -> wire.Calendar:
        return await self._client.send(calls.calendar(name, tenant))

    async def put_calendar(self, definition: CalendarDefinition, tenant: str | None = None) -> wire.Calendar:
        return await self._client.send(calls.put_calendar(definition, tenant))

    async def delete_calendar(self, name: str, tenant: str | None = None) -> None:
        await self._client.send(calls.delete_calendar(name, tenant))


def _preview(
    schedule: str | ScheduleDefinition, count: int, since: datetime | None, until: datetime | None, tenant: str | None
) -> Call[wire.Preview]:
    if isinstance(schedule, str):
        return calls.preview_saved(schedule, count, since, until, tenant)
    return calls.preview(schedule, count, since, until, tenant)
