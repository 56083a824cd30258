"""Schedules, what becomes of their ticks, backfills, the forecast, and calendars."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

import msgspec

from horae.model.calendars import CalendarDefinition
from horae.model.definition import ScheduleDefinition
from horae.model.ticks import Tick

__all__ = [
    "Agenda",
    "AgendaDay",
    "AgendaItem",
    "Backfill",
    "BackfillPage",
    "BackfillRequest",
    "BackfillTick",
    "Calendar",
    "CalendarDefinition",
    "CalendarPage",
    "Collision",
    "Forecast",
    "Frequent",
    "LatestTick",
    "Minute",
    "Preview",
    "PreviewFault",
    "PreviewProblem",
    "PreviewRequest",
    "Proposal",
    "Schedule",
    "ScheduleChange",
    "ScheduleDefinition",
    "ScheduleLimits",
    "SchedulePage",
    "SchedulePut",
    "ScheduleSave",
    "ScheduleVersion",
    "TickPage",
    "TickRecord",
    "Trigger",
    "Triggered",
    "VersionPage",
    "Why",
]


class ScheduleSave(ScheduleDefinition, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """POST and PUT of a schedule."""

    why: str = ""
    """For its history."""
    paused: bool = False
    """Only when it is made."""
    tenant: str | None = None
    """Only for keys that belong to no tenant."""


class LatestTick(msgspec.Struct, kw_only=True, omit_defaults=True):
    at: datetime
    state: str
    """`skipped`, `planned`, `waiting`, or the state of its job: `pending`, `running`, `succeeded` …"""
    late: float | None = None
    """Seconds from when it was due to when its job first started; jitter belongs to when it was due."""
    reason: str | None = None
    """Why it was skipped."""
    count: int = 1
    """How many ticks in a row this stands for."""


class Schedule(msgspec.Struct, kw_only=True, omit_defaults=True):
    definition: ScheduleDefinition
    tenant: str
    state: str
    """`active`, `paused` or `ended` (it has no more ticks)."""
    words: list[str]
    """Its rules in words."""
    version: int
    runs: int
    """Ticks that became jobs."""
    next_run_at: datetime | None = None
    paused_at: datetime | None = None
    tzdata: str = ""
    """The release of the time zone database it was saved with."""
    made_by: str
    made_at: datetime
    changed_by: str
    changed_at: datetime
    next: list[Tick] | None = None
    """The ticks to come, where a list was asked for them."""
    latest: list[LatestTick] | None = None
    """The last ticks of the rule, oldest first, where a list was asked for them."""


class SchedulePut(Schedule, kw_only=True, omit_defaults=True):
    outcome: str
    """`created`, `changed` or `unchanged`."""


class SchedulePage(msgspec.Struct, omit_defaults=True):
    items: list[Schedule]
    next_cursor: str | None = None


class ScheduleChange(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """PATCH: `set` holds the fields of the definition that change; null puts one back to its default."""

    set: dict[str, Any]
    why: str = ""


class Why(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The body of pause, resume and delete; it may be left out."""

    why: str = ""


class Trigger(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    params: dict[str, Any] | None = None
    """Instead of the schedule's."""


class Triggered(msgspec.Struct):
    job_id: str


class ScheduleVersion(msgspec.Struct, kw_only=True, omit_defaults=True):
    version: int
    action: str
    """`created`, `changed`, `paused`, `resumed` or `deleted`."""
    definition: ScheduleDefinition
    """As it was from then on."""
    by: str
    at: datetime
    why: str = ""


class VersionPage(msgspec.Struct):
    items: list[ScheduleVersion]


class PreviewRequest(ScheduleDefinition, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A definition that is not saved."""

    count: int = 10
    since: datetime | None = None
    until: datetime | None = None
    tenant: str | None = None
    draft: bool = False
    """It is still being written: what is wrong with its job is told beside the ticks, not instead of them."""


class PreviewFault(msgspec.Struct):
    pointer: str
    detail: str


class PreviewProblem(msgspec.Struct, kw_only=True, omit_defaults=True):
    code: str
    detail: str
    field: str | None = None
    errors: list[PreviewFault] | None = None
    """What does not fit the task's schema."""


class Preview(msgspec.Struct, omit_defaults=True):
    words: list[str]
    items: list[Tick]
    problem: PreviewProblem | None = None
    """Why a draft could not be saved as it is."""


class TickRecord(msgspec.Struct, kw_only=True, omit_defaults=True):
    at: datetime
    """The nominal instant."""
    run_at: datetime
    origin: str
    """`rule`, `trigger` or the backfill."""
    state: str
    """`planned`, `waiting`, `fired` or `skipped`."""
    job_id: UUID | None = None
    job_state: str | None = None
    started_at: datetime | None = None
    """When its job first started."""
    finished_at: datetime | None = None
    reason: str | None = None
    """Why it was skipped: `missed`, `overlap`, `calendar`, `window`, `gap`, `fold`, `max_runs`, or an error's code."""
    detail: str | None = None
    count: int = 1
    """How many ticks in a row this stands for."""


class TickPage(msgspec.Struct, omit_defaults=True):
    items: list[TickRecord]
    next_cursor: str | None = None


class BackfillRequest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    since: datetime
    until: datetime
    """Not included."""
    concurrency: int = 1
    """How many of its jobs may be under way at once."""
    dry_run: bool = False
    """Only show what it would do."""


class BackfillTick(msgspec.Struct, omit_defaults=True):
    at: datetime
    runs: bool
    why: str | None = None


class Backfill(msgspec.Struct, kw_only=True, omit_defaults=True):
    id: int | None = None
    """Absent in a dry run."""
    state: str
    """`planned` (a dry run), `running`, `done` or `cancelled`."""
    since: datetime
    until: datetime
    concurrency: int
    total: int
    fired: int = 0
    skipped: int = 0
    succeeded: int = 0
    ended: int = 0
    made_by: str | None = None
    made_at: datetime | None = None
    finished_at: datetime | None = None
    ticks: list[BackfillTick] | None = None
    """What it would do; only in a dry run."""


class BackfillPage(msgspec.Struct):
    items: list[Backfill]


class Minute(msgspec.Struct):
    at: datetime
    ticks: int


class Collision(msgspec.Struct):
    at: datetime
    ticks: int
    schedules: list[str]


class Proposal(msgspec.Struct):
    schedule: str
    cron: str
    instead: str


class Forecast(msgspec.Struct, kw_only=True):
    since: datetime
    until: datetime
    schedules: int
    minutes: list[Minute]
    collisions: list[Collision]
    proposals: list[Proposal]
    peak: int
    peak_spread: int
    truncated: bool


class AgendaItem(msgspec.Struct, kw_only=True):
    """One schedule on one day."""

    schedule: str
    tenant: str
    first_at: datetime
    ticks: int
    """Those that fire."""
    skipped: int
    marks: list[str]
    detail: str | None
    """The first mark or skip in words."""


class AgendaDay(msgspec.Struct, kw_only=True):
    day: date
    ticks: int
    skipped: int
    items: list[AgendaItem]
    """The first fifty, by time."""


class Frequent(msgspec.Struct, kw_only=True):
    schedule: str
    tenant: str


class Agenda(msgspec.Struct, kw_only=True):
    since: datetime
    until: datetime
    tz: str
    schedules: int
    days: list[AgendaDay]
    """Those with ticks."""
    frequent: list[Frequent]
    """Schedules that fire too often to be counted out day by day."""
    truncated: bool
    """There are more schedules or ticks than it shows."""


class Calendar(msgspec.Struct, kw_only=True):
    definition: CalendarDefinition
    tenant: str
    changed_by: str
    changed_at: datetime


class CalendarPage(msgspec.Struct):
    items: list[Calendar]


class ScheduleLimits(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    shortest_interval: str | float
    """The shortest time between two ticks of a schedule of the tenant."""
