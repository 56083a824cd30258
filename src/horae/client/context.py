"""What a running task knows about its job, and what it can tell the outside.

A Context holds plain values and a `Runtime`. The worker's child process and the inline mode each implement that
protocol, so a task cannot tell where it runs.
"""

import asyncio
import logging
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Protocol, TypeVar

import msgspec

from horae.client.outcomes import Cancelled, NoSecret, Unserialisable
from horae.model.errors import TooLarge
from horae.model.job import MAX_PIECE_BYTES

T = TypeVar("T")


class Runtime(Protocol):
    def cancelled(self) -> bool:
        """True once somebody asked the job to stop, or its time is up."""
        ...

    def moving(self) -> bool:
        """True once the job is asked to stop so that it can go on elsewhere."""
        ...

    def progress(self, done: float, total: float | None, note: str | None) -> None:
        """May drop all but the latest."""
        ...

    def checkpoint(self, data: bytes) -> None:
        """Returns once the JSON is stored durably. Called from any thread."""
        ...

    def partial(self, data: bytes) -> None:
        """Sends JSON to those who watch the job. Called from any thread."""
        ...

    def secrets(self) -> Mapping[str, str]:
        """Those that the task names. Called from any thread; raises NoSecret when they cannot be had."""
        ...


class Context:
    def __init__(
        self,
        *,
        job_id: str,
        attempt: int,
        max_attempts: int,
        task: str,
        runtime: Runtime,
        deadline: float | None = None,
        saved: bytes | None = None,
    ) -> None:
        self.job_id = job_id
        self.attempt = attempt
        """This attempt's number: a fence. A write that names it can be refused once a later attempt has begun."""
        self.max_attempts = max_attempts
        self.task = task
        self.deadline = deadline
        """`time.monotonic()` at which this attempt is stopped."""
        self._runtime = runtime
        self._saved = saved

    @property
    def log(self) -> logging.Logger:
        """A logger named after the task."""
        return logging.getLogger(self.task)

    @property
    def idempotency_key(self) -> str:
        """The same in every attempt: give it to services that refuse a second call with the same key."""
        return self.job_id

    @property
    def remaining(self) -> timedelta | None:
        """How long this attempt may still run; None without a timeout."""
        if self.deadline is None:
            return None
        return timedelta(seconds=max(0.0, self.deadline - time.monotonic()))

    @property
    def cancelled(self) -> bool:
        return self._runtime.cancelled()

    @property
    def moving(self) -> bool:
        """Whether the job stops here to go on at another worker, from its last checkpoint."""
        return self._runtime.moving()

    def raise_if_cancelled(self) -> None:
        if self.cancelled:
            raise Cancelled(f"job {self.job_id} was asked to stop")

    def progress(self, done: float, total: float | None = None, note: str | None = None) -> None:
        self._runtime.progress(done, total, note)

    def checkpoint(self, data: Any) -> None:
        """Stores `data` (anything msgspec writes as JSON) for later attempts; returns once it is durable."""
        encoded = _encode(data, "checkpoint")
        self._runtime.checkpoint(encoded)
        self._saved = encoded

    def partial(self, data: Any) -> None:
        """Gives a piece of the result (anything msgspec writes as JSON) to those who watch the job while it runs.

        A piece is at most 64 KiB; what comes faster than 100 a second is left out.
        """
        encoded = _encode(data, "partial")
        if len(encoded) > MAX_PIECE_BYTES:
            raise TooLarge(f"partial: {len(encoded)} bytes are more than {MAX_PIECE_BYTES}; give smaller pieces")
        self._runtime.partial(encoded)

    async def acheckpoint(self, data: Any) -> None:
        """The same for coroutines: other tasks of the loop go on meanwhile."""
        await asyncio.to_thread(self.checkpoint, data)

    def secret(self, name: str) -> str:
        """One of the secrets that the task names: `@app.task(secrets=["NAME"])`. It is masked in all that comes out."""
        known = self._runtime.secrets()
        if name not in known:
            raise NoSecret(f"the task does not name the secret {name!r}: declare it with @app.task(secrets=[{name!r}])")
        return known[name]

    async def asecret(self, name: str) -> str:
        """The same for coroutines: other tasks of the loop go on meanwhile."""
        return await asyncio.to_thread(self.secret, name)

    @property
    def saved(self) -> Any:
        """The latest checkpoint as plain JSON values, or None."""
        return self.load_checkpoint(Any)

    def load_checkpoint(self, type: type[T] | Any = Any) -> T | Any:  # noqa: A002 - reads as msgspec's own `type=`
        """The latest checkpoint converted to `type`, or None when no attempt saved one."""
        return None if self._saved is None else msgspec.json.decode(self._saved, type=type)


def _encode(data: Any, what: str) -> bytes:
    try:
        return msgspec.json.encode(data)
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise Unserialisable(f"{what}: the data cannot be written as JSON: {error}") from error
