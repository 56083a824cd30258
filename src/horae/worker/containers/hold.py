"""How the supervisor acts on a container, and what it can see of it.

The first process of a container is the engine's init: it passes signals on, it cannot be killed from inside, and when
it is killed from outside the kernel ends all others. Like the engine's own program it carries the errand's mark.

What a job uses is counted in its control groups. Where the engine puts its own below one of ours, ours still has the
sums when the engine's is gone. Elsewhere the engine's is read while the container runs, and the last look counts.
"""

import asyncio
import signal
from pathlib import Path

import msgspec

from horae.model.work import JobError
from horae.worker import tree
from horae.worker.containers.disk import Disk
from horae.worker.errands.quarters import MARK
from horae.worker.sandbox.cgroups import Group, Hierarchy, Reading
from horae.worker.sandbox.limits import Bounds
from horae.worker.sandbox.supervisor import Process
from horae.worker.sandbox.verdicts import Facts, reached_limit


class Meter:
    def __init__(self, hierarchy: Hierarchy | None, group: Group | None) -> None:
        self._hierarchy = hierarchy
        self._group = group
        """Ours, around the engine's."""
        self._inner: Group | None = None
        self._last = Reading()

    def read(self, pid: int | None) -> Reading:
        """`pid`: the first process of the container."""
        if self._inner is None and self._hierarchy is not None and pid is not None:
            self._inner = self._hierarchy.group_of(pid)
        inside = self._inner.read() if self._inner is not None else Reading()
        if inside.cpu is not None:
            self._last = inside
        if self._group is None:
            return self._last
        outside = self._group.read()
        # In version 1 a fork that was refused is counted where it was tried, and nowhere above.
        return msgspec.structs.replace(outside, refused=max(outside.refused, self._last.refused))


class ContainerHold:
    def __init__(self, mark: str, client: Process, pid_file: Path | None, meter: Meter, bounds: Bounds, disk: Disk):
        self._mark = f"{MARK}={mark}"
        self._client = client
        self._pid_file = pid_file
        self._meter = meter
        self._bounds = bounds
        self._disk = disk
        self._pid: int | None = None

    def terminate(self) -> None:
        """To the init of the container, which passes it on; so does the engine's program, but not in its first moments:
        there it would die of it, and the job would be killed without its time to end.
        """
        if self.pid is None or not tree.send(self.pid, signal.SIGTERM):
            tree.send(self._client.pid, signal.SIGTERM)

    async def kill(self) -> None:
        if not self._client.exited.done():
            await asyncio.to_thread(tree.end_marked, self._mark)

    def breach(self) -> JobError | None:
        return reached_limit(self.facts())

    def facts(self) -> Facts:
        return Facts(self._bounds, self._meter.read(self.pid), self._disk.full, self._disk.memory)

    @property
    def pid(self) -> int | None:
        """Of the container's first process; None until it has one."""
        if self._pid is None:
            self._pid = self._find_pid()
        return self._pid

    def _find_pid(self) -> int | None:
        if self._pid_file is None:
            return next((pid for pid in tree.marked(self._mark) if pid != self._client.pid), None)
        try:
            return int(self._pid_file.read_text())
        except (OSError, ValueError):
            return None
