"""Tenants, API keys and tasks."""

from datetime import datetime

import msgspec

from horae.model.kinds import Kind
from horae.model.roles import Permission, Role
from horae.model.task import TaskDefinition


class TenantCreate(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    name: str
    weight: float = 1.0


class TenantChange(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    weight: float
    """Its share beside the others: a tenant of weight 2 gets twice what one of weight 1 gets."""


class Tenant(msgspec.Struct, kw_only=True):
    id: int
    name: str
    weight: float
    created_at: datetime


class TenantPage(msgspec.Struct):
    items: list[Tenant]


class KeyCreate(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    name: str
    role: Role
    tenant: str | None = None
    """Left out by a key of a tenant: that tenant. Left out by a key of none: all tenants."""
    expires_in: str | float | None = "365d"
    """A duration; null for a key that does not expire."""


class Key(msgspec.Struct, kw_only=True, omit_defaults=True):
    id: int
    name: str
    role: Role
    tenant: str | None = None
    prefix: str
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None


class KeyCreated(msgspec.Struct, kw_only=True):
    key: Key
    secret: str
    """Shown this once; only its hash is stored."""


class KeyPage(msgspec.Struct):
    items: list[Key]


class Whoami(msgspec.Struct, omit_defaults=True):
    name: str
    role: Role
    tenant: str | None = None
    permissions: list[Permission] = []
    """What its role may do."""


class Task(msgspec.Struct, kw_only=True, omit_defaults=True):
    tenant: str | None = None
    """Absent: shared with all tenants."""
    definition: TaskDefinition
    updated_at: datetime
    kind: Kind = Kind.FUNCTION
    version: int = 0
    """Of a task that is data; 0 for a function."""
    with_secrets: bool = False
    """Of a task that another tenant shares: whether its jobs get the secrets of that tenant."""
    cut: bool = False
    """In a list: the definition is long, and what runs is left out. Ask for the task by its name."""


class TaskPage(msgspec.Struct):
    items: list[Task]
