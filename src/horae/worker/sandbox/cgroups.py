"""One control group for each errand: its limits, its use, and a way to kill all of it at once.

Version 1 and version 2 differ in files and in tree, not in what we want of them: `Group` is that. Groups are made below
the agent's own, and their names say whose they are, so that what a dead agent left is found and removed, while the
groups of another living one on the host are left alone.
"""

import contextlib
import signal
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Protocol

import msgspec

from horae.worker import tree
from horae.worker.sandbox.limits import Bounds

PREFIX: Final = "horae"
HELPERS: Final = 2
"""Processes of the sandbox itself, which the job's limit does not count: bubblewrap has two."""
_PATIENCE: Final = 10.0


class Reading(msgspec.Struct, frozen=True):
    cpu: float | None = None
    """Seconds."""
    peak_memory: int | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None
    ooms: int = 0
    """Processes that the kernel has killed because the group had reached its memory limit."""
    refused: int = 0
    """Times that a process was not made because the group had reached its limit."""


class Group(Protocol):
    @property
    def entrances(self) -> list[str]:
        """A process is in the group once it has written its pid into each of these files."""

    def limit(self, bounds: Bounds) -> None:
        """Changes its limits."""

    def pids(self) -> list[int]: ...

    def read(self) -> Reading: ...

    def kill(self) -> None:
        """Sends SIGKILL to every process of it, in such a way that none can fork itself out of reach."""

    def remove(self) -> None:
        """Of an empty group. A group that is gone already is fine."""


class Hierarchy(Protocol):
    def create(self, name: str, bounds: Bounds) -> Group: ...

    def group(self, name: str) -> Group: ...

    def names(self) -> set[str]:
        """Of the groups below the agent's own."""

    def group_of(self, pid: int) -> Group | None:
        """The group in which a process is already, such as a container engine's; None when it is gone."""


def group_name(agent: str, job: str, attempt: int) -> str:
    return f"{PREFIX}-{agent}-{job}-{attempt}"


def clear(group: Group) -> None:
    """Kills until nothing is left, then removes. Blocks: for a thread."""
    give_up = time.monotonic() + _PATIENCE
    while group.pids() and time.monotonic() < give_up:
        group.kill()
        time.sleep(0.001)
    while True:
        try:
            group.remove()
        except OSError:
            # Processes that were killed leave the group a moment after they cannot be seen any more.
            if time.monotonic() > give_up:
                raise
            time.sleep(0.001)
        else:
            return


def sweep(hierarchy: Hierarchy, dead: Iterable[str]) -> int:
    """Removes the groups of agents that are gone, with what is in them."""
    beginnings = tuple(f"{PREFIX}-{agent}-" for agent in dead)
    left = [name for name in hierarchy.names() if name.startswith(beginnings)]
    for name in left:
        with contextlib.suppress(OSError):
            clear(hierarchy.group(name))
    return len(left)


def kill_each(pids: list[int]) -> None:
    for pid in pids:
        tree.send(pid, signal.SIGKILL)


def parse_keyed(text: str) -> dict[str, int]:
    """`name number` a line, as the kernel writes its counts."""
    pairs = (line.split() for line in text.splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def read_text(path: Path) -> str:
    """Empty when there is no such file: kernels and hierarchies differ in what they offer."""
    try:
        return path.read_text()
    except OSError:
        return ""
