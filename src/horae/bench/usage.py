"""What processes cost: processor time and memory, by the part of Horae that they belong to."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

MB = 1024 * 1024


class Usage(NamedTuple):
    cpu: float
    """Seconds, of processes that ended meanwhile too."""
    peak: int
    """Bytes: the most that one of the processes held at once."""

    def minus(self, earlier: "Usage") -> "Usage":
        return Usage(self.cpu - earlier.cpu, self.peak)


def own_usage(pid: int) -> Usage:
    """Of one process without its children."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        times = process.cpu_times()
        return Usage(times.user + times.system, _peak(process))
    return Usage(0.0, 0)


def children_usage(pid: int) -> Usage:
    """Of all that a process started, those that it has buried included."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        return _sum([_buried(process), *(_with_buried(child) for child in process.children(recursive=True))])
    return Usage(0.0, 0)


def tree_usage(pid: int) -> Usage:
    return _sum([own_usage(pid), children_usage(pid)])


def memory(pid: int) -> int:
    """Bytes that a process holds now."""
    return int(psutil.Process(pid).memory_info().rss)


def _with_buried(process: psutil.Process) -> Usage:
    with suppress(psutil.NoSuchProcess):
        return _sum([own_usage(process.pid), _buried(process)])
    return Usage(0.0, 0)


def _buried(process: psutil.Process) -> Usage:
    times = process.cpu_times()
    return Usage(times.children_user + times.children_system, 0)


def _sum(parts: Iterable[Usage]) -> Usage:
    cpu, peaks = zip(*parts, strict=True)
    return Usage(sum(cpu), max(peaks))


def _peak(process: psutil.Process) -> int:
    """The kernel's own record where it keeps one (Linux), else what is held now."""
    with suppress(OSError):
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return int(process.memory_info().rss)
