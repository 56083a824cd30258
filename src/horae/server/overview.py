"""How things stand, and what happens: what the console's pages live on."""

from collections.abc import AsyncIterator
from uuid import UUID

import asyncpg

from horae.engine import overview
from horae.engine.flows import Flow
from horae.engine.limits import LimitView
from horae.engine.pulses import Pulse as Heard
from horae.model.delays import percentile
from horae.release import own_version
from horae.server.calls import Call, EventStream, Reply, event
from horae.server.views import error_view
from horae.wire.console import Delay, FailureGroup, Hello, NextTick, OldestWaiting, Overview, Pulse, Series, WorkerLoad

MESSAGE_CHARACTERS = 500


async def get(call: Call) -> Reply:
    name = call.query.get("tenant")
    tenant_id = await call.engine.access.tenant_filter(call.caller, name)
    wanted = call.query.get("range", overview.DEFAULT_RANGE)
    found = await call.engine.overviews.get(call.caller, (tenant_id, name), wanted)
    return Reply(_view(found), headers=[(b"cache-control", b"no-store")])


async def events(call: Call) -> EventStream:
    tenant_id = await call.engine.access.tenant_filter(call.caller, call.query.get("tenant"))
    return EventStream(call, _events(call, tenant_id))


async def _events(call: Call, tenant_id: int | None) -> AsyncIterator[bytes | None]:
    clock = call.engine.clock
    with call.engine.pulses.listening(tenant_id) as listener:
        yield event("hello", Hello(clock.now(), own_version()))
        async for heard in listener.pulses(EventStream.KEEP_ALIVE_SECONDS):
            yield None if heard is None else event("pulse", _pulse(call, heard))


def _pulse(call: Call, heard: Heard) -> Pulse:
    submitted, started, succeeded, failed, cancelled, other, retried = heard.counts
    return Pulse(
        at=call.engine.clock.now(),
        seconds=round(heard.age, 3),
        submitted=submitted,
        started=started,
        succeeded=succeeded,
        failed=failed,
        cancelled=cancelled,
        other=other,
        retried=retried,
        jobs=[UUID(job_id) for job_id in heard.jobs],
        more=heard.more,
        policy=heard.policy,
    )


def _view(found: overview.Overview) -> Overview:
    depth = found.depth
    return Overview(
        at=found.at,
        range=found.range,
        step=found.step,
        pending=depth.scheduled + depth.blocked + depth.ready,
        scheduled=depth.scheduled,
        blocked=depth.blocked,
        ready=depth.ready,
        running=depth.running,
        series=_series(found),
        wait=Delay(percentile(found.total.waits, 0.5), percentile(found.total.waits, 0.99)),
        oldest=None if found.oldest is None else _oldest(found.oldest),
        workers=[_worker(row) for row in found.workers],
        workers_total=found.workers[0]["total"] if found.workers else 0,
        ticks=[NextTick(**dict(row)) for row in found.ticks],
        failures=[_failure(row) for row in found.failures],
        gates=found.gates,
        limits=len(found.limits),
        limits_full=sum(1 for limit in found.limits if _full(limit)),
    )


def _series(found: overview.Overview) -> Series:
    flows = [flow for _, flow in found.steps]
    return Series(
        at=[at for at, _ in found.steps],
        submitted=[flow.submitted for flow in flows],
        started=[flow.started for flow in flows],
        succeeded=[flow.succeeded for flow in flows],
        failed=[flow.failed for flow in flows],
        cancelled=[flow.cancelled for flow in flows],
        other=[flow.other for flow in flows],
        retried=[flow.retried for flow in flows],
        wait_p50=[percentile(flow.waits, 0.5) for flow in flows],
        wait_p99=[percentile(flow.waits, 0.99) for flow in flows],
        run_mean=[_mean(flow) for flow in flows],
    )


def _mean(flow: Flow) -> float | None:
    return flow.run_seconds / flow.runs if flow.runs else None


def _oldest(row: asyncpg.Record) -> OldestWaiting:
    return OldestWaiting(id=row["id"], tenant=row["tenant"], task=row["task"], queue=row["queue"], due_at=row["run_at"])


def _worker(row: asyncpg.Record) -> WorkerLoad:
    return WorkerLoad(**{name: row[name] for name in WorkerLoad.__struct_fields__})


def _failure(row: asyncpg.Record) -> FailureGroup:
    error = error_view(row["error"])
    said = "" if error is None else f"{error.kind}: {error.message}"
    return FailureGroup(
        cause=row["cause"],
        tenant=row["tenant"],
        task=row["task"],
        queue=row["queue"],
        jobs=row["jobs"],
        last_at=row["last_at"],
        example=row["example"],
        message=said[:MESSAGE_CHARACTERS],
    )


def _full(limit: LimitView) -> bool:
    most, groups = limit.rule.max_running, limit.groups or 0
    return most is not None and groups > 0 and (limit.running or 0) >= most * groups
