"""What a runner gets of the agent, and what it gives back.

A runner's promise: when `run` returns or raises, whatever the reason, nothing of the job is left on the host: no
process, no cgroup, no mount, no container. The errand's folder is removed by the agent afterwards.
"""

import asyncio
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import msgspec

from horae.model.kinds import Kind
from horae.model.states import End
from horae.model.work import Grant, JobError, Usage
from horae.wire.briefs import Brief

__all__ = ["Errand", "Outcome", "Readiness", "Runner", "StopOrder", "Usage"]


class Outcome(msgspec.Struct, kw_only=True):
    """How a run ended, in the runner's words."""

    end: End = End.SUCCEEDED
    result: bytes | None = None
    """JSON, of any size."""
    error: JobError | None = None
    retry_after: float | None = None
    usage: Usage = msgspec.field(default_factory=Usage)


class StopOrder(msgspec.Struct, frozen=True):
    """The job is to stop: cancelled, moved, out of time. After `grace` seconds it may be killed."""

    end: End
    text: str
    grace: float

    def outcome(self) -> Outcome:
        """Of a job that it kept from beginning."""
        return Outcome(end=self.end, error=JobError(self.end.value, self.text))


class Errand(Protocol):
    grant: Grant
    brief: Brief
    folder: Path
    """The attempt's own, mode 0700, on the host. `folder / "output"` is where files for collection go."""
    mark: str
    """AGENT/JOB/ATTEMPT. Whatever the runner starts carries it: processes in their environment, as HORAE_ERRAND."""
    stop: "asyncio.Future[StopOrder]"
    """Done once the job is to stop. The runner ends what it runs and returns; its own end wins if it came first."""

    def write(self, stream: str, data: bytes) -> None:
        """Output: `stdout`, `stderr` or `system`. Masked and bounded on its way."""

    def progress(self, done: float, total: float | None, note: str | None) -> None: ...

    async def checkpoint(self, data: bytes) -> None:
        """Returns once the JSON is durable."""

    def partial(self, data: bytes) -> None:
        """A piece of the result, JSON, for those who watch the job while it runs."""

    def preparing(self) -> AbstractContextManager[None]:
        """While an image is pulled or an environment is made: that has a limit of its own, and the job's `timeout`
        counts the job alone."""

    def guard(self, pid: int) -> None:
        """If the agent dies, this process and all below it are killed."""

    def unguard(self, pid: int) -> None:
        """To be called before the process is reaped."""


class Readiness(msgspec.Struct, frozen=True):
    """Whether this host can run a kind. A worker joins only with the kinds that are ready."""

    ready: bool
    isolation: str = ""
    reason: str = ""
    """What is missing, and what to do about it."""


class Runner(Protocol):
    kind: Kind

    async def prepare(self) -> Readiness:
        """Called once at the start: finds its tools, removes what a crashed agent left."""

    async def run(self, errand: Errand) -> Outcome: ...

    async def close(self) -> None: ...
