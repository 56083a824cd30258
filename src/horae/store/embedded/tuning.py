"""PostgreSQL's settings for a machine it shares with Horae, computed from memory and free disk.

What a crash may not lose is never traded: fsync, full_page_writes and synchronous_commit stay on.

- Few, long checkpoints: after each one, the first change of a page writes the whole page to the log. `max_wal_size` is
  bounded by the free disk, of which the log shall not take more than an eighth.
- Eager vacuum: `ready` and `lease` turn over completely every few seconds.
- No WAL compression unless LZ4 is built in: with pglz the log of a job was no smaller.
- `wal_level=minimal`: an embedded database has no replicas, and its backup is `pg_dump`. Whoever needs more than that
  has a PostgreSQL of their own, and names it with HORAE_DATABASE.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

import psutil

MB = 1024 * 1024
CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


@dataclass(frozen=True, slots=True)
class Machine:
    memory: int
    free_disk: int
    lz4: bool = False
    """Whether this PostgreSQL was built with LZ4."""


def this_machine(data: Path, *, lz4: bool) -> Machine:
    return Machine(_memory(), shutil.disk_usage(data).free, lz4)


def _memory() -> int:
    """A container sees the memory of its host, but may not use it."""
    total = int(psutil.virtual_memory().total)
    try:
        return min(total, int(CGROUP_LIMIT.read_text()))
    except (OSError, ValueError):
        return total


def settings(machine: Machine, *, durable: bool = True) -> dict[str, str]:
    max_wal = _within(machine.free_disk // 8, 256 * MB, 4096 * MB)
    return {
        "shared_buffers": _megabytes(_within(machine.memory // 8, 128 * MB, 2048 * MB)),
        "effective_cache_size": _megabytes(max(machine.memory // 2, 256 * MB)),
        "maintenance_work_mem": _megabytes(_within(machine.memory // 64, 64 * MB, 256 * MB)),
        "max_wal_size": _megabytes(max_wal),
        "min_wal_size": _megabytes(max_wal // 4),
        "checkpoint_timeout": "15min",
        "checkpoint_completion_target": "0.9",
        "wal_level": "minimal",
        "max_wal_senders": "0",
        "wal_compression": "lz4" if machine.lz4 else "off",
        "autovacuum_naptime": "10s",
        "autovacuum_vacuum_cost_delay": "0",
        "autovacuum_max_workers": "3",
        "max_connections": "60",
        "random_page_cost": "1.1",
        "jit": "off",
        "huge_pages": "try",
        "TimeZone": "UTC",
        "log_timezone": "UTC",
        "log_line_prefix": "%m [%p] ",
        **_durability(durable=durable),
    }


def _durability(*, durable: bool) -> dict[str, str]:
    state = "on" if durable else "off"
    return {"fsync": state, "full_page_writes": state, "synchronous_commit": state}


def _within(value: int, low: int, high: int) -> int:
    return max(low, min(value, high))


def _megabytes(size: int) -> str:
    return f"{size // MB}MB"
