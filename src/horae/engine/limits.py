"""Limits: made, changed and removed while jobs run, effective at once.

A change and its count are one transaction. It waits for the claims under way, and gives every running job its slots
under the new rules before the next claim can look: so a limit is exact from its first moment, and one set below what
runs lets nothing start until enough has ended.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final

import asyncpg
import msgspec
import structlog

from horae.engine.access import Access, Caller
from horae.engine.policy import Policy, limit_of
from horae.engine.signals import Signals
from horae.model.errors import Forbidden, NotFound
from horae.model.limits import Field, LimitRule, check_rule, default_burst, groups_of, read_rate
from horae.model.task import TaskDefinition
from horae.store.database import Database, Transaction
from horae.store.policy import PolicyRows, lease_lanes, limit_put, limit_remove, policy_touch, slot_adopt

log = structlog.get_logger()

SHARED: Final = 0
MAX_GROUPS_SHOWN: Final = 1000


class LimitSpec(msgspec.Struct, kw_only=True, frozen=True):
    """A limit as somebody asks for it."""

    name: str
    queue: str | None = None
    task: str | None = None
    key: str | None = None
    each: tuple[Field, ...] = ()
    max_running: int | None = None
    rate: str | float | None = None
    burst: float | None = None
    reason: str | None = None


class LimitView(msgspec.Struct, kw_only=True, frozen=True):
    rule: LimitRule
    tenant: str | None
    of_task: bool
    made_by: str
    made_at: datetime
    reason: str | None
    running: int | None = None
    """How many slots are taken now, over all its groups."""
    groups: int | None = None
    """How many groups have anything running."""


class Limits:
    def __init__(self, database: Database, rows: PolicyRows, policy: Policy, access: Access, signals: Signals) -> None:
        self._database = database
        self._rows = rows
        self._policy = policy
        self._access = access
        self._signals = signals

    async def put(self, by: Caller, tenant: str | None, spec: LimitSpec) -> LimitView:
        """Makes a limit or changes it. A key of a tenant sets limits of that tenant; one of none, of any or of all."""
        tenant_id = None if by.tenant_id is None and tenant is None else await self._access.tenant_for(by, tenant)
        rule = _rule(tenant_id, spec)
        await self._change(lambda tx: self._put(tx, rule, by.name, spec.reason))
        log.info("limit_set", limit=rule.name, by=by.name, max_running=rule.max_running, rate=rule.rate)
        return await self.get(by, tenant, spec.name)

    async def remove(self, by: Caller, tenant: str | None, name: str) -> None:
        owner = await self._access.tenant_filter(by, tenant)
        found = _of(owner, await self._rows.limit_list(owner, name), name)["tenant_id"]
        if by.tenant_id is not None and found is None:
            raise Forbidden(f"the limit {name!r} is for all tenants: only a key that belongs to none can remove it")
        if found != owner:
            whose = "for all tenants: name the tenant whose limit it is" if owner is None else f"of tenant {tenant!r}"
            raise NotFound(f"there is no limit {name!r} {whose}")
        await self._change(lambda tx: limit_remove(tx, owner, name))
        log.info("limit_removed", limit=name, by=by.name)

    async def get(self, by: Caller, tenant: str | None, name: str) -> LimitView:
        """The tenant's own limit of that name, else the one for all. Without a tenant it is the other way round."""
        owner = await self._access.tenant_filter(by, tenant)
        views = await self._with_use([_of(owner, await self._rows.limit_list(owner, name), name)])
        return views[0]

    async def list_all(self, by: Caller, tenant: str | None) -> list[LimitView]:
        return await self._with_use(await self._rows.limit_list(await self._access.tenant_filter(by, tenant)))

    async def of_task(self, tenant_id: int, task: TaskDefinition) -> None:
        """The limits that a task's definition declares; those it no longer declares are gone."""
        owner = None if tenant_id == SHARED else tenant_id
        for name, rule in _declared(owner, task).items():
            if rule is None:
                await self._undeclare(owner, name)
            elif not await self._rows.limit_same(owner, name, rule.max_running, rule.rate, rule.burst):
                await self._declare(rule)

    async def _declare(self, rule: LimitRule) -> None:
        await self._change(lambda tx: self._put(tx, rule, "the task", None, of_task=True))

    async def _undeclare(self, owner: int | None, name: str) -> None:
        there = await self._rows.limit_list(owner, name)
        if any(row["of_task"] and row["tenant_id"] == owner for row in there):
            await self._change(lambda tx: limit_remove(tx, owner, name))

    async def _put(
        self, tx: Transaction, rule: LimitRule, who: str, reason: str | None, *, of_task: bool = False
    ) -> None:
        values = (
            rule.tenant_id, rule.name, rule.queue, rule.task, rule.key, [field.value for field in rule.each],
            rule.max_running, rule.rate, rule.burst, of_task, who, reason,
        )  # fmt: skip
        if await limit_put(tx, *values) is None:
            # It is for other jobs now, so it is another limit: its slots are counted anew.
            await limit_remove(tx, rule.tenant_id, rule.name)
            await limit_put(tx, *values)

    async def _change(self, change: Callable[[Transaction], Awaitable[object]]) -> None:
        async def work(tx: Transaction) -> None:
            await policy_touch(tx)
            await change(tx)
            rules = [limit_of(dict(row)) for row in await tx.fetch("policy_limits")]
            lanes = await lease_lanes(tx, None)
            pairs = [(lane_id, group.id) for lane_id, key in lanes.items() for group in groups_of(rules, key)]
            await slot_adopt(tx, pairs)

        await self._database.atomically(work)
        await self._policy.refresh()
        self._signals.policy()

    async def _with_use(self, rows: Sequence[asyncpg.Record]) -> list[LimitView]:
        """Groups are known by their number only; which rule a taken one belongs to follows from the lanes that run."""
        lanes = await self._rows.lease_lanes()
        taken = await self._rows.slot_groups(MAX_GROUPS_SHOWN * 100)
        found: dict[int, set[int]] = {}
        for key in lanes.values():
            for group in groups_of(self._policy.limits, key):
                if group.rule is not None:
                    found.setdefault(group.rule.id, set()).add(group.id)
        return [_view(row, [taken.get(group, 0) for group in found.get(row["id"], ())]) for row in rows]


def _of(owner: int | None, rows: Sequence[asyncpg.Record], name: str) -> asyncpg.Record:
    """The limit of this owner, none being all, else another that the caller may see."""
    if not rows:
        raise NotFound(f"there is no limit {name!r}")
    return next((row for row in rows if row["tenant_id"] == owner), rows[0])


def _rule(tenant_id: int | None, spec: LimitSpec) -> LimitRule:
    rate = None if spec.rate is None else read_rate(spec.rate)
    return check_rule(
        LimitRule(
            id=0, name=spec.name, tenant_id=tenant_id, queue=spec.queue, task=spec.task, key=spec.key, each=spec.each,
            max_running=spec.max_running, rate=rate,
            burst=spec.burst if rate is None else default_burst(rate, spec.burst),
        )
    )  # fmt: skip


def _declared(owner: int | None, task: TaskDefinition) -> dict[str, LimitRule | None]:
    """By name: the limits a definition has, and None for those it might have."""
    whole, keyed = f"task:{task.name}", f"task:{task.name}:key"
    rules: dict[str, LimitRule | None] = {whole: None, keyed: None}
    if task.max_running is not None or task.rate is not None:
        spec = LimitSpec(name=whole, task=task.name, max_running=task.max_running, rate=task.rate, burst=task.burst)
        rules[whole] = _rule(owner, spec)
    if task.max_running_per_key is not None:
        each = (Field.KEY,) if owner is not None else (Field.TENANT, Field.KEY)
        spec = LimitSpec(name=keyed, task=task.name, each=each, max_running=task.max_running_per_key)
        rules[keyed] = _rule(owner, spec)
    return rules


def _view(row: asyncpg.Record, taken: Sequence[int]) -> LimitView:
    fields = {name: row[name] for name in LimitRule.__struct_fields__}
    return LimitView(
        rule=limit_of(fields),
        tenant=row["tenant"],
        of_task=row["of_task"],
        made_by=row["made_by"],
        made_at=row["made_at"],
        reason=row["reason"],
        running=sum(taken),
        groups=sum(1 for count in taken if count),
    )
