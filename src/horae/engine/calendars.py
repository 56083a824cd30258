"""Calendars of tenants, and the days they block."""

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec
import structlog

from horae.model.calendars import BlockedDays, CalendarDefinition, blocked_days, check_calendar
from horae.model.definition import ScheduleDefinition
from horae.model.errors import InvalidInput, NotFound, WrongState
from horae.store.schedules import Schedules

log = structlog.get_logger()

REMEMBER_SECONDS: Final = 2.0
_definition = msgspec.json.Decoder(CalendarDefinition)


class CalendarView(msgspec.Struct, frozen=True):
    definition: CalendarDefinition
    tenant: str
    changed_by: str
    changed_at: datetime


class Calendars:
    def __init__(self, schedules: Schedules) -> None:
        self._schedules = schedules
        self._known: dict[int, tuple[dict[str, CalendarDefinition], float]] = {}
        self._blocked: dict[tuple[int, tuple[str, ...]], BlockedDays] = {}

    async def list_all(self, tenant_id: int) -> list[CalendarView]:
        return [
            CalendarView(_definition.decode(row["definition"]), row["tenant"], row["changed_by"], row["changed_at"])
            for row in await self._schedules.calendar_list(tenant_id)
        ]

    async def get(self, tenant_id: int, name: str) -> CalendarView:
        for view in await self.list_all(tenant_id):
            if view.definition.name == name:
                return view
        raise NotFound(f"there is no calendar {name!r}")

    async def put(self, tenant_id: int, calendar: CalendarDefinition, by: str) -> None:
        others = {view.definition.name: view.definition for view in await self.list_all(tenant_id)}
        others.pop(calendar.name, None)
        checked = check_calendar(calendar, others)
        text = msgspec.json.encode(checked).decode()
        await self._schedules.calendar_put(tenant_id, calendar.name, text, by)
        self._forget(tenant_id)
        log.info("calendar_put", calendar=calendar.name, tenant=tenant_id, by=by)

    async def delete(self, tenant_id: int, name: str) -> None:
        await self._refuse_if_used(tenant_id, name)
        if not await self._schedules.calendar_delete(tenant_id, name):
            raise NotFound(f"there is no calendar {name!r}")
        self._forget(tenant_id)

    async def _refuse_if_used(self, tenant_id: int, name: str) -> None:
        for view in await self.list_all(tenant_id):
            if name in view.definition.include:
                raise WrongState(f"the calendar {view.definition.name!r} includes {name!r}: change that one first")
        if used := await self.used_by(tenant_id, {name}):
            raise WrongState(f"the schedule {used[0]!r} uses the calendar {name!r}: change that one first")

    async def used_by(self, tenant_id: int, names: set[str]) -> list[str]:
        """The schedules that use any of these calendars."""
        rows = await self._schedules.schedule_by_calendar(tenant_id)
        decode = msgspec.json.Decoder(ScheduleDefinition).decode
        return [row["name"] for row in rows if names & set(decode(row["definition"]).calendars)]

    async def including(self, tenant_id: int, name: str) -> set[str]:
        """The calendar itself and those that include it, over any number of steps."""
        definitions = await self._definitions(tenant_id)
        found, size = {name}, 0
        while len(found) > size:
            size = len(found)
            found |= {other.name for other in definitions.values() if found & set(other.include)}
        return found

    async def blocked(self, tenant_id: int, names: Sequence[str]) -> BlockedDays:
        """Which days these calendars block. Unknown names are refused."""
        if not names:
            return _never
        definitions = await self._definitions(tenant_id)
        if unknown := [name for name in names if name not in definitions]:
            raise InvalidInput(
                f"calendars: there is no calendar {unknown[0]!r}; make it with PUT /v1/calendars/{unknown[0]}",
                field="calendars",
            )
        key = (tenant_id, tuple(names))
        if key not in self._blocked:
            self._blocked[key] = blocked_days(definitions, list(names))
        return self._blocked[key]

    async def _definitions(self, tenant_id: int) -> dict[str, CalendarDefinition]:
        known = self._known.get(tenant_id)
        if known is None or known[1] < time.monotonic():
            found = {view.definition.name: view.definition for view in await self.list_all(tenant_id)}
            self._forget_the_old()
            self._forget(tenant_id)
            known = self._known[tenant_id] = (found, time.monotonic() + REMEMBER_SECONDS)
        return known[0]

    def _forget_the_old(self) -> None:
        now = time.monotonic()
        for tenant_id in [tenant_id for tenant_id, (_, until) in self._known.items() if until < now]:
            self._forget(tenant_id)

    def _forget(self, tenant_id: int) -> None:
        self._known.pop(tenant_id, None)
        self._blocked = {key: blocked for key, blocked in self._blocked.items() if key[0] != tenant_id}


def _never(_day: object) -> None:
    """No calendar: every day is a good one."""
