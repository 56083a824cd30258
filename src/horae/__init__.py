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
    from horae.client.outcomes import BadParams, Cancelled, Fatal, Retry, Unserialisable
    from horae.client.task import Task
    from horae.model.errors import (
        AlreadyExists,
        Forbidden,
        HoraeError,
        InvalidInput,
        InvalidParams,
        JobFailed,
        NotFound,
        ResultTimeout,
        SetupError,
        Unauthenticated,
        UnknownTask,
        Unreachable,
        WrongState,
    )
    from horae.model.job import JobRequest
    from horae.model.retry import RetryPolicy
    from horae.model.states import State
    from horae.wire.jobs import JobChanges

__version__ = "0.1.0"

__all__ = [
    "AlreadyExists",
    "App",
    "AsyncClient",
    "AsyncJob",
    "BadParams",
    "Cancelled",
    "Client",
    "Context",
    "Fatal",
    "Forbidden",
    "HoraeError",
    "InvalidInput",
    "InvalidParams",
    "Job",
    "JobChanges",
    "JobFailed",
    "JobRequest",
    "NotFound",
    "ResultTimeout",
    "Retry",
    "RetryPolicy",
    "SetupError",
    "State",
    "Task",
    "Unauthenticated",
    "UnknownTask",
    "Unreachable",
    "Unserialisable",
    "WrongState",
    "__version__",
]

_HOMES = {
    "horae.client.app": ("App",),
    "horae.client.client": ("AsyncClient", "Client"),
    "horae.client.context": ("Context",),
    "horae.client.handles": ("AsyncJob", "Job"),
    "horae.client.outcomes": ("BadParams", "Cancelled", "Fatal", "Retry", "Unserialisable"),
    "horae.client.task": ("Task",),
    "horae.model.job": ("JobRequest",),
    "horae.model.retry": ("RetryPolicy",),
    "horae.model.states": ("State",),
    "horae.wire.jobs": ("JobChanges",),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'horae' has no attribute {name!r}")
    home = next((module for module, names in _HOMES.items() if name in names), "horae.model.errors")
    return getattr(import_module(home), name)
