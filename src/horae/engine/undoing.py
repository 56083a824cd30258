"""Undoing a bulk action: what it did is put back, job by job, where nothing has happened to the job since."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

import asyncpg
import msgspec

from horae.engine.deed import Deed
from horae.engine.rows import state_of
from horae.model.actions import ActionKind, ActionState
from horae.model.states import PENDING, State
from horae.store.actions import ActionBatch
from horae.store.jobs import PendingChange


class Before(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A job as it was: when it should have run, and of one that was changed its body."""

    run_at: datetime
    lane_id: int = 0
    rank: int = 0
    priority: int = 0
    params: str = ""
    options: str | None = None


_before = msgspec.json.Decoder(Before)


def marker(action: Mapping[str, object] | asyncpg.Record) -> str:
    """By whom an action's jobs are discarded: tells them from those that others discarded."""
    return f"{action['made_by']} (action {action['id']})"


async def undo(batch: ActionBatch, most: int, lowest: UUID) -> Deed:
    """The next jobs of an action that is being undone. The days of those below `lowest` are about to be dropped."""
    deed, action = Deed(), batch.action
    items = await batch.items(most)
    ids = [item["id"] for item in items]
    rows: dict[UUID, asyncpg.Record] = {row["id"]: row for row in await batch.lock_jobs(ids)}
    if action["action"] == ActionKind.DISCARD:
        deed.undone = await batch.restore(ids, marker(action))
    else:
        for item in items:
            if item["id"] in rows:
                await _undo_one(batch, rows[item["id"]], item, lowest, deed)
    await batch.save(deed.counts(0), ids[-1] if ids else action["cursor"], None, deed.note)
    if len(items) < most:
        await batch.finish(ActionState.UNDONE, None)
    return deed


async def _undo_one(batch: ActionBatch, row: asyncpg.Record, item: asyncpg.Record, lowest: UUID, deed: Deed) -> None:
    before = _before.decode(item["before"])
    if batch.action["action"] == ActionKind.CANCEL:
        await _revive(batch, row, before, lowest, deed)
    elif state_of(row) in PENDING and row["version"] == item["version"]:
        change = PendingChange(
            row["id"], row["version"], row["tenant_id"], row["lane_id"], row["rank"],
            before.lane_id, before.rank, before.run_at, before.priority, before.params, before.options,
        )  # fmt: skip
        ready = await batch.change(change)
        if ready is not None:
            deed.undone += 1
            deed.changed(change, ready=ready)


async def _revive(batch: ActionBatch, row: asyncpg.Record, before: Before, lowest: UUID, deed: Deed) -> None:
    """Only what this action cancelled: its number stands in the reason.

    Those who live when a day is dropped are listed a moment before: nobody may come back to life by then.
    """
    if state_of(row) is not State.CANCELLED or str(batch.action["id"]) not in (row["error"] or ""):
        return
    if row["id"] < lowest and not await batch.outlived(row["id"]):
        deed.failed += 1
        deed.note = f"job {row['id']}: it is about to be removed by retention: clone it instead"
        return
    ready = await batch.revive(row, before.run_at)
    if ready is not None:
        deed.undone += 1
        deed.revived(row["lane_id"], row["rank"], before.run_at, ready=ready)
