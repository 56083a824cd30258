"""Rows of schedules as records of the wire."""

import asyncpg
import msgspec

from horae.engine.calendars import CalendarView
from horae.engine.planning import definition_of
from horae.model.cron import parse
from horae.model.definition import ScheduleDefinition
from horae.model.durations import format_duration, parse_duration
from horae.model.timing import Rule
from horae.wire.schedules import Backfill, Calendar, Schedule, ScheduleVersion, TickRecord


def schedule_view(row: asyncpg.Record) -> Schedule:
    definition = definition_of(row)
    return Schedule(
        definition=definition,
        tenant=row["tenant"],
        state=_state(row),
        words=words(definition),
        version=row["version"],
        runs=row["runs"],
        next_run_at=None if row["paused_at"] is not None else row["ahead_at"] or row["next_at"],
        paused_at=row["paused_at"],
        tzdata=row["tzdata"],
        made_by=row["made_by"],
        made_at=row["made_at"],
        changed_by=row["changed_by"],
        changed_at=row["changed_at"],
    )


def _state(row: asyncpg.Record) -> str:
    if row["paused_at"] is not None:
        return "paused"
    return "ended" if row["next_at"] is None and row["ahead_at"] is None else "active"


def words(definition: ScheduleDefinition) -> list[str]:
    return [_words(rule, definition) for rule in definition.rules]


def _words(rule: Rule, definition: ScheduleDefinition) -> str:
    if rule.cron is not None:
        return f"{parse(rule.cron, definition.name).describe()}, {definition.tz}"
    return f"every {format_duration(parse_duration(rule.every or 0, 'every'))}"


def version_view(row: asyncpg.Record) -> ScheduleVersion:
    return ScheduleVersion(
        version=row["version"],
        action=row["action"],
        definition=definition_of(row),
        by=row["by"],
        at=row["at"],
        why=row["why"],
    )


def tick_view(row: asyncpg.Record) -> TickRecord:
    running = "running" if row["running"] else "pending"
    return TickRecord(
        at=row["at"],
        run_at=row["run_at"],
        origin=row["origin"],
        state=row["state"],
        job_id=row["job_id"],
        job_state=None if row["job_id"] is None else row["outcome"] or running,
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        reason=row["reason"],
        detail=row["detail"],
        count=row["count"],
    )


def backfill_view(row: asyncpg.Record) -> Backfill:
    names = (field for field in Backfill.__struct_fields__ if field != "ticks")
    return Backfill(**{name: row[name] for name in names})


def calendar_view(view: CalendarView) -> Calendar:
    return msgspec.convert(view, Calendar, from_attributes=True)
