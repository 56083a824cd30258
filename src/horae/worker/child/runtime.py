"""What a task's Context can do in a worker, and what its attempt used."""

import contextlib
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from horae.client.context import Context
from horae.model.work import NOTE_CHARACTERS, Finished, Grant
from horae.worker.child.desk import Desk
from horae.worker.child.verdict import clean
from horae.worker.messages import Noted, Piece

MEASURED_SECONDS: Final = 0.05
"""Shorter jobs are not measured: it would cost more than it tells."""


class JobRuntime:
    def __init__(self, seq: int, desk: Desk, cancelled: Callable[[int], bool], moving: Callable[[int], bool]) -> None:
        self._seq = seq
        self._desk = desk
        self._cancelled = cancelled
        self._moving = moving
        self._secrets: dict[str, str] | None = None

    def cancelled(self) -> bool:
        return self._cancelled(self._seq)

    def moving(self) -> bool:
        return self._moving(self._seq)

    def progress(self, done: float, total: float | None, note: str | None) -> None:
        self._desk.note(Noted(self._seq, float(done), total, None if note is None else clean(note[:NOTE_CHARACTERS])))

    def partial(self, data: bytes) -> None:
        self._desk.send(Piece(self._seq, msgspec.Raw(data)))

    def checkpoint(self, data: bytes) -> None:
        self._desk.save(self._seq, data)

    def secrets(self) -> dict[str, str]:
        if self._secrets is None:
            self._secrets = self._desk.secrets(self._seq)
        return self._secrets


def make_context(grant: Grant, runtime: JobRuntime, monotonic: float) -> Context:
    return Context(
        job_id=grant.id,
        attempt=grant.attempt,
        max_attempts=grant.max_attempts,
        task=grant.task,
        runtime=runtime,
        deadline=None if grant.timeout is None else monotonic + grant.timeout,
        saved=bytes(grant.checkpoint) if grant.checkpoint else None,
    )


class Meter:
    """CPU time and peak memory since the last reading, this process and the ended ones below it."""

    def __init__(self) -> None:
        self._cpu = 0.0
        self.reset()

    def reset(self) -> None:
        self._cpu = _cpu_seconds()

    def read(self, finished: Finished) -> None:
        finished.cpu = max(0.0, _cpu_seconds() - self._cpu)
        finished.peak_memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        self.reset()
        # Makes the kernel forget the peak, so that the next job's is its own. Some containers forbid it.
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_bytes(b"5")


def _cpu_seconds() -> float:
    own, below = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + below.ru_utime + below.ru_stime
