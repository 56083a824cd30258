"""Service levels: what jobs are promised, and how well that is kept."""

from datetime import datetime
from uuid import UUID

import msgspec

from horae.model.promise import DEFAULT_TARGET
from horae.model.timing import OffPeak


class ServiceLevelPut(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which jobs it is for (left out: all), what they are promised, and when those that can wait start."""

    tenant: str | None = None
    """Only for keys that belong to no tenant; left out by one of those: all tenants."""
    task: str | None = None
    tier: str = ""
    """A word for it, such as gold."""
    start_within: str | float | None = None
    """How long after its due time a job starts at the latest."""
    target: float = DEFAULT_TARGET
    """The share of jobs that shall start in time."""
    priority: int | None = None
    """Of jobs that have none, neither by themselves nor by their task: 1 … 9."""
    off_peak: OffPeak | None = None
    """When jobs that say nothing of their time may start."""
    reason: str | None = None


class Attainment(msgspec.Struct, kw_only=True):
    """Of the promises of some time: those kept and those broken."""

    kept: int
    broken: int
    share: float | None
    """Of all, those kept; null: there were none."""
    met: bool | None
    """Whether that reaches the target."""


class WorstTask(msgspec.Struct, kw_only=True):
    tenant: str
    task: str
    kept: int
    broken: int


class LateJob(msgspec.Struct, kw_only=True):
    id: UUID
    tenant: str
    task: str
    start_by: datetime


class ServiceLevel(msgspec.Struct, kw_only=True, omit_defaults=True):
    name: str
    tenant: str | None = None
    task: str | None = None
    tier: str = ""
    start_within: float | None = None
    """Seconds."""
    target: float
    priority: int | None = None
    off_peak: OffPeak | None = None
    hour: Attainment
    day: Attainment
    month: Attainment
    """Of the last 30 days."""
    at_risk: int
    """Jobs that wait, with a quarter of their time left or less; counting stops at 10,000, also of `late`."""
    late: int
    """Jobs that wait beyond their time."""
    worst_tasks: list[WorstTask] = []
    """Those with the most broken promises of the last day."""
    latest_jobs: list[LateJob] = []
    """Those that have waited longest beyond their time."""
    made_by: str
    made_at: datetime
    reason: str | None = None


class ServiceLevelPage(msgspec.Struct):
    items: list[ServiceLevel]
