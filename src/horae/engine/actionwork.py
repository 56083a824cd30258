"""The work on bulk actions: one batch after the other, each one transaction.

A batch locks the action's row, finds the next jobs older than its cursor, locks them, acts, and saves counts and cursor
with the deeds. So two servers never work on one action at once, a crash loses nothing but a batch that never was, and
no job is acted on twice. Jobs that are run again at a rate get the instants of that rate as their time: nothing
stampedes, however late or quickly the batches come.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import asyncpg
import msgspec
import structlog

from horae import failpoints
from horae.engine.actions import UNDO_SECONDS
from horae.engine.clock import Clock
from horae.engine.deed import Deed
from horae.engine.lists import JobFilter, Lists
from horae.engine.rows import error_text, state_of
from horae.engine.steer import CLOCK_SLACK, RETRY_MARGIN, Steer
from horae.engine.undoing import Before, marker, undo
from horae.model.actions import AGAIN, APPLIES, UNDOABLE, ActionKind, ActionState, slots
from horae.model.errors import HoraeError
from horae.model.ids import lowest_id
from horae.model.job import JobRequest
from horae.model.states import State
from horae.model.work import JobError
from horae.store.actions import ActionBatch, Actions
from horae.store.jobs import PendingChange

log = structlog.get_logger()

BATCH: Final = 200
HORIZON: Final = timedelta(seconds=2)
"""How far ahead jobs are given their instants: an action that is cancelled still starts what fell into this time."""
PAUSE_SECONDS: Final = 10.0
"""Before the database is asked again for a batch that it could not carry out."""
_encoder = msgspec.json.Encoder()
_filter = msgspec.json.Decoder(JobFilter)


class ActionWork:
    def __init__(self, store: Actions, lists: Lists, steer: Steer, clock: Clock, retention: timedelta) -> None:
        self._store = store
        self._lists = lists
        self._steer = steer
        self._clock = clock
        self._retention = retention

    async def step(self) -> Deed | None:
        """One batch of the action that has waited longest; None when there is nothing to do now."""
        taken: list[UUID] = []

        async def work(batch: ActionBatch) -> Deed:
            taken.append(batch.action["id"])
            undoing = batch.action["state"] == ActionState.UNDOING
            return await (undo(batch, BATCH, self._lowest()) if undoing else self._go_on(batch))

        try:
            return await self._store.batch(self._clock.now() + HORIZON, work)
        except Exception as error:
            if not taken:
                raise
            await self._put_aside(taken[-1], error)
            return Deed()

    def _lowest(self) -> UUID:
        """Of the jobs that retention leaves alone for now."""
        return lowest_id(self._clock.now() - self._retention + RETRY_MARGIN)

    async def _put_aside(self, action_id: UUID, error: Exception) -> None:
        """What failed once would fail again, and this action must not keep the others from their turn."""
        if passes(error):
            log.warning("action_held_up", action=str(action_id), error=repr(error))
            await self._store.action_put_off(action_id, PAUSE_SECONDS)
        else:
            log.warning("action_failed", action=str(action_id), error=repr(error))
            told = "the database refused a batch" if isinstance(error, asyncpg.PostgresError) else "a batch failed"
            await self._store.action_fail(action_id, f"{told}: {error}"[:500])

    async def _go_on(self, batch: ActionBatch) -> Deed:
        action, deed = batch.action, Deed()
        kind, instants = ActionKind(action["action"]), self._instants(action)
        page = await self._lists.jobs(
            [action["tenant_id"]], _filter.decode(action["filter"]), action["cursor"], len(instants)
        )
        rows = await batch.lock_jobs([row["id"] for row in page.rows])
        if kind is ActionKind.DISCARD:
            await self._discard(batch, rows, deed)
        else:
            for row, instant in zip(rows, instants, strict=False):
                await self._act(batch, kind, row, instant, deed)
        if kind in UNDOABLE and deed.items:
            await batch.keep(deed.items)
        cursor = page.cursor or action["cursor"]
        await batch.save(deed.counts(len(rows)), cursor, _paced(action, instants, len(rows)), deed.note)
        if page.cursor is None:
            await batch.finish(ActionState.DONE, UNDO_SECONDS if kind in UNDOABLE else None)
        failpoints.reach("action.before_commit")
        return deed

    def _instants(self, action: asyncpg.Record) -> list[datetime]:
        """One for each job that may be acted on now."""
        now = self._clock.now()
        if action["rate"] is None:
            return [now - CLOCK_SLACK] * BATCH
        return slots(action["paced_until"], now, action["rate"], HORIZON, BATCH)

    async def _act(
        self, batch: ActionBatch, kind: ActionKind, row: asyncpg.Record, instant: datetime, deed: Deed
    ) -> None:
        if state_of(row) not in APPLIES[kind]:
            deed.skipped += 1
        elif kind is ActionKind.CANCEL:
            await self._cancel(batch, row, deed)
        else:
            await self._change(batch, row, instant if kind in AGAIN else None, deed)

    async def _cancel(self, batch: ActionBatch, row: asyncpg.Record, deed: Deed) -> None:
        action = batch.action
        reason = f"{action['reason'] or 'cancelled by ' + action['made_by']} (action {action['id']})"
        if state_of(row) is State.RUNNING:
            worker = await batch.cancel_running(row, reason, action["made_by"])
            deed.asked(worker)
            return
        error = error_text(JobError("cancelled", reason)) or ""
        if await batch.cancel(row, error):
            deed.cancelled(row, error, _encoder.encode(Before(run_at=row["timer_at"] or row["run_at"])).decode())
        else:
            deed.skipped += 1

    async def _change(self, batch: ActionBatch, row: asyncpg.Record, again_at: datetime | None, deed: Deed) -> None:
        """What is wrong with a job is found before anything of it is touched."""
        changes = read_changes(batch.action["changes"])
        try:
            if again_at is None:
                change = await self._steer.changed(row, changes)
            else:
                timed = {"run_at", "delay"} & changes.keys()
                change = await self._steer.again(row, changes if timed else changes | {"run_at": again_at})
        except HoraeError as error:
            if passes(error):
                raise
            deed.failed += 1
            deed.note = f"job {row['id']}: {error.detail}"[:500]
            return
        if again_at is None:
            await self._put(batch, row, change, deed)
        elif (ready := await batch.retry(change)) is not None:
            deed.done += 1
            deed.revived(change.lane_id, change.rank, change.run_at, ready=ready)
        else:
            deed.skipped += 1

    async def _put(self, batch: ActionBatch, row: asyncpg.Record, change: PendingChange, deed: Deed) -> None:
        ready = await batch.change(change)
        if ready is None:
            deed.skipped += 1
            return
        deed.done += 1
        deed.items.append((row["id"], _before(row)))
        deed.changed(change, ready=ready)

    async def _discard(self, batch: ActionBatch, rows: Sequence[asyncpg.Record], deed: Deed) -> None:
        gone = await batch.discard([row["id"] for row in rows], marker(batch.action))
        deed.done += len(gone)
        deed.skipped += len(rows) - len(gone)
        deed.items += [(job_id, None) for job_id in gone]


def passes(error: Exception) -> bool:
    """Whether the same batch may work another time."""
    return isinstance(error, HoraeError) and error.status >= 500


def read_changes(text: str | None) -> dict[str, Any]:
    """Changes as they were stored, each of its own type."""
    if text is None:
        return {}
    given = msgspec.json.decode(text)
    request = msgspec.convert({"task": "any", **given}, JobRequest)
    return {name: getattr(request, name) for name in given}


def _paced(action: asyncpg.Record, instants: Sequence[datetime], used: int) -> datetime | None:
    paced: datetime | None = action["paced_until"]
    if action["rate"] is not None and used:
        paced = instants[used - 1] + timedelta(seconds=1) / action["rate"]
    return paced


def _before(row: asyncpg.Record) -> str:
    before = Before(
        run_at=row["timer_at"] or row["run_at"],
        lane_id=row["lane_id"],
        rank=row["rank"],
        priority=row["priority"],
        params=row["params"],
        options=row["options"],
    )
    return _encoder.encode(before).decode()
