"""Moves of jobs inside a transaction that does more than the one move: storing, putting back, expiry beside it."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from horae.model.errors import WrongState
from horae.model.job import expires_of
from horae.store.database import Transaction, columns

if TYPE_CHECKING:
    from horae.store.jobs import NewJob, PendingChange


def expiries(jobs: "Sequence[NewJob]") -> list[tuple[datetime, str, int]]:
    """The rows of `expiry` that belong to new jobs; most have none."""
    found = ((expires_of(job.options), job) for job in jobs if job.options is not None)
    return [(at, job.id, job.tenant_id) for at, job in found if at is not None]


async def submit_in(tx: Transaction, jobs: "Sequence[NewJob]") -> None:
    """Stores all of them, with their expiry."""
    await tx.fetch("job_submit", *columns(jobs))
    if expiring := expiries(jobs):
        await tx.fetch("expiry_put", *columns(expiring))


async def put_back(tx: Transaction, change: "PendingChange", attempt: int) -> bool:
    """Puts a job that was taken out to its new place, as changed. Returns whether it is ready now."""
    body = (change.rank, change.run_at, change.lane_id, change.priority, change.params, change.options)
    if not await tx.fetch("job_change_body", change.tenant_id, change.id, *body, change.version):
        raise WrongState(f"job {change.id} was changed by somebody else at the same time; look and try again")
    await put_expiry(tx, change.tenant_id, change.id, change.options)
    put = await tx.fetchrow("pending_put", change.lane_id, change.id, change.rank, attempt, change.run_at)
    return bool(put and put["now"])


async def put_expiry(tx: Transaction, tenant_id: int, job_id: UUID, options: str | None) -> None:
    expires = expires_of(options)
    if expires is not None:
        await tx.fetch("expiry_put", [expires], [job_id], [tenant_id])
