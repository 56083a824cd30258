"""How much a job may use: what its task says, else what it asked of the worker, else a modest default."""

import resource
from typing import Final

import msgspec

from horae.model.kinds import Limits
from horae.model.sizes import parse_size
from horae.model.work import Grant

_MIB: Final = 1024 * 1024
DEFAULT_CPU: Final = 1.0
DEFAULT_MEMORY: Final = 512 * _MIB
DEFAULT_PROCESSES: Final = 128
DEFAULT_OPEN_FILES: Final = 256
DEFAULT_DISK: Final = 256 * _MIB


class Bounds(msgspec.Struct, kw_only=True, frozen=True):
    cpu: float = DEFAULT_CPU
    memory: int = DEFAULT_MEMORY
    processes: int = DEFAULT_PROCESSES
    open_files: int = DEFAULT_OPEN_FILES
    disk: int = DEFAULT_DISK


def bounds_of(limits: Limits | None, grant: Grant) -> Bounds:
    limits = limits or Limits()
    return Bounds(
        cpu=limits.cpu or grant.cpu or DEFAULT_CPU,
        memory=_size(limits.memory, "limits.memory") or grant.memory or DEFAULT_MEMORY,
        processes=limits.processes or DEFAULT_PROCESSES,
        open_files=limits.open_files or DEFAULT_OPEN_FILES,
        disk=_size(limits.disk, "limits.disk") or grant.disk or DEFAULT_DISK,
    )


def _size(value: str | int | None, field: str) -> int | None:
    return None if value is None else parse_size(value, field)


def rlimits(bounds: Bounds, *, grouped: bool) -> list[tuple[int, int]]:
    """For the process itself. Without a cgroup they must also stand in for it, as well as they can: memory is then
    counted for each process alone, and processes for the user."""
    limits = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, bounds.open_files),
        (resource.RLIMIT_FSIZE, bounds.disk),
        (resource.RLIMIT_MEMLOCK, 64 * 1024),
        (resource.RLIMIT_MSGQUEUE, 0),
    ]
    if not grouped:
        limits += [(resource.RLIMIT_AS, bounds.memory), (resource.RLIMIT_NPROC, bounds.processes)]
    return limits
