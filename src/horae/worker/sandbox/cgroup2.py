"""Control groups of version 2: one tree. A group that has children with controllers may hold no process itself, so the
agent moves into a child of its own group first (systemd must have delegated that group: `Delegate=yes`)."""

import contextlib
import os
from pathlib import Path
from typing import Final

from horae.worker import tree
from horae.worker.sandbox.cgroups import HELPERS, Group, Reading, kill_each, parse_keyed, read_text
from horae.worker.sandbox.limits import Bounds

_PERIOD: Final = 100_000
NEEDED: Final = frozenset({"memory", "pids", "cpu"})
USEFUL: Final = frozenset({"io"})
AGENT_GROUP: Final = "horae-agent"
_NOT_IN_ROOT: Final = "cgroup.events"
"""A file of every group but the root, which may have processes and children at once."""


class Group2:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def entrances(self) -> list[str]:
        return [str(self._folder / "cgroup.procs")]

    def make(self, bounds: Bounds) -> None:
        self._folder.mkdir()
        self.limit(bounds)

    def limit(self, bounds: Bounds) -> None:
        quota = max(1000, int(bounds.cpu * _PERIOD))
        self._set("memory.max", bounds.memory)
        self._set("cpu.max", f"{quota} {_PERIOD}")
        self._set("pids.max", bounds.processes + HELPERS)
        for name, value in (("memory.swap.max", 0), ("memory.oom.group", 1)):
            with contextlib.suppress(OSError):  # Neither is there on every kernel.
                self._set(name, value)

    def pids(self) -> list[int]:
        return [int(pid) for pid in read_text(self._folder / "cgroup.procs").split()]

    def read(self) -> Reading:
        microseconds = parse_keyed(self._text("cpu.stat")).get("usage_usec")
        peak = self._text("memory.peak").strip()
        read, written = parse_io(self._text("io.stat"))
        return Reading(
            cpu=None if microseconds is None else microseconds / 1e6,
            peak_memory=int(peak) if peak else None,
            read_bytes=read,
            written_bytes=written,
            ooms=parse_keyed(self._text("memory.events")).get("oom_kill", 0),
            refused=parse_keyed(self._text("pids.events")).get("max", 0),
        )

    def kill(self) -> None:
        try:
            self._set("cgroup.kill", 1)
        except OSError:
            kill_each(self.pids())  # Before Linux 5.14; the caller does it until nobody is left.

    def remove(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._folder.rmdir()

    def _set(self, name: str, value: str | int) -> None:
        (self._folder / name).write_text(str(value))

    def _text(self, name: str) -> str:
        return read_text(self._folder / name)


class Hierarchy2:
    def __init__(self, mount: Path, root: str, base: Path) -> None:
        self._mount = mount
        self._root = root
        self._base = base

    def create(self, name: str, bounds: Bounds) -> Group:
        group = Group2(self._base / name)
        try:
            group.make(bounds)
        except OSError:
            group.remove()
            raise
        return group

    def group(self, name: str) -> Group:
        return Group2(self._base / name)

    def names(self) -> set[str]:
        return {entry.name for entry in self._base.iterdir() if entry.is_dir()}

    def group_of(self, pid: int) -> Group | None:
        path = own_path(read_text(Path(f"/proc/{pid}/cgroup")))
        return None if path is None else Group2(_below(self._mount, self._root, path))

    def settle(self) -> None:
        """Moves the agent out of the way and hands the controllers on. Raises OSError where that is not allowed, or
        where others are in the group as well: it is not for us to move them."""
        wanted = NEEDED | (USEFUL & set(read_text(self._base / "cgroup.controllers").split()))
        if wanted <= set(read_text(self._base / "cgroup.subtree_control").split()):
            return
        if (self._base / _NOT_IN_ROOT).exists():
            self._move_agent()
        (self._base / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in sorted(wanted)))

    def _move_agent(self) -> None:
        (self._base / AGENT_GROUP).mkdir(exist_ok=True)
        ours = {os.getpid(), *(process.pid for process in tree.descendants(os.getpid()))}
        for pid in ours & set(Group2(self._base).pids()):
            with contextlib.suppress(ProcessLookupError):
                (self._base / AGENT_GROUP / "cgroup.procs").write_text(str(pid))


def find(mountinfo: str, path: str | None) -> Hierarchy2 | None:
    """None unless the tree has every controller that limits need. `path`: the parent-to-be; None: the root."""
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        if after.startswith("cgroup2 "):
            fields = before.split()
            mount, root = Path(fields[4]), fields[3]
            base = _below(mount, root, path or root)
            # An agent that has settled before is in the child of its own making.
            base = base.parent if base.name == AGENT_GROUP else base
            if set(read_text(base / "cgroup.controllers").split()) >= NEEDED:
                return Hierarchy2(mount, root, base)
    return None


def own_path(membership: str) -> str | None:
    return next((line[3:] for line in membership.splitlines() if line.startswith("0::")), None)


def parse_io(text: str) -> tuple[int | None, int | None]:
    read = written = 0
    for field in text.split():
        name, _, value = field.partition("=")
        read += int(value) if name == "rbytes" else 0
        written += int(value) if name == "wbytes" else 0
    return (read, written) if text else (None, None)


def _below(mount: Path, root: str, path: str) -> Path:
    inside = path.removeprefix(root) if root != "/" else path
    return mount / inside.lstrip("/")
