"""Jobs that keep others like them away, and jobs that must start in time.

A submit with a key runs in one transaction under a lock of that key: what it finds there is still so when it stores.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar
from uuid import UUID

import asyncpg

from horae.model.errors import OutcomeUnknown, StoreUnavailable
from horae.store.database import AMBIGUOUS, Database, NotConnected, Rows, Transaction, columns
from horae.store.jobs import NewJob, PendingChange
from horae.store.moves import put_back, submit_in

T = TypeVar("T")


class KeyPlace(NamedTuple):
    tenant_id: int = -1
    hash: bytes = b""
    job_id: UUID = UUID(int=0)


class Once(NamedTuple):
    """An idempotency key, and what was sent under it."""

    key: str
    fingerprint: bytes


class KeyedJob(NamedTuple):
    """A new job and the key that keeps others like it away."""

    job: NewJob
    hash: bytes
    during: str
    until: datetime | None


class KeyLocked:
    """What can be done while a key is locked; made by `Uniques.locked`."""

    def __init__(self, tx: Transaction, keyed: KeyedJob) -> None:
        self._tx = tx
        self._keyed = keyed

    async def holder(self) -> asyncpg.Record | None:
        """The job that keeps others away, or the new one itself, if our answer about it got lost."""
        job = self._keyed.job
        return await self._tx.fetchrow("unique_holder", job.tenant_id, self._keyed.hash, job.id)

    async def store(self) -> None:
        job, key, during, until = self._keyed
        await submit_in(self._tx, [job])
        await self._tx.fetch("unique_add", job.tenant_id, key, job.id, during, until)

    async def cancel(self, holder: asyncpg.Record, error: str) -> bool:
        """False when it has started meanwhile."""
        place = (holder["tenant_id"], holder["lane_id"], holder["id"], holder["rank"])
        return bool(await self._tx.fetch("job_cancel_pending", *place, error))

    async def change(self, change: PendingChange) -> bool | None:
        """Whether the job is ready now; None when it has started meanwhile."""
        taken = await self._tx.fetchrow("pending_take", change.old_lane_id, change.id, change.old_rank)
        return None if taken is None else await put_back(self._tx, change, taken["attempt"])

    async def idempotency_find(self, key: str) -> asyncpg.Record | None:
        return await self._tx.fetchrow("idempotency_find", [self._keyed.job.tenant_id], [key])

    async def idempotency_put(self, once: Once, job_id: str) -> None:
        """When another submit under the same key was quicker, all is undone and tried again: it is found then."""
        if not await self._tx.fetch("idempotency_put", self._keyed.job.tenant_id, *once, job_id):
            raise asyncpg.SerializationError(f"another submit under the idempotency key {once.key!r} was quicker")


class Uniques:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def locked(self, keyed: KeyedJob, work: Callable[[KeyLocked], Awaitable[T]]) -> T:
        """Runs `work` while nobody else, on any server, looks at or changes who holds the key."""

        async def run(tx: Transaction) -> T:
            await tx.fetch("unique_lock", int.from_bytes(keyed.hash[:4], "big", signed=True) ^ keyed.job.tenant_id)
            return await work(KeyLocked(tx, keyed))

        return await self._certainly(lambda: self._database.atomically_once(run))

    async def _certainly(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Tries again, which is safe: a job that was stored finds itself. Says so if the end stays unknown."""
        lost = False

        async def once() -> T:
            nonlocal lost
            try:
                return await attempt()
            except NotConnected:
                raise
            except AMBIGUOUS:
                lost = True
                raise

        try:
            return await self._database.again(once)
        except StoreUnavailable as error:
            if lost:
                raise OutcomeUnknown("the database went away; whether the job was stored is unknown") from error
            raise

    async def unique_clean(self, after: KeyPlace, rows: int) -> tuple[KeyPlace | None, int]:
        """Looks at the next keys. Returns where to go on (None: that was the last), and how many were forgotten."""
        found = await self._database.fetchrow("unique_clean", *after, rows)
        if found is None:
            return None, 0
        place = KeyPlace(found["tenant_id"], found["hash"], found["job_id"])
        return (place if found["looked"] >= rows else None), found["gone"]


class Expiries:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def expiry_end(self, rows: int, error: str) -> Rows:
        """Those that were ended: lane, id and attempt."""
        return await self._database.fetch("expiry_end", rows, error, hot=True)

    async def expiry_end_leased(self, worker_id: int, rows: Sequence[tuple[int, str, int, int]], error: str) -> Rows:
        """`rows` are (lane, id, attempt, tenant)."""
        return await self._database.fetch("expiry_end_leased", worker_id, *columns(rows), error, hot=True)
