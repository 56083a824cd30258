"""What the host offers to jobs: found by looking, unless the settings say otherwise."""

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from horae.worker.config import AgentConfig
from horae.worker.load import total_memory

_GPU: Final = re.compile(r"nvidia\d+")


class Resources(NamedTuple):
    """What jobs can use up. Jobs that name none of it take none of it."""

    cpu: float
    memory: int
    gpu: float
    disk: int


def resources(config: AgentConfig) -> Resources:
    return Resources(
        _cpus() if config.cpus is None else config.cpus,
        _memory() if config.memory is None else config.memory,
        _gpus() if config.gpus is None else config.gpus,
        _disk() if config.disk is None else config.disk,
    )


def _cpus() -> int:
    return len(os.sched_getaffinity(0))


def _memory() -> int:
    """The host's, or less when a container may use less."""
    total = total_memory() or 0
    try:
        return min(total, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):
        return total


def _gpus() -> int:
    try:
        return sum(bool(_GPU.fullmatch(device.name)) for device in Path("/dev").iterdir())
    except OSError:
        return 0


def _disk() -> int:
    """What is free where temporary files go."""
    try:
        return shutil.disk_usage(tempfile.gettempdir()).free
    except OSError:
        return 0
