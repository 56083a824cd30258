"""The agent's end of a launcher: starts it ahead of time, sends it its order, gets the box."""

import contextlib
import marshal
import os
import signal
import socket
import sys
from typing import Any, Final

import msgspec

from horae.worker import tree
from horae.worker.sandbox import launcher
from horae.worker.sandbox.cgroups import Group
from horae.worker.sandbox.limits import Bounds
from horae.worker.sandbox.supervisor import Process

_STATUS_BYTES: Final = 4096


class Launcher:
    def __init__(self, group: Group | None) -> None:
        self.group = group
        """The control group that it joins at once."""
        self.first: int | None = None
        """The first process of the sandbox, once `job_status` was asked. It comes to us when bubblewrap has ended, for
        an agent is a subreaper, and nobody else reaps it."""
        self._socket, theirs = socket.socketpair()
        self._status, status = os.pipe()
        os.set_blocking(self._status, False)
        command = [sys.executable, "-I", "-S", launcher.__file__, str(theirs.fileno()), str(status)]
        command += group.entrances if group else []
        self.process = Process(command, environment={}, pass_fds=(theirs.fileno(), status), cwd="/")
        theirs.close()
        os.close(status)

    @property
    def alive(self) -> bool:
        return not self.process.exited.done()

    def send(self, order: dict[str, Any], bounds: Bounds) -> None:
        if self.group is not None:
            self.group.limit(bounds)
        file = os.memfd_create("order", os.MFD_CLOEXEC)
        with os.fdopen(file, "wb") as opened:
            opened.write(marshal.dumps(order))
            opened.flush()
            # If it has died, `Process` knows.
            with contextlib.suppress(OSError):
                socket.send_fds(self._socket, [b"o"], [file])

    def receive_box(self) -> int | None:
        """A descriptor of what the job could write; None when it never came to that."""
        self._socket.settimeout(0)
        with contextlib.suppress(OSError):
            received = socket.recv_fds(self._socket, 1, 1)[1]
            return received[0] if received else None
        return None

    def job_status(self) -> int | None:
        """The exit status of the job itself, as bubblewrap saw it; None when it has not started it."""
        with contextlib.suppress(OSError):
            for line in os.read(self._status, _STATUS_BYTES).splitlines():
                said = msgspec.json.decode(line, type=dict[str, int])
                self.first = said.get("child-pid", self.first)
                if (status := said.get("exit-code")) is not None:
                    return status
        return None

    def close(self) -> None:
        self._socket.close()
        os.close(self._status)

    async def dismiss(self) -> None:
        """Of one that has got no order."""
        tree.send(self.process.pid, signal.SIGKILL)
        await self.process.exited
        self.process.reap()
        self.process.close()
        self.close()
