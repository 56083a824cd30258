"""Moves of jobs inside a transaction that does more than the one move: storing, putting back, ending what somebody had
cancelled, and beside it what only some jobs have: expiry, and the promise of a service level."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

import msgspec

from horae.model.errors import WrongState
from horae.model.job import expires_of, promise_of, read_options
from horae.model.promise import at_risk_from
from horae.model.work import JobError
from horae.store.database import Rows, Transaction, columns

if TYPE_CHECKING:
    from horae.store.jobs import NewJob, PendingChange
    from horae.store.schedules import TickJob


class PromiseRow(NamedTuple):
    """One row of `promise_put`, in the order of its parameters."""

    due_at: datetime
    look_at: datetime
    id: str | UUID
    tenant_id: int
    level_id: int


def expiries(jobs: "Sequence[NewJob]") -> list[tuple[datetime, str, int]]:
    """The rows of `expiry` that belong to new jobs; most have none."""
    found = ((expires_of(job.options), job) for job in jobs if job.options is not None)
    return [(at, job.id, job.tenant_id) for at, job in found if at is not None]


def promises(jobs: "Sequence[NewJob | TickJob]") -> list[PromiseRow]:
    """The rows of `promise` that belong to new jobs; those under no service level have none."""
    found = (promise_row(job.tenant_id, job.id, job.options) for job in jobs if job.options is not None)
    return [row for row in found if row is not None]


def promise_row(tenant_id: int, job_id: str | UUID, options: str | None) -> PromiseRow | None:
    made = promise_of(options)
    if made is None or made.start_by is None or made.within is None:
        return None
    return PromiseRow(made.start_by, at_risk_from(made.start_by, made.within), job_id, tenant_id, made.level_id)


class Overtaken(NamedTuple):
    """A job that was cancelled on its way back to pending."""

    lane_id: int
    id: str
    attempt: int
    error: str


class Moved(NamedTuple):
    """What went back to pending, and what of it has ended at once because somebody had cancelled it."""

    rows: Rows
    overtaken: list[Overtaken]


async def end_overtaken(tx: Transaction, worker_id: int, moved: Rows) -> list[Overtaken]:
    """Carries out cancels that were accepted between the look at an attempt and its move just now.

    Whoever asked was told that the job will be stopped, and its worker will not do it any more. A cancel locks the
    lease: either it was there before the move and is seen now, or it finds no lease and cancels what is pending.
    What has not moved now is left alone: after a lost answer it may have been cancelled already, and retried since.
    """
    ended: list[Overtaken] = []
    if not moved:
        return ended
    fences = [(row["id"], row["attempt"]) for row in moved]
    for row in await tx.fetch("cancel_overtaken", worker_id, *columns(fences)):
        error = msgspec.json.encode(JobError("cancelled", row["reason"] or "cancelled")).decode()
        place = (row["tenant_id"], row["lane_id"], row["id"], row["rank"])
        if await tx.fetch("job_cancel_pending", *place, error):
            ended.append(Overtaken(row["lane_id"], str(row["id"]), row["attempt"], error))
    return ended


async def submit_in(tx: Transaction, jobs: "Sequence[NewJob]") -> None:
    """Stores all of them, with their expiry and their promises."""
    await tx.fetch("job_submit", *columns(jobs))
    if expiring := expiries(jobs):
        await tx.fetch("expiry_put", *columns(expiring))
    if promised := promises(jobs):
        await tx.fetch("promise_put", *columns(promised))


async def put_back(tx: Transaction, change: "PendingChange", attempt: int) -> bool:
    """Puts a job that was taken out to its new place, as changed. Returns whether it is ready now."""
    body = (change.rank, change.run_at, change.lane_id, change.priority, change.params, change.options)
    if not await tx.fetch("job_change_body", change.tenant_id, change.id, *body, change.version):
        raise WrongState(f"job {change.id} was changed by somebody else at the same time; look and try again")
    await put_expiry(tx, change.tenant_id, change.id, change.options)
    await put_promise(tx, change, attempt)
    put = await tx.fetchrow("pending_put", change.lane_id, change.id, change.rank, attempt, change.run_at)
    return bool(put and put["now"])


async def put_expiry(tx: Transaction, tenant_id: int, job_id: UUID, options: str | None) -> None:
    expires = expires_of(options)
    if expires is not None:
        await tx.fetch("expiry_put", [expires], [job_id], [tenant_id])


async def put_promise(tx: Transaction, change: "PendingChange", attempt: int) -> None:
    """A job that may be due at another time now. One that has started already was judged, or will be, by its start."""
    row = promise_row(change.tenant_id, change.id, change.options)
    if row is not None:
        anew = attempt == (read_options(change.options).forgiven or 0)
        await (tx.fetch("promise_put", *columns([row])) if anew else tx.fetch("promise_move", *row[:4]))
