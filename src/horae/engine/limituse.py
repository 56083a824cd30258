"""The use of a limit: the jobs that hold its slots, and who waits behind it."""

from typing import Final, NamedTuple

import asyncpg

from horae.engine.access import Caller
from horae.engine.limits import Limits, LimitView
from horae.engine.lineup import Lineup, Lineups
from horae.model.limits import groups_of
from horae.store.policy import PolicyRows

MOST_GROUPS: Final = 100
SHOWN: Final = 50


class LimitUse(NamedTuple):
    view: LimitView
    holders: list[asyncpg.Record]
    """Running jobs in its slots, those that run longest first."""
    waiting: Lineup


class LimitUses:
    def __init__(self, limits: Limits, lineups: Lineups, rows: PolicyRows) -> None:
        self._limits = limits
        self._lineups = lineups
        self._rows = rows

    async def of(self, by: Caller, tenant: str | None, name: str) -> LimitUse:
        view = await self._limits.get(by, tenant, name)
        waiting = await self._lineups.of_limit(by.tenant_id, view.rule)
        return LimitUse(view, await self._holders(by, view), waiting)

    async def _holders(self, by: Caller, view: LimitView) -> list[asyncpg.Record]:
        lanes = await self._rows.lease_lanes()
        found = (group for key in lanes.values() for group in groups_of((view.rule,), key))
        groups = {group.id for group in found if group.rule is not None}
        rows = await self._rows.slot_holders(sorted(groups)[:MOST_GROUPS], by.tenant_id, SHOWN) if groups else []
        return sorted(rows, key=lambda row: row["granted_at"])[:SHOWN]
