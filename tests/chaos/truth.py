"""What the database says when everything is quiet again: read from the present primary, into plain values."""

import json
import re
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg

from horae.engine.planning import job_id_of
from horae.model.durations import parse_duration
from horae.store.safety import Connection

from . import trail
from .case import UNASKED, ActionRow, AttemptRow, Case, JobRow, OutcomeRow, ScheduleRow, TickRow, WorkerRow

JOBS = """
select j.id::text, t.name as tenant, l.task, l.concurrency_key as key, j.params, j.options
from job j join lane l on l.id = j.lane_id join tenant t on t.id = j.tenant_id
"""
OUTCOMES = """
select id::text, state::text, attempt, ending::text, result, blob is not null as elsewhere from outcome
"""
LEFT = """
select 'timer' as place, id::text from timer union all select 'ready', id::text from ready
union all select 'lease', id::text from lease union all select 'blocked', id::text from blocked
"""
SCHEDULES = """
select s.id, s.name, s.cursor_at, s.made_at, s.definition, clock_timestamp() as now,
    (select min(at) from tick t where t.schedule_id = s.id) as first_at
from schedule s
"""
TICKS = """
select s.name, t.at, t.state, t.reason, t.count, t.job_id::text
from tick t join schedule s on s.id = t.schedule_id where t.origin = 'rule'
"""
WORKERS = """
select id, pid, state, extract(epoch from clock_timestamp() - joined_at)::float8 as age from worker order by id
"""
AHEAD = timedelta(minutes=2)
"""No job of a tick is made longer before its time."""
LOOKS = 5
REFUSED = "stale_completions"
COUNT = re.compile(r"\bcount\W+(\d+)")


@asynccontextmanager
async def connected(dsn: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(dsn, server_settings={"search_path": "horae"})
    try:
        yield connection
    finally:
        await connection.close()


async def read_truth(dsn: str, case: Case) -> None:
    """Fills in what the database knows."""
    async with connected(dsn) as connection, connection.transaction(isolation="repeatable_read"):
        case.jobs = {row["id"]: _job(row) for row in await connection.fetch(JOBS)}
        case.outcomes = [_outcome(row) for row in await connection.fetch(OUTCOMES)]
        rows = await connection.fetch("select id::text, attempt, ending::text from attempt")
        case.attempts = [AttemptRow(*row) for row in rows]
        left = defaultdict(list)
        for row in await connection.fetch(LEFT):
            left[row["id"]].append(row["place"])
        case.left = dict(left)
        schedules = await connection.fetch(SCHEDULES)
        case.schedules = [_schedule(row) for row in schedules]
        case.of_ticks = frozenset(job for row in schedules for job in _jobs_of(row))
        rows = await connection.fetch("select id::text, state, finished_at from bulk_action")
        case.actions = {row["id"]: ActionRow(row["state"], row["finished_at"]) for row in rows}
        case.ticks = [TickRow(*row) for row in await connection.fetch(TICKS)]
        case.keys = {
            row["key"]: row["id"] for row in await connection.fetch("select key, job_id::text as id from idempotency")
        }
        case.workers = [
            WorkerRow(row["id"], row["pid"], row["state"], time.monotonic() - row["age"])
            for row in await connection.fetch(WORKERS)
        ]
        case.ahead = await ahead(connection)
        case.slots = await connection.fetchval("select count(*) from slot")
        case.steps = await trail.read(connection)


async def ahead(connection: Connection) -> float:
    """Seconds by which the database's clock is ahead of ours that nobody sets. Of several looks the largest is that
    whose answer was quickest on its way."""
    asked = "select extract(epoch from clock_timestamp())::float8"
    return max([await connection.fetchval(asked) - time.monotonic() for _ in range(LOOKS)])


async def now(connection: Connection) -> datetime:
    return await connection.fetchval("select clock_timestamp()")


async def cursors(connection: Connection) -> dict[str, datetime]:
    """Of schedules that tick: one that is paused is silent by right."""
    return dict(await connection.fetch("select name, cursor_at from schedule where paused_at is null"))


def _job(row: asyncpg.Record) -> JobRow:
    params = json.loads(row["params"])
    options: dict[str, Any] = json.loads(row["options"] or "{}")
    schedule = (options.get("labels") or {}).get("schedule")
    tick = datetime.fromisoformat(params["tick"]) if schedule else None
    ref = f"{UNASKED} {schedule} {tick}" if schedule else params["ref"]
    most = options.get("max_attempts") or 5
    return JobRow(row["id"], row["tenant"], row["task"], row["key"], ref, most, schedule, tick)


def _outcome(row: asyncpg.Record) -> OutcomeRow:
    return OutcomeRow(
        row["id"],
        row["state"],
        row["attempt"],
        row["ending"],
        origin(row["result"]),
        bool(row["result"]) or row["elsewhere"],
    )


def origin(result: str | None) -> tuple[str, int] | None:
    """The job and attempt that a result says it comes from; None where there is none, or it lies elsewhere."""
    said = json.loads(result) if result else None
    return (said["job"], said["attempt"]) if isinstance(said, dict) and "attempt" in said else None


def _schedule(row: asyncpg.Record) -> ScheduleRow:
    overlap = json.loads(row["definition"]).get("overlap", "allow")
    return ScheduleRow(
        row["name"], row["first_at"], row["cursor_at"], _every(row).total_seconds(), row["made_at"], overlap
    )


def _every(row: asyncpg.Record) -> timedelta:
    return parse_duration(json.loads(row["definition"])["rules"][0]["every"])


def _jobs_of(row: asyncpg.Record) -> Iterator[str]:
    """What the ticks of a schedule make, from its first one to the last that can have been made ahead. To pause it sets
    its cursor back to before those that have not started."""
    if row["first_at"] is not None:
        every = _every(row)
        ticks = range((row["now"] + AHEAD - row["first_at"]) // every + 1)
        yield from (str(job_id_of(row["id"], row["first_at"] + n * every)) for n in ticks)


def stale_in(folder: Path) -> int:
    """Completions that servers say they refused. A server that is killed has said so before it answered."""
    lines = (line for path in folder.rglob("*.log") for line in path.read_text(errors="replace").splitlines())
    return sum(int(count) for line in lines if REFUSED in line for count in COUNT.findall(line))
