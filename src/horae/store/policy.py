"""Policy in the store: limits, gates, and the version that every change raises."""

from collections.abc import Sequence

import asyncpg

from horae.store.control import LaneKey, lane_key
from horae.store.database import Database, Rows, Transaction, columns


class PolicyRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def policy_version(self) -> int:
        rows = await self._database.fetch("policy_version", hot=True)
        return int(rows[0]["version"])

    async def policy_limits(self) -> Rows:
        return await self._database.fetch("policy_limits")

    async def policy_gates(self) -> Rows:
        return await self._database.fetch("policy_gates")

    async def policy_levels(self) -> Rows:
        return await self._database.fetch("policy_levels")

    async def limit_list(self, tenant_id: int | None, name: str | None = None) -> Rows:
        return await self._database.fetch("limit_list", tenant_id, name)

    async def limit_same(self, *values: object) -> bool:
        rows = await self._database.fetch("limit_same", *values)
        return bool(rows[0]["same"])

    async def lease_lanes(self) -> dict[int, LaneKey]:
        return _lanes(await self._database.fetch("lease_lanes", None))

    async def slot_holders(self, groups: Sequence[int], tenant_id: int | None, rows: int) -> Rows:
        return await self._database.fetch("slot_holders", groups, tenant_id, rows)

    async def slot_counts(self, groups: Sequence[int]) -> Rows:
        return await self._database.fetch("slot_counts", groups)

    async def slot_orphans(self) -> int:
        rows = await self._database.fetch("slot_orphans")
        return int(rows[0]["orphans"])

    async def slot_groups(self, rows: int) -> dict[int, int]:
        found = await self._database.fetch("slot_groups", rows)
        return {row["group_id"]: row["taken"] for row in found}

    async def bucket_clean(self, seconds: float) -> None:
        await self._database.fetch("bucket_clean", seconds)


async def policy_touch(tx: Transaction) -> int:
    """The first thing in a transaction that changes policy: claims wait until it ends, and then see the change."""
    rows = await tx.fetch("policy_touch")
    return int(rows[0]["version"])


async def limit_put(tx: Transaction, *values: object) -> asyncpg.Record | None:
    return await tx.fetchrow("limit_put", *values)


async def limit_remove(tx: Transaction, tenant_id: int | None, name: str) -> bool:
    return bool(await tx.fetch("limit_remove", tenant_id, name))


async def lease_lanes(tx: Transaction, tenant_id: int | None) -> dict[int, LaneKey]:
    return _lanes(await tx.fetch("lease_lanes", tenant_id))


def _lanes(rows: Rows) -> dict[int, LaneKey]:
    return {row["id"]: lane_key(row) for row in rows}


async def slot_adopt(tx: Transaction, pairs: Sequence[tuple[int, int]]) -> int:
    """`pairs` are (lane, group)."""
    return len(await tx.fetch("slot_adopt", *columns(pairs))) if pairs else 0
