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
