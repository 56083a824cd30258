"""Gates in the store: making and releasing them, and moving the jobs they hold or drop."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID, uuid4

import asyncpg

from horae.store.database import Database, Rows, Transaction, columns
from horae.store.moves import Moved, end_overtaken, put_expiry
from horae.store.policy import policy_touch

LOWEST_RANK: Final = -(2**63)


class Scope(NamedTuple):
    """Which lanes a gate concerns; None: any."""

    tenant_id: int | None
    queue: str | None
    task: str | None


class Waiting(StrEnum):
    """Where jobs wait: the statement that looks at them there."""

    READY = "gate_look_ready"
    TIMER = "gate_look_timer"
    BLOCKED = "gate_look_blocked"


class Place(NamedTuple):
    """Where a look goes on."""

    lane_id: int = 0
    rank: int = LOWEST_RANK
    id: UUID = UUID(int=0)


class Restore(NamedTuple):
    """Which of the dropped jobs come back."""

    gate_id: int
    tenant_id: int | None
    queue: str | None
    task: str | None
    ids: list[UUID] | None
    lowest: UUID


class Gates:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def gate_create(self, *values: object) -> int | None:
        """None when there is such a stop or breaker already."""
        request = uuid4()

        async def work(tx: Transaction) -> int | None:
            await policy_touch(tx)
            row = await tx.fetchrow("gate_create", *values, request)
            return None if row is None else int(row["id"])

        return await self._database.atomically(work)

    async def gate_list(
        self, tenant_id: int | None, gate_id: int | None, bound: int, rows: int, *, over: bool, kind: str | None = None
    ) -> Rows:
        return await self._database.fetch("gate_list", tenant_id, gate_id, over, bound, rows, kind)

    async def gate_stops(self, tenant_id: int | None) -> list[int]:
        return [row["id"] for row in await self._database.fetch("gate_stops", tenant_id)]

    async def gate_radius(self, tenant_id: int | None, rows: int) -> Rows:
        return await self._database.fetch("gate_radius", tenant_id, rows)

    async def gate_change(self, *values: object) -> bool:
        return await self._policy_change("gate_change", *values)

    async def gate_stop_again(
        self, gate_id: int, tenant_id: int | None, reason: str, running: str, seconds: float | None
    ) -> bool:
        return await self._policy_change("gate_stop_again", gate_id, tenant_id, reason, running, seconds)

    async def gate_release(self, gate_id: int, tenant_id: int | None, by: str, rate: float | None) -> bool:
        return await self._policy_change("gate_release", gate_id, tenant_id, by, rate)

    async def gate_drain(self, gate_id: int) -> bool:
        return await self._policy_change("gate_drain", gate_id)

    async def gate_expire(self) -> list[int]:
        """Opens the gates whose time is up. Claims are kept waiting only when there are some."""
        due = [row["id"] for row in await self._database.fetch("gate_expired")]
        return due if due and await self._policy_change("gate_expire", due) else []

    async def _policy_change(self, name: str, *values: object) -> bool:
        """Whether there was anything to change."""

        async def work(tx: Transaction) -> bool:
            await policy_touch(tx)
            return bool(await tx.fetch(name, *values))

        return await self._database.atomically(work)

    async def gate_note(self, notes: Sequence[tuple[int, str]]) -> None:
        await self._database.fetch("gate_note", *columns(notes))

    async def gate_look(self, where: Waiting, scope: Scope, after: Place, rows: int, *, params: bool) -> Rows:
        """The next jobs that wait there, with what a condition looks at, if there is one."""
        return await self._database.fetch(where.value, *scope, *after, rows, params)

    async def gate_look_running(self, gate_id: int, scope: Scope, after: Place, rows: int, *, params: bool) -> Rows:
        """The jobs that ran before the gate was closed and were not asked to stop yet."""
        place = (after.lane_id, gate_id, after.id)
        return await self._database.fetch("gate_look_running", *scope, *place, rows, params)

    async def gate_block(self, gate_id: int, jobs: Sequence[tuple[int, int, UUID]]) -> int:
        """`jobs` are (lane, rank, id). Returns how many were moved."""
        return len(await self._database.fetch("gate_block", gate_id, *columns(jobs)))

    async def gate_drop_pending(self, gate_id: int, jobs: Sequence[tuple[int, int, UUID, int]], error: str) -> Rows:
        """`jobs` are (lane, rank, id, tenant)."""
        return await self._database.fetch("gate_drop_pending", gate_id, *columns(jobs), error)

    async def gate_block_leased(self, worker_id: int, jobs: Sequence[tuple[int, str, int, int, int, int]]) -> Moved:
        """`jobs` are (lane, id, attempt, tenant, rank, gate)."""

        async def work(tx: Transaction) -> Moved:
            blocked = await tx.fetch("gate_block_leased", worker_id, *columns(jobs))
            return Moved(blocked, await end_overtaken(tx, worker_id, blocked))

        return await self._database.atomically(work, hot=True)

    async def gate_drop_leased(self, worker_id: int, jobs: Sequence[tuple[object, ...]]) -> Rows:
        """`jobs` are (lane, id, attempt, tenant, gate, error)."""
        return await self._database.fetch("gate_drop_leased", worker_id, *columns(jobs), hot=True)

    async def gate_backlogs(self) -> Rows:
        return await self._database.fetch("gate_backlogs")

    async def gate_unblock(self, gate_id: int, rows: int) -> Rows:
        return await self._database.fetch("gate_unblock", gate_id, rows)

    async def gate_unblock_slowly(self, gate_id: int, seconds: float) -> tuple[int, datetime | None]:
        """How many jobs got their turn, and when the first of them is due."""
        row = await self._database.fetchrow("gate_unblock_slowly", gate_id, seconds)
        return (0, None) if row is None else (row["moved"], row["run_at"])

    async def gate_left(self, scope: Scope, lowest: UUID, behind: int, lanes: int) -> list[int]:
        """Lanes that still have jobs of a gate's backlog."""
        rows = await self._database.fetch("gate_left", *scope, lowest, behind, lanes)
        return [row["lane_id"] for row in rows]

    async def gate_is_drained(self, gate_id: int, scope: Scope, lowest: UUID, rank: int, *, whole: bool) -> bool:
        row = await self._database.fetchrow("gate_is_drained", gate_id, *scope, whole, lowest, rank)
        return bool(row and row["drained"])

    async def gate_restore(self, which: Restore, rows: int) -> Rows:
        """The next of the dropped jobs, each with whether it was brought back."""

        async def work(tx: Transaction) -> Rows:
            found = await tx.fetch("gate_restore", *which, rows)
            for row in found:
                if row["restored"]:
                    await put_expiry(tx, row["tenant_id"], row["id"], row["options"])
            return found

        return await self._database.atomically(work)

    async def gate_cancel_running(self, jobs: Sequence[tuple[int, UUID]], reason: str, by: str) -> set[int]:
        """Returns the workers that were asked."""
        rows = await self._database.fetch("gate_cancel_running", *columns(jobs), reason, by)
        return {row["worker_id"] for row in rows}

    async def gate_move_running(self, jobs: Sequence[tuple[int, UUID]], reason: str, by: str) -> set[int]:
        """Returns the workers that were asked."""
        rows = await self._database.fetch("gate_move_running", *columns(jobs), reason, by)
        return {row["worker_id"] for row in rows}

    async def gate_forget(self, dropped_seconds: float, over_seconds: float, rows: int) -> int:
        return len(await self._database.fetch("gate_forget", dropped_seconds, over_seconds, rows))


def place_of(row: asyncpg.Record) -> Place:
    return Place(row["lane_id"], row["rank"], row["id"])
