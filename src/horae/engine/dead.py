"""Dead letters: failed jobs that nobody has redriven or discarded, grouped by the fingerprint of their error."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import asyncpg
import msgspec

from horae.engine.lists import FIRST_ID, LAST_ID, JobFilter, Lists, Page
from horae.model.ids import lowest_id
from horae.model.states import State
from horae.store.actions import DeadLetters as DeadStore

MAX_CAUSES: Final = 200
LOOKED_AT: Final = (20, 100)
"""Of each cause, at least and at most this many of the newest jobs tell which tasks it is in."""
LOOKED_AT_ALL: Final = 1_000
"""Of all causes together, where that leaves each its least."""
SHOWN_IDS: Final = 5


class Cause(msgspec.Struct, frozen=True):
    cause: str | None
    tenant_id: int
    count: int
    first_at: datetime
    last_at: datetime
    error: str | None
    tasks: list[str]
    job_ids: list[UUID]


class Dead:
    def __init__(self, store: DeadStore, lists: Lists) -> None:
        self._store = store
        self._lists = lists

    async def causes(
        self, tenants: Sequence[int], cause: str | None, since: datetime | None, until: datetime | None
    ) -> list[Cause]:
        """The most frequent first."""
        bounds = (lowest_id(since) if since else FIRST_ID, lowest_id(until) if until else LAST_ID)
        rows = await self._store.dead_causes(tenants, cause, *bounds, MAX_CAUSES)
        groups = [(row["tenant_id"], row["cause"]) for row in rows]
        least, most = LOOKED_AT
        each = max(least, min(most, LOOKED_AT_ALL // max(len(groups), 1)))
        newest: dict[int, list[asyncpg.Record]] = defaultdict(list)
        for job in await self._store.dead_newest(groups, *bounds, each):
            newest[job["place"]].append(job)
        return [_cause(row, newest[place]) for place, row in enumerate(rows, 1)]

    async def jobs(self, tenants: Sequence[int], wanted: JobFilter, before: UUID | None, limit: int) -> Page:
        only = msgspec.structs.replace(wanted, dead=True, states=frozenset({State.FAILED}))
        return await self._lists.jobs(tenants, only, before, limit)


def _cause(row: asyncpg.Record, newest: Sequence[asyncpg.Record]) -> Cause:
    return Cause(
        row["cause"],
        row["tenant_id"],
        row["count"],
        row["first_at"],
        row["last_at"],
        newest[0]["error"] if newest else None,
        sorted({job["task"] for job in newest}),
        [job["id"] for job in newest[:SHOWN_IDS]],
    )
