"""Schedules and their ticks as tables."""

from collections.abc import Iterable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from rich.table import Table
from rich.text import Text

from horae.cli.screen import facts, table
from horae.cli.text import absolute, compact, relative, when
from horae.model.ticks import Tick
from horae.wire.schedules import Schedule, TickRecord


def schedule_table(found: Iterable[Schedule]) -> Table:
    now = datetime.now(UTC)
    columns = ("name", "task", "state", "when", "next", "runs", "tenant", "changed")
    return table(columns, (_row(schedule, now) for schedule in found), spare=("changed", "tenant", "runs"))


def _row(schedule: Schedule, now: datetime) -> tuple[str | Text, ...]:
    return (
        schedule.definition.name, schedule.definition.task, _state(schedule), "; ".join(schedule.words),
        relative(schedule.next_run_at, now), str(schedule.runs), schedule.tenant, relative(schedule.changed_at, now),
    )  # fmt: skip


def _state(schedule: Schedule) -> Text:
    return Text(schedule.state, style={"active": "green", "paused": "yellow"}.get(schedule.state, "magenta"))


def schedule_facts(found: Schedule) -> Table:
    now, it = datetime.now(UTC), found.definition
    return facts([
        ("name", it.name),
        ("task", it.task),
        ("state", _state(found)),
        ("description", it.description or ""),
        ("when", "; ".join(found.words)),
        ("next", when(found.next_run_at, now)),
        ("calendars", f"{', '.join(it.calendars)}: {it.on_blocked.value}" if it.calendars else ""),
        ("windows", ", ".join(f"{w.days or 'daily'} {w.start}-{w.end}" for w in it.windows)),
        ("starts", when(it.starts_at, now)),
        ("ends", when(it.ends_at, now)),
        ("jitter", str(it.jitter or "")),
        ("overlap", it.overlap.value),
        ("missed", it.missed.value),
        ("runs", f"{found.runs} of {it.max_runs}" if it.max_runs else str(found.runs)),
        ("params", compact(it.params)),
        ("job", compact(it.job) if it.job else ""),
        ("tenant", found.tenant),
        ("made", when(found.made_at, now) + f" by {found.made_by}"),
        ("changed", when(found.changed_at, now) + f" by {found.changed_by}, version {found.version}"),
        ("zones", f"tzdata {found.tzdata}"),
    ])  # fmt: skip


def tick_table(found: list[Tick], tz: str) -> Table:
    """By the schedule's own clock: that is the one its rule is written for."""
    now, zone = datetime.now(UTC), ZoneInfo(tz)
    rows = (
        (
            tick.at.astimezone(zone).strftime("%a %Y-%m-%d %H:%M:%S%z"), tick.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            relative(tick.run_at, now),
            f"skipped: {tick.skipped.value}" if tick.skipped else ", ".join(mark.value for mark in tick.marks),
            tick.detail or "",
        )
        for tick in found
    )  # fmt: skip
    return table((f"at ({tz})", "utc", "runs", "marks", "detail"), rows, spare=("utc",))


def record_table(found: list[TickRecord]) -> Table:
    rows = (
        (
            absolute(tick.at), tick.state if tick.count == 1 else f"{tick.state} ×{tick.count}", tick.origin,
            str(tick.job_id or ""), tick.job_state or tick.reason or "", tick.detail or "",
        )
        for tick in found
    )  # fmt: skip
    return table(("at", "tick", "origin", "job", "outcome", "detail"), rows, spare=("origin",))
