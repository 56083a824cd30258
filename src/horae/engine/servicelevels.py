"""Service levels: made, changed and removed, and how well each is met.

A level is part of the policy that every server holds, and is for jobs submitted from then on: those that wait keep what
they were promised. Whoever belongs to a tenant sees the figures of that tenant only, also of a level for all.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import asyncpg
import msgspec
import structlog

from horae.engine.access import Access, Caller
from horae.engine.policy import Policy, level_of_row
from horae.engine.signals import Signals
from horae.model.errors import AlreadyExists, Forbidden, InvalidInput, NotFound
from horae.model.offpeak import week_ranges
from horae.model.promise import DEFAULT_TARGET
from horae.model.servicelevels import ServiceLevel, check_level, read_start_within
from horae.model.timing import OffPeak
from horae.store.database import Database, Transaction
from horae.store.policy import policy_touch
from horae.store.servicelevels import ServiceLevelRows, service_level_delete, service_level_put

log = structlog.get_logger()

MOST_COUNTED: Final = 10_000
MOST_SHOWN: Final = 5


class LevelSpec(msgspec.Struct, kw_only=True, frozen=True):
    """A service level as somebody asks for it."""

    name: str
    task: str | None = None
    tier: str = ""
    start_within: str | float | None = None
    target: float = DEFAULT_TARGET
    priority: int | None = None
    off_peak: OffPeak | None = None
    reason: str | None = None


class Kept(msgspec.Struct, frozen=True):
    """Promises of a span of time, or of a task."""

    kept: int = 0
    broken: int = 0


class WorstTask(msgspec.Struct, frozen=True):
    tenant: str
    task: str
    kept: int
    broken: int


class LateJob(msgspec.Struct, frozen=True):
    id: UUID
    tenant: str
    task: str
    start_by: datetime


class LevelView(msgspec.Struct, kw_only=True):
    level: ServiceLevel
    tenant: str | None
    made_by: str
    made_at: datetime
    reason: str | None
    spans: dict[str, Kept] = {}
    """Of the last hour, day and month."""
    at_risk: int = 0
    late: int = 0
    worst: list[WorstTask] = []
    """Tasks by broken promises of the last day."""
    latest: list[LateJob] = []
    """Jobs that wait beyond their time, the longest first."""


class ServiceLevels:
    def __init__(
        self, database: Database, rows: ServiceLevelRows, policy: Policy, access: Access, signals: Signals
    ) -> None:
        self._database = database
        self._rows = rows
        self._policy = policy
        self._access = access
        self._signals = signals

    async def put(self, by: Caller, tenant: str | None, spec: LevelSpec) -> LevelView:
        """Makes a level or changes it. A key of a tenant has levels of that tenant; one of none, of any or of all."""
        tenant_id = None if by.tenant_id is None and tenant is None else await self._access.tenant_for(by, tenant)
        level = _level(tenant_id, spec)
        try:
            await self._change(lambda tx: _put(tx, level, by.name, spec.reason))
        except asyncpg.InvalidParameterValueError as error:
            raise InvalidInput(f"off_peak.tz: the database does not know it: {error}", field="off_peak.tz") from error
        log.info("service_level_set", level=level.name, by=by.name, within=level.start_within, target=level.target)
        return await self.get(by, tenant, spec.name)

    async def delete(self, by: Caller, tenant: str | None, name: str) -> None:
        row = await self._row(by, tenant, name)
        if by.tenant_id is not None and row["tenant_id"] is None:
            raise Forbidden(f"service level {name!r} is for all tenants: only a key that belongs to none can delete it")
        await self._change(lambda tx: service_level_delete(tx, row["tenant_id"], name))
        log.info("service_level_deleted", level=name, by=by.name)

    async def get(self, by: Caller, tenant: str | None, name: str) -> LevelView:
        """The tenant's own level of that name, else the one for all."""
        (view,) = await self._with_figures([await self._row(by, tenant, name)], by, tenant)
        return view

    async def list_all(self, by: Caller, tenant: str | None) -> list[LevelView]:
        rows = await self._rows.service_level_list(await self._access.tenant_filter(by, tenant))
        return await self._with_figures(rows, by, tenant)

    async def _row(self, by: Caller, tenant: str | None, name: str) -> asyncpg.Record:
        tenant_id = await self._access.tenant_filter(by, tenant)
        rows = await self._rows.service_level_list(tenant_id, name)
        if not rows:
            raise NotFound(f"there is no service level {name!r}")
        own = [row for row in rows if row["tenant_id"] is not None]
        return own[0] if tenant_id is not None and own else rows[0]

    async def _change(self, change: Callable[[Transaction], Awaitable[object]]) -> None:
        async def work(tx: Transaction) -> None:
            await policy_touch(tx)
            await change(tx)

        await self._database.atomically(work)
        await self._policy.refresh()
        self._signals.policy()

    async def _with_figures(self, rows: Sequence[asyncpg.Record], by: Caller, tenant: str | None) -> list[LevelView]:
        tenant_id = await self._access.tenant_filter(by, tenant)
        views = {row["id"]: _view(row) for row in rows}
        levels = list(views)
        for sums in await self._rows.attainment_sums(levels, tenant_id):
            views[sums["level_id"]].spans[sums["span"]] = Kept(sums["kept"], sums["broken"])
        for pressing in await self._rows.promise_pressing(levels, tenant_id, MOST_COUNTED):
            view = views[pressing["level_id"]]
            view.at_risk, view.late = pressing["at_risk"], pressing["late"]
        for worst in await self._rows.attainment_worst(levels, tenant_id, MOST_SHOWN):
            found = WorstTask(worst["tenant"], worst["task"], worst["kept"], worst["broken"])
            views[worst["level_id"]].worst.append(found)
        for late in await self._rows.promise_latest(levels, tenant_id, MOST_SHOWN):
            job = LateJob(late["id"], late["tenant"], late["task"], late["due_at"])
            views[late["level_id"]].latest.append(job)
        return list(views.values())


def _level(tenant_id: int | None, spec: LevelSpec) -> ServiceLevel:
    within = None if spec.start_within is None else read_start_within(spec.start_within)
    return check_level(
        ServiceLevel(
            id=0, name=spec.name, tenant_id=tenant_id, task=spec.task, tier=spec.tier, start_within=within,
            target=spec.target, priority=spec.priority, off_peak=spec.off_peak,
        )
    )  # fmt: skip


async def _put(tx: Transaction, level: ServiceLevel, who: str, reason: str | None) -> None:
    hours = level.off_peak
    made = await service_level_put(
        tx, level.tenant_id, level.name, level.task, level.tier, level.start_within, level.target, level.priority,
        *((None, None, None) if hours is None else (_json(hours), hours.tz, _multirange(hours))), who, reason,
    )  # fmt: skip
    if made is None:
        raise AlreadyExists(
            f"another service level is for the same jobs as {level.name!r}: change that one, or delete it"
        )


def _json(off_peak: OffPeak) -> str:
    return msgspec.json.encode(off_peak).decode()


def _multirange(off_peak: OffPeak) -> str:
    return "{" + ",".join(f"[{since},{until})" for since, until in week_ranges(off_peak)) + "}"


def _view(row: asyncpg.Record) -> LevelView:
    return LevelView(
        level=level_of_row(row), tenant=row["tenant"], made_by=row["made_by"], made_at=row["made_at"],
        reason=row["reason"],
    )  # fmt: skip
