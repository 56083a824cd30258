"""Dead letters and bulk actions in the store. A batch of an action is one transaction: the jobs it moves, what is kept
to undo it, the counts and the cursor."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar
from uuid import UUID

import asyncpg

from horae.store.database import Database, Rows, Transaction
from horae.store.jobs import PendingChange
from horae.store.moves import put_back

T = TypeVar("T")


class Counts(NamedTuple):
    """What a batch did, in the order of `action_save`."""

    seen: int = 0
    done: int = 0
    skipped: int = 0
    failed: int = 0
    undone: int = 0


class ActionBatch:
    """One batch of one action, whose row is locked; made by `Actions.batch`."""

    def __init__(self, tx: Transaction, action: asyncpg.Record) -> None:
        self._tx = tx
        self.action = action
        self._tenant_id: int = action["tenant_id"]

    async def lock_jobs(self, ids: Sequence[UUID]) -> Rows:
        """The jobs as they are now. Nobody edits them until the batch ends; starting and ending they may."""
        await self._tx.fetch("action_jobs_lock", self._tenant_id, ids)
        return await self._tx.fetch("job_states", self._tenant_id, ids)

    async def cancel(self, row: asyncpg.Record, error: str) -> bool:
        return bool(
            await self._tx.fetch(
                "job_cancel_pending", self._tenant_id, row["lane_id"], row["id"], row["rank"], error
            )
        )  # fmt: skip

    async def cancel_running(self, row: asyncpg.Record, reason: str, who: str) -> int | None:
        """The worker that was asked."""
        asked = await self._tx.fetchrow("job_cancel_running", row["lane_id"], row["id"], reason, who)
        return None if asked is None else asked["worker_id"]

    async def change(self, change: PendingChange) -> bool | None:
        """Whether the job is ready now; None when it has started meanwhile."""
        taken = await self._tx.fetchrow("pending_take", change.old_lane_id, change.id, change.old_rank)
        return None if taken is None else await put_back(self._tx, change, taken["attempt"])

    async def retry(self, change: PendingChange) -> bool | None:
        taken = await self._tx.fetchrow("outcome_take", change.tenant_id, change.id)
        return None if taken is None else await put_back(self._tx, change, taken["attempt"])

    async def revive(self, row: asyncpg.Record, run_at: datetime) -> bool | None:
        """Lets a cancelled job wait again where it did. Whether it is ready now; None when it is not cancelled."""
        taken = await self._tx.fetchrow("outcome_take", self._tenant_id, row["id"])
        if taken is None:
            return None
        place = (row["lane_id"], row["id"], row["rank"], taken["attempt"], run_at)
        put = await self._tx.fetchrow("pending_put", *place)
        return bool(put and put["now"])

    async def outlived(self, job_id: UUID) -> bool:
        """Whether the job was carried over when its day was taken out."""
        return bool(await self._tx.fetch("job_outlived", self._tenant_id, job_id))

    async def discard(self, ids: Sequence[UUID], by: str) -> set[UUID]:
        return {row["id"] for row in await self._tx.fetch("dead_discard", self._tenant_id, ids, by)}

    async def restore(self, ids: Sequence[UUID], by: str) -> int:
        return len(await self._tx.fetch("dead_restore", self._tenant_id, ids, by))

    async def keep(self, items: Sequence[tuple[UUID, str | None]]) -> None:
        """What is needed to undo: jobs as they were. Their version now is kept beside."""
        ids, before = [job_id for job_id, _ in items], [text for _, text in items]
        await self._tx.fetch("action_items_add", self.action["id"], self._tenant_id, ids, before)

    async def items(self, rows: int) -> Rows:
        return await self._tx.fetch("action_items", self.action["id"], self.action["cursor"], rows)

    async def save(self, counts: Counts, cursor: UUID, paced_until: datetime | None, note: str | None) -> None:
        await self._tx.fetch("action_save", self.action["id"], *counts, cursor, paced_until, note)

    async def finish(self, state: str, undo_seconds: float | None) -> None:
        await self._tx.fetch("action_finish", self.action["id"], state, undo_seconds, None)


class Actions:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def batch(self, until: datetime, work: Callable[[ActionBatch], Awaitable[T]]) -> T | None:
        """Works on the next action that has something to do; None when there is none that nobody else works on."""

        async def run(tx: Transaction) -> T | None:
            action = await tx.fetchrow("action_take", until)
            return None if action is None else await work(ActionBatch(tx, action))

        return await self._database.atomically(run)

    async def action_create(self, *values: object) -> None:
        await self._database.fetch("action_create", *values)

    async def action_get(self, tenant_id: int | None, action_id: UUID) -> asyncpg.Record | None:
        return await self._database.fetchrow("action_get", tenant_id, action_id)

    async def action_list(self, tenant_id: int | None, before: UUID, rows: int) -> Rows:
        return await self._database.fetch("action_list", tenant_id, before, rows)

    async def action_cancel(self, tenant_id: int, action_id: UUID, undo_seconds: float) -> bool:
        return bool(await self._database.fetch("action_cancel", tenant_id, action_id, undo_seconds))

    async def action_undo(self, tenant_id: int, action_id: UUID, undoable: Sequence[str]) -> bool:
        return bool(await self._database.fetch("action_undo", tenant_id, action_id, undoable))

    async def action_fail(self, action_id: UUID, note: str) -> None:
        await self._database.fetch("action_finish", action_id, "failed", None, note)

    async def action_put_off(self, action_id: UUID, seconds: float) -> None:
        await self._database.fetch("action_put_off", action_id, seconds)

    async def action_clean(self, seconds: float, rows: int) -> None:
        await self._database.fetch("action_clean", seconds, rows)


class DeadLetters:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def dead_causes(
        self, tenants: Sequence[int], cause: str | None, since: UUID, before: UUID, rows: int
    ) -> Rows:  # fmt: skip
        return await self._database.fetch_planned("dead_causes", tenants, cause, since, before, rows)

    async def dead_newest(
        self, causes: Sequence[tuple[int, str | None]], since: UUID, before: UUID, rows: int
    ) -> Rows:  # fmt: skip
        """`causes` are tenants with a cause each; `place` in a row says which of them it is of, counted from 1."""
        tenants, names = [tenant_id for tenant_id, _ in causes], [cause for _, cause in causes]
        return await self._database.fetch_planned("dead_newest", tenants, names, since, before, rows)
