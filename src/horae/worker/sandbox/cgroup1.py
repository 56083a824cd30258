"""Control groups of version 1: each controller has a tree of its own, and a group is one folder in each of them."""

import contextlib
import os
from pathlib import Path
from typing import Final

from horae.worker.sandbox.cgroups import HELPERS, Group, Reading, kill_each, parse_keyed, read_text
from horae.worker.sandbox.limits import Bounds

_PERIOD: Final = 100_000
NEEDED: Final = ("memory", "pids", "cpu", "cpuacct", "freezer")
USEFUL: Final = ("blkio",)


class Group1:
    def __init__(self, folders: dict[str, Path]) -> None:
        self._folders = folders
        self._alarm: int | None = None
        self._alarms = 0

    @property
    def entrances(self) -> list[str]:
        return [str(folder / "cgroup.procs") for folder in set(self._folders.values())]

    def make(self, bounds: Bounds) -> None:
        for folder in set(self._folders.values()):
            folder.mkdir()
        self.limit(bounds)
        self._watch_memory(self._folders["memory"])

    def limit(self, bounds: Bounds) -> None:
        memory, cpu, pids = (self._folders[name] for name in ("memory", "cpu", "pids"))
        # Memory alone is never more than memory and swap together, so one of the two must be changed first. Where the
        # kernel does not account for swap, the other is all there is.
        for name in ("memory.memsw.limit_in_bytes", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"):
            with contextlib.suppress(OSError):
                (memory / name).write_text(str(bounds.memory))
        if int(read_text(memory / "memory.limit_in_bytes") or 0) > bounds.memory:
            raise OSError(f"the memory limit of {memory} cannot be set")
        (cpu / "cpu.cfs_period_us").write_text(str(_PERIOD))
        (cpu / "cpu.cfs_quota_us").write_text(str(max(1000, int(bounds.cpu * _PERIOD))))
        (pids / "pids.max").write_text(str(bounds.processes + HELPERS))

    def _watch_memory(self, folder: Path) -> None:
        """The kernel counts a kill in the group of the victim alone, which may be one that a container engine has made
        below ours and removed. That our limit was reached, it tells us by this."""
        self._alarm = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        control = os.open(folder / "memory.oom_control", os.O_RDONLY)
        try:
            (folder / "cgroup.event_control").write_text(f"{self._alarm} {control}")
        finally:
            os.close(control)

    def pids(self) -> list[int]:
        return [int(pid) for pid in read_text(self._folders["freezer"] / "cgroup.procs").split()]

    def read(self) -> Reading:
        nanoseconds = self._text("cpuacct", "cpuacct.usage").strip()
        peak = self._text("memory", "memory.max_usage_in_bytes").strip()
        read, written = parse_blkio(self._text("blkio", "blkio.throttle.io_service_bytes_recursive"))
        return Reading(
            cpu=int(nanoseconds) / 1e9 if nanoseconds else None,
            peak_memory=int(peak) if peak else None,
            read_bytes=read,
            written_bytes=written,
            ooms=max(self._heard(), parse_keyed(self._text("memory", "memory.oom_control")).get("oom_kill", 0)),
            refused=parse_keyed(self._text("pids", "pids.events")).get("max", 0),
        )

    def kill(self) -> None:
        # Frozen processes cannot fork while we go through them. They die when they are thawed.
        state = self._folders["freezer"] / "freezer.state"
        with contextlib.suppress(OSError):
            state.write_text("FROZEN")
        kill_each(self.pids())
        with contextlib.suppress(OSError):
            state.write_text("THAWED")

    def remove(self) -> None:
        for folder in set(self._folders.values()):
            with contextlib.suppress(FileNotFoundError):
                folder.rmdir()
        if self._alarm is not None:
            os.close(self._alarm)
            self._alarm = None

    def _heard(self) -> int:
        if self._alarm is not None:
            with contextlib.suppress(BlockingIOError):
                self._alarms += os.eventfd_read(self._alarm)
        return self._alarms

    def _text(self, controller: str, name: str) -> str:
        folder = self._folders.get(controller)
        return read_text(folder / name) if folder else ""


class Hierarchy1:
    def __init__(self, mounts: dict[str, tuple[Path, str]], own: dict[str, str]) -> None:
        """`own`: the group that is to be the parent, for each controller; where none is given, the root."""
        self._mounts = mounts
        self._base = {name: _below(*mounts[name], own.get(name, mounts[name][1])) for name in mounts}

    def create(self, name: str, bounds: Bounds) -> Group:
        group = Group1(self._folders(name))
        try:
            group.make(bounds)
        except OSError:
            group.remove()
            raise
        return group

    def group(self, name: str) -> Group:
        return Group1(self._folders(name))

    def names(self) -> set[str]:
        return {entry.name for base in self._base.values() for entry in base.iterdir() if entry.is_dir()}

    def group_of(self, pid: int) -> Group | None:
        paths = parse_membership(read_text(Path(f"/proc/{pid}/cgroup")))
        folders = {name: _below(*self._mounts[name], paths[name]) for name in self._mounts if name in paths}
        return Group1(folders) if folders else None

    def _folders(self, name: str) -> dict[str, Path]:
        return {controller: base / name for controller, base in self._base.items()}


def find(mountinfo: str, own: dict[str, str]) -> Hierarchy1 | None:
    """None unless every controller that limits need is there."""
    mounts: dict[str, tuple[Path, str]] = {}
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.partition(" ")
        if kind == "cgroup":
            fields = before.split()
            for controller in options.rpartition(" ")[2].split(","):
                if controller in NEEDED + USEFUL:
                    mounts.setdefault(controller, (Path(fields[4]), fields[3]))
    if not set(NEEDED) <= set(mounts):
        return None
    return Hierarchy1(mounts, own)


def parse_membership(text: str) -> dict[str, str]:
    """Controller → path, of /proc/PID/cgroup."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        found |= dict.fromkeys(controllers.split(","), path)
    return found


def parse_blkio(text: str) -> tuple[int | None, int | None]:
    read = written = 0
    for line in text.splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[1] == "Read":
            read += int(fields[2])
        elif len(fields) == 3 and fields[1] == "Write":
            written += int(fields[2])
    return (read, written) if text else (None, None)


def _below(mount: Path, root: str, path: str) -> Path:
    """In a container the tree is mounted from the container's own group on, whose name the path may begin with."""
    inside = path.removeprefix(root) if root != "/" else path
    return mount / inside.lstrip("/")
