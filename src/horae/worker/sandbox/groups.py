"""Control groups that engines make and forget.

A runtime makes the parent that we name in every tree the host has, also in those that limit nothing and in which we
have made no group ourselves. It removes only what it makes below.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from horae.worker.sandbox.cgroups import PREFIX, kill_each, read_text

_KINDS: Final = ("cgroup", "cgroup2")
_PATIENCE: Final = 5.0


def remove_everywhere(name: str) -> None:
    """Of an ended container."""
    for tree in _trees():
        _remove(tree / name)


def sweep_everywhere(agent: str) -> None:
    """Of all containers of an agent that is dead, and its other groups, below whatever group it was in itself.

    Until none is found: an engine that was killed may have been about to make one.
    """
    give_up = time.monotonic() + _PATIENCE
    beginning = f"{PREFIX}-{agent}-"
    while (found := [one for one in all_groups() if one.name.startswith(beginning)]) and time.monotonic() < give_up:
        for group in found:
            _remove(group)


def _remove(folder: Path) -> None:
    """With the engine's own below it, if the engine was killed before it could, and with what still runs in them:
    a process that was killed holds its group a moment longer than it can be seen."""
    give_up = time.monotonic() + _PATIENCE
    while folder.exists() and time.monotonic() < give_up:
        groups = _within(folder)
        kill_each([int(pid) for group in groups for pid in read_text(group / "cgroup.procs").split()])
        for group in sorted(groups, reverse=True):
            with contextlib.suppress(OSError):
                group.rmdir()
        time.sleep(0.001)


def all_groups() -> Iterator[Path]:
    """All that there are on the host, whoever made them."""
    for tree in _trees():
        yield from _within(tree)


def _within(folder: Path) -> list[Path]:
    """Itself and all below it. Groups come and go meanwhile, which os.walk bears and Path.rglob does not."""
    return [Path(group) for group, _, _ in os.walk(folder)]


def _trees() -> Iterator[Path]:
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        if after.partition(" ")[0] in _KINDS:
            yield Path(before.split()[4])
