"""What passes between server and worker about one job: a grant down, an end up."""

from typing import Annotated, Final

import msgspec

from horae.model.states import End


class JobError(msgspec.Struct, omit_defaults=True):
    """Why an attempt did not succeed. `kind` is the exception's class, or `timeout`, `crash`, `exit` …"""

    kind: str
    message: str
    traceback: str | None = None


NOTE_CHARACTERS: Final = 500
"""The most that a worker sends of a note: heartbeats carry the notes of all its jobs."""


class Progress(msgspec.Struct, omit_defaults=True):
    id: str
    attempt: int
    done: float
    total: float | None = None
    note: str | None = None


class Grant(msgspec.Struct, kw_only=True, omit_defaults=True, gc=False):
    """A job given to a worker. (`id`, `attempt`) is its fence: every write about it must name both."""

    id: str
    lane: int
    """Opaque to the worker; the completion carries it back so that the server finds the lease at once."""
    attempt: int
    task: str
    params: msgspec.Raw
    kind: str = ""
    """Of a task that is data: the worker asks for a brief before it starts. Empty for functions."""
    timeout: float | None = None
    """Seconds one attempt may run."""
    max_attempts: int = 5
    checkpoint: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    """What an earlier attempt saved with `ctx.checkpoint`."""
    slots: int = 1
    """How many of the worker's slots it takes while it runs, and how much of the rest."""
    cpu: float = 0.0
    memory: int = 0
    gpu: float = 0.0
    disk: int = 0


Amount = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class Usage(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What an attempt of a task that is data used, and how well it was shut in."""

    isolation: str = ""
    """The level reached: `bubblewrap+seccomp+cgroup`, `podman+seccomp+cgroup`, `none` …; empty: no word."""
    cpu: float | None = None
    """CPU seconds."""
    peak_memory: Amount | None = None
    """Bytes, as the next two."""
    read_bytes: Amount | None = None
    written_bytes: Amount | None = None
    version: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)] | None = None
    """Of the task, as it ran; the agent fills it in."""


class Finished(msgspec.Struct, kw_only=True, omit_defaults=True, gc=False):
    """The end of one attempt, as the worker saw it."""

    id: str
    lane: int
    attempt: int
    end: End = End.SUCCEEDED
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    """JSON; at most 32 KiB. Larger ones are uploaded first and named by `blob`."""
    blob: int | None = None
    """Size in bytes of the uploaded result."""
    error: JobError | None = None
    retry_after: float | None = None
    """The task asked to be tried again after this many seconds."""
    waited: float = 0.0
    """Seconds between receiving the grant and starting it (the worker has no wall clock of its own)."""
    took: float = 0.0
    """Seconds it ran."""
    cpu: float | None = None
    """CPU seconds used, children included, where it was measured."""
    peak_memory: int | None = None
    """Bytes."""
    progress: Progress | None = None
    """The last word on how far it got, if no heartbeat has told it yet."""
    usage: Usage | None = None
    """Of tasks that are data only; functions tell `cpu` and `peak_memory` above."""


class CancelOrder(msgspec.Struct, omit_defaults=True):
    id: str
    attempt: int
    reason: str = ""
    move: bool = False
    """Stop it so that it can go on elsewhere."""
