"""What a runner sees of the agent while it carries out one errand, and what the agent keeps of it.

Nothing that a job says leaves the worker before it went through the masker; checkpoints alone stay as they are, for the
next attempt must find what this one left.
"""

import asyncio
import contextlib
import math
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from horae.model.errors import WrongState
from horae.model.work import NOTE_CHARACTERS, Grant, Progress
from horae.wire.briefs import Brief
from horae.worker.child.verdict import clean
from horae.worker.clock import now
from horae.worker.errands.errand import Errand, StopOrder
from horae.worker.logs import JobLog
from horae.worker.masking import Masker


class Guard(Protocol):
    """Ends processes when the agent cannot."""

    def guard(self, pid: int) -> None: ...
    def unguard(self, pid: int) -> None: ...


class Services(NamedTuple):
    """What errands use of the agent."""

    wrote: Callable[[JobLog, str, bytes], None]
    piece: Callable[[JobLog, bytes], None]
    progress: dict[str, Progress]
    save: Callable[[Grant, msgspec.Raw], Awaitable[str | None]]
    """Says why a checkpoint was refused, or None once it is durable."""
    guard: Guard
    collect: Callable[[Errand], Awaitable[object]]
    """Stores what is in the output folder."""
    log_limit: int


class Presence:
    def __init__(
        self, grant: Grant, brief: Brief, folder: Path, mark: str, stop: "asyncio.Future[StopOrder]", services: Services
    ) -> None:
        self.grant = grant
        self.brief = brief
        self.folder = folder
        self.mark = mark
        self.stop = stop
        self._services = services
        self.masker = Masker(brief.secrets)
        self.log: JobLog | None = None
        """None as long as nothing was written."""
        self.guarded: set[int] = set()
        self.had_processes = False
        self.preparing_since: float | None = None
        self.prepared = 0.0
        """Seconds that went into getting ready."""

    @contextlib.contextmanager
    def preparing(self) -> Iterator[None]:
        self.preparing_since = now()
        try:
            yield
        finally:
            self.prepared += now() - self.preparing_since
            self.preparing_since = None

    def write(self, stream: str, data: bytes) -> None:
        self._give_out(stream, self.masker.mask(stream, data))

    def flush(self) -> None:
        """What the masker kept back. To be called when nothing more will be written."""
        for stream in ("stdout", "stderr", "system"):
            self._give_out(stream, self.masker.flush(stream))

    def _give_out(self, stream: str, data: bytes) -> None:
        if data:
            self._services.wrote(self._the_log(), stream, data)

    def _the_log(self) -> JobLog:
        if self.log is None:
            self.log = JobLog(self.grant, self._services.log_limit)
        return self.log

    def progress(self, done: float, total: float | None, note: str | None) -> None:
        if not math.isfinite(done) or (total is not None and not math.isfinite(total)):
            return
        # Cut short after it was masked, so that no half of a secret is left at its end.
        words = None if note is None else clean(self.masker.mask_text(note))[:NOTE_CHARACTERS]
        self._services.progress[self.grant.id] = Progress(self.grant.id, self.grant.attempt, done, total, words)

    async def checkpoint(self, data: bytes) -> None:
        refusal = await self._services.save(self.grant, msgspec.Raw(data))
        if refusal is not None:
            raise WrongState(refusal)

    def partial(self, data: bytes) -> None:
        self._services.piece(self._the_log(), self.masker.mask_json(data))

    def guard(self, pid: int) -> None:
        self.had_processes = True
        self.guarded.add(pid)
        self._services.guard.guard(pid)

    def unguard(self, pid: int) -> None:
        self.guarded.discard(pid)
        self._services.guard.unguard(pid)
