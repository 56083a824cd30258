"""Bugs of workers."""

import subprocess
import sys
from typing import Any

from horae.worker.courier import Courier
from horae.worker.deadman import DeadMan
from horae.worker.heart import Heart
from horae.worker.lease import Lease
from horae.worker.process import Child
from horae.worker.results import Results


def never_fenced() -> None:
    """Neither the agent nor its keeper ends what runs when the lease is over."""
    Lease.over = False
    DeadMan.extend = lambda self, until: None


def heart_apart() -> None:
    """A process that knows nothing of the agent keeps the lease alive, whatever becomes of the agent."""
    run = Heart.run

    async def apart(self: Heart, joined: Any, lease: Lease) -> None:
        link = self._link
        key = link._headers["Authorization"]
        address = f"{link._base}/{joined.worker_id}/heartbeat"
        command = [sys.executable, "-m", f"{__package__}.pacemaker", address, key, str(joined.heartbeat_seconds)]
        # Without our pipes, by which others see that we have ended.
        subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        await run(self, joined, lease)

    Heart.run = apart


def crash_forgotten() -> None:
    """A job whose process dies is no longer held, and nobody is told."""

    def forget(self: Results, child: Child, status: int) -> None:
        child.jobs.clear()

    Results._account = forget


def report_forgotten() -> None:
    """Ends whose report got no good answer are not reported again."""
    broken = Courier._broken

    def forget(self: Courier, number: int, batch: list[Any], error: BaseException) -> None:
        broken(self, number, [], error)

    Courier._broken = forget
