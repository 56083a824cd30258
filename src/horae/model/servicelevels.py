"""Service levels: what an operator promises the jobs of a tenant or a task.

A level is for the jobs that match its tenant and task. Of several, the most specific one counts: one for the tenant's
task, then one for the task, then one for the tenant, then one for all. There are no two of the same tenant and task, so
it is always one.
"""

import unicodedata
from collections.abc import Mapping
from typing import Final

import msgspec

from horae.model.durations import parse_duration
from horae.model.errors import InvalidInput
from horae.model.job import check_name
from horae.model.offpeak import check_off_peak
from horae.model.promise import DEFAULT_TARGET, Promise
from horae.model.rank import EMERGENCY, LOWEST
from horae.model.timing import OffPeak

MAX_TIER: Final = 100

Scope = tuple[int | None, str | None]
"""Tenant and task; None: any."""


class ServiceLevel(msgspec.Struct, kw_only=True, frozen=True):
    id: int
    name: str
    tenant_id: int | None = None
    task: str | None = None
    tier: str = ""
    start_within: float | None = None
    """Seconds. None: nothing is promised."""
    target: float = DEFAULT_TARGET
    """The share of its jobs that shall start in time."""
    priority: int | None = None
    """For jobs that have none, neither by themselves nor by their task."""
    off_peak: OffPeak | None = None

    @property
    def scope(self) -> Scope:
        return self.tenant_id, self.task

    @property
    def promise(self) -> Promise:
        """What it says of a job, but for the time."""
        return Promise(level=self.name, level_id=self.id, within=self.start_within)


def level_for(levels: Mapping[Scope, ServiceLevel], tenant_id: int, task: str) -> ServiceLevel | None:
    for scope in ((tenant_id, task), (None, task), (tenant_id, None), (None, None)):
        found = levels.get(scope)
        if found is not None:
            return found
    return None


def read_start_within(value: str | float) -> float:
    seconds = parse_duration(value, "start_within").total_seconds()
    if seconds <= 0:
        raise InvalidInput("start_within: must be more than 0", field="start_within")
    return seconds


def check_level(level: ServiceLevel) -> ServiceLevel:
    check_name(level.name, "name")
    if level.task is not None:
        check_name(level.task, "task")
    if len(level.tier) > MAX_TIER or any(unicodedata.category(c)[0] == "C" for c in level.tier):
        raise InvalidInput(f"tier: at most {MAX_TIER} characters, none of them a control character", field="tier")
    if level.start_within is None and level.priority is None and level.off_peak is None:
        raise InvalidInput("a service level needs start_within, priority or off_peak", field="start_within")
    if not 0 < level.target <= 1:
        raise InvalidInput(f"target: {level.target} is no share above 0, at most 1 (0.99 is 99 %)", field="target")
    if level.priority is not None and not LOWEST <= level.priority < EMERGENCY:
        raise InvalidInput(
            f"priority: {level.priority} is outside {LOWEST}…{EMERGENCY - 1}; an emergency is never a default",
            field="priority",
        )
    if level.off_peak is not None:
        check_off_peak(level.off_peak)
    return level
