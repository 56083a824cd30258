"""Ends whole process trees. Standard library only: the keeper lives on it.

A child is a subreaper, so whatever its jobs start stays below it, even when it forks twice and calls setsid. The root
is stopped first: it can then neither fork nor reap, and what is below it only shrinks while we kill. Descendants may
still fork between two looks, so we look until nothing alive is left.

A second net for what has lost its parent: every process below an agent inherits an environment mark.
"""

import ctypes
import os
import signal
import time
from pathlib import Path
from typing import Final, NamedTuple

_PR_SET_CHILD_SUBREAPER: Final = 36
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PATIENCE: Final = 5.0
"""A process in an uninterruptible sleep dies when the kernel lets it; we do not wait for that longer than this."""


class Process(NamedTuple):
    pid: int
    state: str
    started: float
    """Seconds of CLOCK_BOOTTIME, rounded down to a tick."""

    @property
    def alive(self) -> bool:
        return self.state not in "ZX"


def become_subreaper() -> None:
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def look(pid: int) -> Process | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return Process(pid, fields[0], int(fields[19]) / _TICKS)


def children_of(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (thread / "children").read_text().split())
    except OSError:
        pass  # It ended while we looked.
    return found


def descendants(pid: int) -> list[Process]:
    """All processes below `pid` that are alive."""
    found: list[Process] = []
    todo = children_of(pid)
    while todo:
        below = todo.pop()
        todo += children_of(below)
        process = look(below)
        if process is not None and process.alive:
            found.append(process)
    return found


def marked(mark: str) -> list[int]:
    """Every process of the host that inherited this `NAME=value` in its environment; `NAME=value/`: and all below."""
    needle = mark.encode() + (b"" if mark.endswith("/") else b"\0")
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [pid for pid in pids if needle in _environment(pid)]


def carries(pid: int, mark: str) -> bool:
    return mark.encode() + b"\0" in _environment(pid)


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def send(pid: int, number: signal.Signals) -> bool:
    """Whether it was there, and ours to send to."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def end_descendants(pid: int) -> None:
    give_up = time.monotonic() + _PATIENCE
    while (below := descendants(pid)) and time.monotonic() < give_up:
        for process in below:
            send(process.pid, signal.SIGKILL)
        time.sleep(0.001)


def end_tree(pid: int) -> None:
    send(pid, signal.SIGSTOP)
    end_descendants(pid)
    send(pid, signal.SIGKILL)


def end_marked(mark: str) -> None:
    give_up = time.monotonic() + _PATIENCE
    while (pids := marked(mark)) and time.monotonic() < give_up:
        for pid in pids:
            send(pid, signal.SIGKILL)
        time.sleep(0.001)
