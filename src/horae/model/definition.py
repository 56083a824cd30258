"""A schedule's definition: what it runs, when, and what becomes of ticks that overlap or were missed."""

from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from horae.model.durations import parse_duration
from horae.model.errors import InvalidInput
from horae.model.job import JobRequest, check_name, check_request
from horae.model.overlap import MAX_CATCH_UP, Missed, Overlap
from horae.model.timing import Rule, Timing

NOT_FOR_TICKS: Final = {
    "task": "it is the schedule's own",
    "params": "they are the schedule's own",
    "tenant": "it is the schedule's own",
    "run_at": "the rule says when",
    "delay": "the rule says when",
    "deadline": "it is an instant, and every tick would have the same",
    "expires": "it is an instant, and every tick would have the same; use expires_in",
    "unique": "the schedule's overlap does this",
}
RESERVED: Final = frozenset({"preview", "forecast", "agenda", "limits"})
_FIELDS: Final = frozenset(JobRequest.__struct_fields__)


class ScheduleDefinition(Timing, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    name: str
    task: str
    params: dict[str, Any] = {}  # noqa: RUF012 - msgspec copies it
    job: dict[str, Any] = {}  # noqa: RUF012 - as above
    """Options of every job, as in a submit: queue, priority, timeout, max_attempts, labels …"""
    tick_param: str | None = None
    """The parameter that gets the tick's nominal instant, e.g. `day` for a job that works on a day's data."""
    cron: str | None = None
    """Short for one rule."""
    every: str | float | None = None
    """Short for one rule."""
    overlap: Overlap = Overlap.ALLOW
    missed: Missed = Missed.LATEST
    missed_limit: int = 10
    """With `missed: all`, how many at most: the latest ones."""
    missed_window: str | float = "1h"
    """With `missed: window`, how late a tick may still run."""
    max_runs: int | None = None
    """It ends when so many of its ticks have become jobs."""
    description: str | None = None


def settled(definition: ScheduleDefinition) -> ScheduleDefinition:
    """The same with the short forms written out as rules, and everything checked that needs no looking up."""
    if check_name(definition.name, "name") in RESERVED:
        raise InvalidInput(f"name: {definition.name!r} is a path of the API; choose another", field="name")
    rules = list(definition.rules)
    if definition.cron is not None:
        rules.append(Rule(cron=definition.cron))
    if definition.every is not None:
        rules.append(Rule(every=definition.every))
    if not rules:
        raise InvalidInput("a schedule needs a rule: give cron, every or rules", field="rules")
    if definition.max_runs is not None and definition.max_runs < 1:
        raise InvalidInput("max_runs: must be at least 1", field="max_runs")
    if not 1 <= definition.missed_limit <= MAX_CATCH_UP:
        raise InvalidInput(f"missed_limit: must be 1…{MAX_CATCH_UP}", field="missed_limit")
    parse_duration(definition.missed_window, "missed_window")
    if definition.tick_param is not None:
        check_name(definition.tick_param, "tick_param")
    return msgspec.structs.replace(definition, rules=rules, cron=None, every=None)


def tick_request(definition: ScheduleDefinition, at: datetime, run_at: datetime) -> JobRequest:
    """The job of one tick."""
    for name in definition.job:
        if name in NOT_FOR_TICKS or name not in _FIELDS:
            why = NOT_FOR_TICKS.get(name, "there is no such option of a job")
            raise InvalidInput(f"job.{name}: {why}", field=f"job.{name}")
    options = dict(definition.job)
    lifetime = options.pop("expires_in", None)
    if lifetime is not None:
        # Counted from the tick: its job may have been made ahead of it.
        options["expires"] = run_at + parse_duration(lifetime, "job.expires_in")
    options["labels"] = {**(options.get("labels") or {}), "schedule": definition.name}
    params = definition.params
    if definition.tick_param is not None:
        params = params | {definition.tick_param: at.isoformat()}
    given = {"task": definition.task, "params": params, "run_at": run_at, **options}
    try:
        return check_request(msgspec.convert(given, JobRequest))
    except msgspec.ValidationError as error:
        raise InvalidInput(f"job: {error}", field="job") from error


def missed_window(definition: ScheduleDefinition) -> timedelta:
    return parse_duration(definition.missed_window, "missed_window")
