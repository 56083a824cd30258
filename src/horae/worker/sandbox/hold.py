"""How the supervisor acts on a job in the sandbox, and what it can see of it."""

import os
import signal

from horae.model.work import JobError
from horae.worker import tree
from horae.worker.sandbox.box import Box
from horae.worker.sandbox.cgroups import Reading
from horae.worker.sandbox.launching import Launcher
from horae.worker.sandbox.limits import Bounds
from horae.worker.sandbox.verdicts import Facts, reached_limit


class JobHold:
    def __init__(self, launcher: Launcher, bounds: Bounds, *, shut_in: bool) -> None:
        self._launcher = launcher
        self._group = launcher.group
        self._bounds = bounds
        self._shut_in = shut_in
        self._box: Box | None = None

    @property
    def box(self) -> Box | None:
        """None until the launcher has made it."""
        if self._box is None and (descriptor := self._launcher.receive_box()) is not None:
            self._box = Box(descriptor)
        return self._box

    def terminate(self) -> None:
        """Bubblewrap passes no signal on. Below it is the first process of the sandbox, which ignores them, and leads
        the group that the job is in."""
        pid = self._launcher.process.pid
        leaders = tree.children_of(pid) if self._shut_in else [pid]
        asked = [_signal_group(leader, signal.SIGTERM) for leader in leaders]
        if not any(asked):
            tree.send(pid, signal.SIGKILL)  # There is no job yet that could be asked.

    async def kill(self) -> None:
        pid = self._launcher.process.pid
        if self._group is not None:
            self._group.kill()
        # With the first process of the sandbox all others end: it is their whole world.
        for below in tree.children_of(pid):
            tree.send(below, signal.SIGKILL)
        tree.send(pid, signal.SIGKILL)

    def breach(self) -> JobError | None:
        return reached_limit(self.facts())

    def facts(self) -> Facts:
        reading = self._group.read() if self._group else Reading()
        box = self.box
        return Facts(self._bounds, reading, box.full, box.used) if box else Facts(self._bounds, reading)

    def close(self) -> None:
        if self.box is not None:
            self.box.close()


def _signal_group(leader: int, number: signal.Signals) -> bool:
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
