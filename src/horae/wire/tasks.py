"""Tasks that are data: their versions, looks ahead, sharing, and moving them from one installation to another."""

from datetime import datetime
from typing import Any, Literal

import msgspec

from horae.model.task import TaskDefinition


class Validate(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    definition: TaskDefinition
    params: dict[str, Any] | None = None
    """Sample params: checked against the schema and filled into the placeholders."""


class TaskFault(msgspec.Struct):
    field: str
    """The path in the definition, or the pointer into the params."""
    detail: str


class Validated(msgspec.Struct, kw_only=True, omit_defaults=True):
    valid: bool
    errors: list[TaskFault] = []
    warnings: list[str] = []
    filled: dict[str, str] = {}
    """Texts with their placeholders filled in from the sample params; secrets are not shown."""


class TaskVersion(msgspec.Struct, kw_only=True, omit_defaults=True):
    version: int
    definition: TaskDefinition | None = None
    """Not in lists: ask for a version by its number."""
    made_at: datetime
    made_by: str
    reason: str = ""
    current: bool = False


class TaskVersionPage(msgspec.Struct):
    items: list[TaskVersion]
    """Latest first."""


class TaskDiff(msgspec.Struct, kw_only=True):
    before: int
    after: int
    fields: list[str]
    """The fields of the definition that differ."""
    text: str
    """The lines that differ, as `diff -u` shows them, of the definitions written as YAML."""


class TaskFigures(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What became of a task's jobs in some time. Those that ended need not be those that were submitted in it."""

    submitted: int = 0
    started: int = 0
    """Attempts."""
    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0
    other: int = 0
    """Expired or dropped."""
    retried: int = 0
    """Attempts that failed and were made again."""
    mean: float | None = None
    """Seconds of a run; absent when none ended."""
    p50: float | None = None
    """Half of the runs took less: reckoned from mean and spread, as are the next."""
    p95: float | None = None
    wait: float | None = None
    """Seconds from due to the first start, on average; absent when none was looked at."""


class TaskStep(TaskFigures, kw_only=True, omit_defaults=True):
    at: datetime


class TaskStatistics(msgspec.Struct, kw_only=True):
    since: datetime
    until: datetime
    step: int
    """Seconds of each step."""
    items: list[TaskStep]


class TaskTotals(TaskFigures, kw_only=True, omit_defaults=True):
    tenant: str
    """Whose jobs they were."""
    task: str


class TaskTotalsPage(msgspec.Struct, kw_only=True):
    since: datetime
    until: datetime
    items: list[TaskTotals]


class Rollback(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    version: int
    reason: str = ""


class ShareRequest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    tenants: list[str] | Literal["*"]
    """Names, or "*" for every tenant."""
    with_secrets: bool = False
    """Whether the jobs of others get this tenant's secrets; otherwise they get those of their own tenant."""


class UnshareRequest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    tenants: list[str] | Literal["*"]
    """Names, or "*" to take it back from everybody."""


class TaskShare(msgspec.Struct, kw_only=True):
    tenant: str
    """A name, or "*": every tenant."""
    with_secrets: bool
    made_at: datetime
    made_by: str


class TaskSharePage(msgspec.Struct):
    items: list[TaskShare]


class ImportedTask(msgspec.Struct, kw_only=True, omit_defaults=True):
    name: str
    outcome: str
    """`created`, `changed`, `unchanged` or `refused`."""
    version: int = 0
    error: str | None = None


class ImportAnswer(msgspec.Struct, kw_only=True):
    dry_run: bool
    items: list[ImportedTask]
