"""What people say about a schedule on the command line, as the fields of its definition."""

from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from cyclopts import Group, Parameter

from horae.cli.arguments import Dashed, read_instant, read_pairs, read_params
from horae.model.definition import ScheduleDefinition
from horae.model.errors import InvalidInput
from horae.model.overlap import Missed, Overlap
from horae.model.timing import Fold, Gap, OnBlocked

WHEN: Final = Group("When", sort_key=40)
WHAT: Final = Group("Job", sort_key=50)
_PLAIN: Final = (
    "tz", "gap", "fold", "on_blocked", "jitter", "overlap", "missed", "missed_limit", "missed_window", "max_runs",
    "tick_param", "description", "outside",
)  # fmt: skip
_OF_JOBS: Final = ("queue", "priority", "timeout", "max_attempts", "concurrency_key")


@Parameter(name="*", group=WHEN)
@dataclass(frozen=True, kw_only=True)
class WhenArguments:
    cron: list[str] = field(default_factory=list)
    """A cron expression: five fields, or six with seconds first. May be repeated."""
    every: list[str] = field(default_factory=list)
    """A fixed interval, e.g. 15m. May be repeated."""
    tz: str | None = None
    """The time zone, e.g. Europe/Berlin (UTC)."""
    gap: Gap | None = None
    """A wall time that the clock jumps over: after, skip."""
    fold: Fold | None = None
    """A wall time that happens twice: first, second, both."""
    calendar: list[str] = field(default_factory=list)
    """A calendar whose days are blocked. May be repeated."""
    on_blocked: OnBlocked | None = None
    """On a blocked day: skip, next, previous."""
    window: list[str] = field(default_factory=list)
    """When it may fire, e.g. "MON-FRI 08:00-18:00" or "22:00-06:00". May be repeated."""
    outside: str | None = None
    """Outside of all windows: skip, or defer to the next opening."""
    starts_at: str | None = None
    """No tick before this instant."""
    ends_at: str | None = None
    """No tick at or after this instant."""
    jitter: str | None = None
    """Delay each tick by up to this long."""
    overlap: Overlap | None = None
    """While an earlier run goes on: allow, skip, queue, replace."""
    missed: Missed | None = None
    """Ticks that nobody could see to: skip, latest, all, window."""
    missed_limit: int | None = None
    """With --missed all: how many at most."""
    missed_window: str | None = None
    """With --missed window: how late a tick may run."""
    max_runs: int | None = None
    """End after so many runs."""

    def fields(self) -> dict[str, Any]:
        found: dict[str, Any] = {name: getattr(self, name) for name in _PLAIN if hasattr(self, name)}
        found["rules"] = [{"cron": text} for text in self.cron] + [{"every": text} for text in self.every]
        found["calendars"] = self.calendar
        found["windows"] = [read_window(text) for text in self.window]
        found["starts_at"] = read_instant(self.starts_at, "starts-at")
        found["ends_at"] = read_instant(self.ends_at, "ends-at")
        return {name: value for name, value in found.items() if value not in (None, [])}


@Parameter(name="*", group=WHAT)
@dataclass(frozen=True, kw_only=True)
class WhatArguments:
    param: list[str] = field(default_factory=list)
    """A parameter as name=value; the value is read as JSON if it is JSON, else as text. May be repeated."""
    json_params: Dashed | None = None
    """All parameters as a JSON object: the object itself, @FILE, or - for stdin."""
    tick_param: str | None = None
    """The parameter that gets the tick's nominal instant."""
    priority: int | None = None
    """1 (lowest) to 10 (emergency); 5 is normal."""
    queue: str | None = None
    """The queue to wait in."""
    timeout: str | None = None
    """How long one attempt may run, e.g. 30s."""
    max_attempts: int | None = None
    """How often to try."""
    label: list[str] = field(default_factory=list)
    """A label as name=value. May be repeated."""
    concurrency_key: str | None = None
    """Jobs of one key share its limits."""
    description: str | None = None
    """What the schedule is for."""

    def fields(self) -> dict[str, Any]:
        job = {name: getattr(self, name) for name in _OF_JOBS} | {"labels": read_pairs(self.label, "label") or None}
        found = {
            "params": read_params(self.param, self.json_params),
            "job": {name: value for name, value in job.items() if value is not None} or None,
            "tick_param": self.tick_param,
            "description": self.description,
        }
        return {name: value for name, value in found.items() if value is not None}


NO_TIMES: Final = WhenArguments()
NOTHING: Final = WhatArguments()


def definition(name: str, task: str, when: WhenArguments, what: WhatArguments) -> ScheduleDefinition:
    given = {"name": name, "task": task} | when.fields() | what.fields()
    try:
        return msgspec.convert(msgspec.to_builtins(given), ScheduleDefinition)
    except msgspec.ValidationError as error:
        raise InvalidInput(str(error)) from error


def read_window(text: str) -> dict[str, str]:
    """`MON-FRI 08:00-18:00`, or either half of it."""
    found: dict[str, str] = {}
    for part in text.split():
        start, dash, end = part.partition("-")
        if ":" in part and dash:
            found |= {"start": start, "end": end}
        else:
            found["days"] = part
    return found
