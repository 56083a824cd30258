"""Horae, a job scheduler: what a user's program imports. Everything not listed here is internal and may change.

Names are loaded on first use, so that `import horae` costs little in programs that only declare tasks.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from horae.client.app import App
    from horae.client.client import AsyncClient, Client
    from horae.client.context import Context
    from horae.client.handles import AsyncJob, Job
    from horae.client.outcomes import BadParams, Cancelled, Fatal, NoSecret, Retry, Unserialisable
    from horae.client.task import Task
    from horae.model.actions import ActionKind, ActionState
    from horae.model.breaker import Breaker
    from horae.model.calendars import CalendarDefinition
    from horae.model.definition import ScheduleDefinition
    from horae.model.errors import (
        AlreadyExists,
        DuplicateJob,
        Forbidden,
        GateClosed,
        Gone,
        HoraeError,
        InvalidInput,
        InvalidParams,
        InvalidSignature,
        JobFailed,
        NotFound,
        ResultTimeout,
        SecretInUse,
        SecretsLocked,
        SetupError,
        TaskChanged,
        TaskInUse,
        Unauthenticated,
        UnknownTask,
        Unreachable,
        WrongState,
    )
    from horae.model.job import JobRequest
    from horae.model.kinds import Container, HttpCall, Limits, ResultFrom, Script, SecretUse, Sink
    from horae.model.placement import Requirements, Traits
    from horae.model.retry import RetryPolicy
    from horae.model.states import State
    from horae.model.task import TaskDefinition
    from horae.model.timing import Rule, Window
    from horae.model.unique import OnConflict, Unique, UniqueWhile
    from horae.wire.actions import ActionRequest, DeadLetterRequest, JobsFilter
    from horae.wire.jobs import JobChanges

__version__ = "0.1.0"

__all__ = [
    "ActionKind",
    "ActionRequest",
    "ActionState",
    "AlreadyExists",
    "App",
    "AsyncClient",
    "AsyncJob",
    "BadParams",
    "Breaker",
    "CalendarDefinition",
    "Cancelled",
    "Client",
    "Container",
    "Context",
    "DeadLetterRequest",
    "DuplicateJob",
    "Fatal",
    "Forbidden",
    "GateClosed",
    "Gone",
    "HoraeError",
    "HttpCall",
    "InvalidInput",
    "InvalidParams",
    "InvalidSignature",
    "Job",
    "JobChanges",
    "JobFailed",
    "JobRequest",
    "JobsFilter",
    "Limits",
    "NoSecret",
    "NotFound",
    "OnConflict",
    "Requirements",
    "ResultFrom",
    "ResultTimeout",
    "Retry",
    "RetryPolicy",
    "Rule",
    "ScheduleDefinition",
    "Script",
    "SecretInUse",
    "SecretUse",
    "SecretsLocked",
    "SetupError",
    "Sink",
    "State",
    "Task",
    "TaskChanged",
    "TaskDefinition",
    "TaskInUse",
    "Traits",
    "Unauthenticated",
    "Unique",
    "UniqueWhile",
    "UnknownTask",
    "Unreachable",
    "Unserialisable",
    "Window",
    "WrongState",
    "__version__",
]

_HOMES = {
    "horae.client.app": ("App",),
    "horae.client.client": ("AsyncClient", "Client"),
    "horae.client.context": ("Context",),
    "horae.client.handles": ("AsyncJob", "Job"),
    "horae.client.outcomes": ("BadParams", "Cancelled", "Fatal", "NoSecret", "Retry", "Unserialisable"),
    "horae.client.task": ("Task",),
    "horae.model.actions": ("ActionKind", "ActionState"),
    "horae.model.breaker": ("Breaker",),
    "horae.model.calendars": ("CalendarDefinition",),
    "horae.model.definition": ("ScheduleDefinition",),
    "horae.model.job": ("JobRequest",),
    "horae.model.kinds": ("Container", "HttpCall", "Limits", "ResultFrom", "Script", "SecretUse", "Sink"),
    "horae.model.placement": ("Requirements", "Traits"),
    "horae.model.retry": ("RetryPolicy",),
    "horae.model.states": ("State",),
    "horae.model.task": ("TaskDefinition",),
    "horae.model.timing": ("Rule", "Window"),
    "horae.model.unique": ("OnConflict", "Unique", "UniqueWhile"),
    "horae.wire.actions": ("ActionRequest", "DeadLetterRequest", "JobsFilter"),
    "horae.wire.jobs": ("JobChanges",),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'horae' has no attribute {name!r}")
    home = next((module for module, names in _HOMES.items() if name in names), "horae.model.errors")
    return getattr(import_module(home), name)
