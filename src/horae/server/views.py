"""Rows of the store as records of the wire."""

from datetime import timedelta
from typing import TypeVar

import asyncpg
import msgspec

from horae.engine.access import KeyView, TenantView
from horae.engine.rows import options_of, state_of
from horae.engine.tasks import TaskView
from horae.model.durations import format_duration
from horae.model.ids import created_at
from horae.model.placement import ANYWHERE, Requirements, Traits, read_placement
from horae.model.retry import DEFAULT_MAX_ATTEMPTS
from horae.model.states import End, State
from horae.model.work import JobError
from horae.wire.access import Key, Task, Tenant
from horae.wire.files import Partial
from horae.wire.jobs import Execution, Job, LogLine, ProgressView
from horae.wire.workers import Worker

_error = msgspec.json.Decoder(JobError)
OVERLOADED = 0.95
W = TypeVar("W", Requirements, Traits)


def error_view(text: str | None) -> JobError | None:
    return None if text is None else _error.decode(text)


def job_view(row: asyncpg.Record) -> Job:
    options = options_of(row)
    state = state_of(row)
    place = read_placement(row["requires"])
    return Job(
        id=row["id"],
        task=row["task"],
        state=state,
        queue=row["queue"],
        tenant=row["tenant"],
        priority=row["priority"],
        params=msgspec.Raw(row["params"].encode()),
        run_at=row["timer_at"] or row["run_at"],
        created_at=created_at(row["id"]),
        attempt=row["attempt"],
        max_attempts=options.max_attempts or DEFAULT_MAX_ATTEMPTS,
        user=row["key_name"],
        started_at=row["granted_at"] if state is State.RUNNING else row["started_at"],
        finished_at=row["finished_at"],
        worker_id=row["worker_id"],
        error=error_view(row["error"]),
        timeout=None if options.timeout is None else format_duration(timedelta(seconds=options.timeout)),
        deadline=options.deadline,
        expires=options.expires,
        unique=options.unique,
        service_level=None if options.promise is None else options.promise.level,
        start_by=None if options.promise is None else options.promise.start_by,
        retry=options.retry,
        concurrency_key=row["concurrency_key"] or None,
        requires=said(place.requires, ANYWHERE.requires),
        prefers=said(place.prefers, ANYWHERE.prefers),
        avoids=said(place.avoids, ANYWHERE.avoids),
        sticky=options.sticky,
        spread=place.spread,
        labels=options.labels,
        progress=progress_view(row),
        cancel_requested=row["cancel_requested"],
        cloned_from=options.cloned_from,
    )


def said(wish: W, nothing: W) -> W | None:
    return None if wish == nothing else wish


def progress_view(row: asyncpg.Record) -> ProgressView | None:
    if row["done"] is None:
        return None
    return ProgressView(row["done"], row["total"], row["note"], row["progress_at"])


def execution_view(row: asyncpg.Record) -> Execution:
    values = dict(row)
    return Execution(
        job_id=values["id"],
        attempt=values["attempt"],
        worker_id=values["worker_id"],
        started_at=values["started_at"],
        ended_at=values.get("ended_at"),
        end=End(values["ending"]) if values.get("ending") else None,
        error=error_view(values.get("error")),
        cpu=values.get("cpu"),
        peak_memory=values.get("peak_memory"),
        isolation=values.get("isolation"),
        task_version=values.get("task_version"),
        read_bytes=values.get("read_bytes"),
        written_bytes=values.get("written_bytes"),
        task=values.get("task"),
    )


def log_view(row: asyncpg.Record) -> LogLine:
    return LogLine(row["attempt"], row["seq"], row["stream"], row["at"], row["text"])


def partial_view(row: asyncpg.Record) -> Partial:
    return Partial(row["attempt"], row["seq"], row["at"], msgspec.Raw(row["text"].encode()))


def worker_view(row: asyncpg.Record) -> Worker:
    return Worker(
        id=row["id"],
        name=row["name"],
        host=row["host"],
        state=row["state"],
        health=_health(row),
        tenant=row["tenant"],
        slots=row["slots"],
        running=row["running"],
        tasks=list(row["tasks"]),
        queues=None if row["queues"] is None else list(row["queues"]),
        labels=msgspec.json.decode(row["labels"]),
        version=row["version"],
        joined_at=row["joined_at"],
        seen_at=row["seen_at"],
        cpus=row["cpus"],
        memory=row["memory"],
        cpu_load=row["cpu_load"],
        memory_load=row["memory_load"],
        region=row["region"],
        zone=row["zone"],
        kind=row["kind"],
        gpus=row["gpus"],
        disk=row["disk"],
        kinds=list(row["kinds"]),
        steered_by=row["steered_by"],
        steer_reason=row["steer_reason"],
        steer_until=row["steer_until"],
        probation=row["probation"],
    )


def _health(row: asyncpg.Record) -> str:
    if row["state"] in {"left", "lost"} or row["expires_at"] <= row["now"]:
        return "gone"
    lease = row["expires_at"] - row["seen_at"]
    if row["now"] - row["seen_at"] > lease / 2:
        return "degraded"
    if max(row["cpu_load"] or 0, row["memory_load"] or 0) > OVERLOADED:
        return "overloaded"
    return "healthy"


def key_view(key: KeyView) -> Key:
    return msgspec.convert(key, Key, from_attributes=True)


def tenant_view(tenant: TenantView) -> Tenant:
    return msgspec.convert(tenant, Tenant, from_attributes=True)


def task_view(task: TaskView) -> Task:
    return Task(
        tenant=task.tenant,
        definition=task.definition,
        updated_at=task.updated_at,
        kind=task.kind,
        version=task.version,
        with_secrets=task.with_secrets,
        cut=task.cut,
    )
