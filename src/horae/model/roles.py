"""Roles and what each may do. Every route names one permission; a route without one does not start."""

from enum import StrEnum
from typing import Final


class Permission(StrEnum):
    PUBLIC = "public"
    """Needs no key: health, readiness, the API's description."""
    SELF_READ = "self:read"
    """Needs any key: who am I."""
    JOBS_READ = "jobs:read"
    JOBS_SUBMIT = "jobs:submit"
    JOBS_CONTROL = "jobs:control"
    """Change, cancel, retry, clone."""
    TASKS_READ = "tasks:read"
    TASKS_WRITE = "tasks:write"
    WORKERS_READ = "workers:read"
    WORKERS_CONTROL = "workers:control"
    WORK = "work"
    """The worker's own calls: join, exchange, heartbeat, logs, leave."""
    LIMITS_READ = "limits:read"
    LIMITS_MANAGE = "limits:manage"
    SERVICE_LEVELS_READ = "service_levels:read"
    SERVICE_LEVELS_MANAGE = "service_levels:manage"
    GATES_READ = "gates:read"
    GATES_MANAGE = "gates:manage"
    """Close and release gates, the emergency stop, and bring back what was dropped."""
    KEYS_MANAGE = "keys:manage"
    SECRETS_READ = "secrets:read"
    """Which there are. More than the names only for those who may also set them; values for nobody."""
    SECRETS_WRITE = "secrets:write"
    SECRETS_MANAGE = "secrets:manage"
    """Give secrets new keys."""
    SCHEDULES_READ = "schedules:read"
    SCHEDULES_WRITE = "schedules:write"
    """Also calendars."""
    TENANTS_READ = "tenants:read"
    TENANTS_MANAGE = "tenants:manage"
    """Only for keys that belong to no tenant."""
    QUOTAS_READ = "quotas:read"
    QUOTAS_MANAGE = "quotas:manage"
    """Of users and queues; those of tenants only for keys that belong to none."""


class Role(StrEnum):
    VIEWER = "viewer"
    SUBMITTER = "submitter"
    OPERATOR = "operator"
    ADMIN = "admin"
    WORKER = "worker"


_ANYBODY: Final = frozenset({Permission.PUBLIC, Permission.SELF_READ})
_VIEWER: Final = _ANYBODY | {
    Permission.JOBS_READ,
    Permission.TASKS_READ,
    Permission.WORKERS_READ,
    Permission.LIMITS_READ,
    Permission.SERVICE_LEVELS_READ,
    Permission.GATES_READ,
    Permission.TENANTS_READ,
    Permission.SCHEDULES_READ,
    Permission.QUOTAS_READ,
    Permission.SECRETS_READ,
}
_SUBMITTER: Final = _VIEWER | {
    Permission.JOBS_SUBMIT,
    Permission.JOBS_CONTROL,
    Permission.TASKS_WRITE,
    Permission.SCHEDULES_WRITE,
    Permission.SECRETS_WRITE,
}
_OPERATOR: Final = _SUBMITTER | {
    Permission.LIMITS_MANAGE,
    Permission.SERVICE_LEVELS_MANAGE,
    Permission.GATES_MANAGE,
    Permission.WORKERS_CONTROL,
}
_ADMIN: Final = _OPERATOR | {
    Permission.KEYS_MANAGE,
    Permission.TENANTS_MANAGE,
    Permission.QUOTAS_MANAGE,
    Permission.SECRETS_MANAGE,
}

GRANTS: Final[dict[Role, frozenset[Permission]]] = {
    Role.VIEWER: _VIEWER,
    Role.SUBMITTER: _SUBMITTER,
    Role.OPERATOR: _OPERATOR,
    Role.ADMIN: _ADMIN,
    Role.WORKER: _ANYBODY | {Permission.WORK},
}


def may(role: Role, permission: Permission) -> bool:
    return permission in GRANTS[role]
