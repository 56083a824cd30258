"""Quotas and queues; and what the RateLimit headers say of a submit under a quota."""

from collections.abc import Iterable

import msgspec

from horae.engine.gauges import Standing
from horae.engine.lineup import Lineup
from horae.engine.queues import MAX_QUEUES, QueueView
from horae.model.errors import HoraeError, QuotaExceeded
from horae.model.job import JobRequest
from horae.server.calls import Call, Reply
from horae.wire.quotas import Queue, QueuePage, Quota, QuotaPage, QuotaPut, WaitingLane, WaitingPage
from horae.wire.tasks import TaskStatistics, TaskStep

Headers = list[tuple[bytes, bytes]]

_quota = msgspec.json.Decoder(QuotaPut)


async def list_quotas(call: Call) -> Reply:
    tenant_id = await call.engine.access.tenant_filter(call.caller, call.query.get("tenant"))
    rows = await call.engine.quotas.list_all(tenant_id)
    return Reply(QuotaPage([msgspec.convert(dict(row), Quota) for row in rows]))


async def put_quota(call: Call) -> Reply:
    scope, name, tenant = call.path["scope"], call.path["name"], call.query.get("tenant")
    asked = call.read(_quota)
    row = await call.engine.quotas.put(
        call.caller, scope, name, tenant, asked.submit_rate, asked.burst, asked.max_pending
    )
    return Reply(msgspec.convert(dict(row), Quota))


async def remove_quota(call: Call) -> Reply:
    await call.engine.quotas.remove(call.caller, call.path["scope"], call.path["name"], call.query.get("tenant"))
    return Reply(status=204)


async def list_queues(call: Call) -> Reply:
    tenant_id = await call.engine.access.tenant_filter(call.caller, call.query.get("tenant"))
    views = await call.engine.queues.list_all(tenant_id)
    return Reply(QueuePage([_queue(view) for view in views], more=len(views) == MAX_QUEUES))


def _queue(view: QueueView) -> Queue:
    queue = msgspec.convert(dict(view.row), Queue)
    if view.oldest is not None:
        queue.oldest_job, queue.oldest_at = view.oldest.job_id, view.oldest.due_at
    return queue


async def queue_statistics(call: Call) -> Reply:
    span = call.engine.statistics.span(call.query_instant("since"), call.query_instant("until"))
    tenant_id = await call.engine.access.tenant_filter(call.caller, call.query.get("tenant"))
    steps = await call.engine.statistics.of_queue(tenant_id, call.path["queue"], span)
    items = [TaskStep(at=at, **msgspec.structs.asdict(figures)) for at, figures in steps]
    return Reply(TaskStatistics(since=span.since, until=span.until, step=span.step, items=items))


async def queue_waiting(call: Call) -> Reply:
    tenant_id = await call.engine.access.tenant_filter(call.caller, call.query.get("tenant"))
    found = await call.engine.queues.waiting(tenant_id, call.path["queue"])
    return Reply(WaitingPage(items=waiting_views(found), more=found.more))


def waiting_views(found: Lineup) -> list[WaitingLane]:
    return [
        WaitingLane(
            tenant=one.head.tenant, queue=one.head.key.queue, task=one.head.key.task,
            key=one.head.key.concurrency_key or None, jobs=one.jobs, more=one.more, job_id=one.head.job_id,
            due_at=one.head.due_at, gate=one.gate, limit=one.limit, no_worker=one.no_worker,
        )
        for one in found.items
    ]  # fmt: skip


def submit_headers(call: Call, requests: Iterable[JobRequest | HoraeError]) -> Headers | None:
    """How much is left after a submit, if a quota concerns it."""
    if not call.engine.admission.active:
        return None
    places = {call.engine.submit.place(call.caller, r) for r in requests if isinstance(r, JobRequest)}
    known = [place for place in places if place is not None]
    return rate_limit_headers(call.engine.admission.standing(call.caller.key_id, known))


def problem_headers(error: HoraeError) -> Headers:
    """The same for a submit that was refused."""
    if not isinstance(error, QuotaExceeded):
        return []
    left = error.extra
    standing = Standing(left["policy"], left["limit"], left["window"], left["remaining"], left["retry_after"])
    return rate_limit_headers([standing]) or []


def rate_limit_headers(standings: list[Standing]) -> Headers | None:
    if not standings:
        return None
    policies = ", ".join(
        f'"{s.policy}";q={s.limit}' + ("" if s.seconds is None else f";w={s.seconds}") for s in standings
    )
    left = ", ".join(f'"{s.policy}";r={s.remaining};t={s.reset}' for s in standings)
    return [(b"ratelimit-policy", policies.encode()), (b"ratelimit", left.encode())]
