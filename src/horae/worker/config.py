"""The agent's settings. A value that cannot work is refused when the record is made."""

import os
import socket
from typing import Any, Final

import msgspec

from horae.model.errors import InvalidInput
from horae.model.kinds import Kind

_SMALLEST_LOG_LIMIT: Final = 4096
_SANDBOXED: Final = (Kind.SCRIPT.value, Kind.CONTAINER.value)
_KINDS: Final = (*_SANDBOXED, Kind.HTTP.value, "all")


def _cpus() -> int:
    return os.cpu_count() or 1


class AgentConfig(msgspec.Struct, frozen=True, kw_only=True):
    name: str = msgspec.field(default_factory=socket.gethostname)
    slots: int = msgspec.field(default_factory=_cpus)
    """Processes that run one job at a time each."""
    async_slots: int = 100
    """Coroutine jobs side by side, in one process of their own."""
    kinds: list[str] = []
    """What it runs beside the functions of its app: `script`, `container`, `http`; `all`: what the host can run."""
    unsandboxed: list[str] = []
    """Of `script` and `container`: those that run without a sandbox here."""
    state: str | None = None
    """The folder for what jobs of those kinds need while they run; None: the one that suits the user."""
    allow_networks: list[str] = []
    """Networks that HTTP calls may reach though they are not of the public internet: 10.0.0.0/8, 127.0.0.1 …"""
    containers: dict[str, Any] = {}
    """Fields of `ContainerSettings`: engine, runtime, network, roots, images."""
    queues: list[str] | None = None
    labels: dict[str, str] = {}
    region: str | None = None
    zone: str | None = None
    kind: str | None = None
    cpus: float | None = None
    """What jobs that name their needs may use together; None: what the host has."""
    memory: int | None = None
    gpus: float | None = None
    disk: int | None = None
    max_jobs_per_child: int = 1_000_000
    """A child is replaced by a fresh one after so many jobs. At full speed that is half a minute's worth."""
    max_child_memory: int | None = None
    """Bytes; a child that holds more is replaced once its job has ended."""
    prefetch_seconds: float = 1.0
    """Hold what will start within this time, and no more: other workers may be free."""
    drain_timeout: float = 30.0
    grace: float = 5.0
    """Seconds between SIGTERM and SIGKILL."""
    log_limit: int = 1024 * 1024
    """Bytes of output kept of one attempt: the first half and the last half."""
    files_limit: int = 1024**3
    """Bytes of files that one attempt may leave in its output folder for collection."""

    def __post_init__(self) -> None:
        for field, least in (
            ("slots", 1),
            ("async_slots", 1),
            ("max_jobs_per_child", 1),
            ("prefetch_seconds", 0),
            ("drain_timeout", 0),
            ("grace", 0),
            ("log_limit", _SMALLEST_LOG_LIMIT),
        ):
            if getattr(self, field) < least:
                raise InvalidInput(f"{field}: {getattr(self, field)} is less than {least}", field=field)
        for field in ("cpus", "memory", "gpus", "disk"):
            if (getattr(self, field) or 0) < 0:
                raise InvalidInput(f"{field}: {getattr(self, field)} is less than 0", field=field)
        for field, known in (("kinds", _KINDS), ("unsandboxed", _SANDBOXED)):
            for kind in getattr(self, field):
                if kind not in known:
                    raise InvalidInput(f"{field}: {kind!r} is none of {', '.join(known)}", field=field)
        if not self.name:
            raise InvalidInput("name: must not be empty", field="name")
        if self.max_child_memory is not None and self.max_child_memory < 1:
            raise InvalidInput("max_child_memory: must be more than 0 bytes", field="max_child_memory")


class Connection(msgspec.Struct, frozen=True):
    url: str
    key: str
