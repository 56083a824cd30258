"""Runs an App's jobs in this process, for users' own unit tests: no server, no worker, no waiting.

It stands in for the server below the clients, as their transport. So `submit`, handles, JSON encoding and errors are
the real ones, and a job that passes here has made the same round trip as in production. Differences that remain:
attempts are not stopped at their timeout, retries do not wait, and later jobs run when the test says so.
"""

import io
import logging
import sys
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from datetime import datetime
from typing import Any, Final, TextIO

from horae.client.app import App
from horae.client.calls import Call
from horae.client.client import AsyncClient, Client
from horae.client.discovery import Connection
from horae.client.inline_job import RUNNING, InlineJob
from horae.client.inline_server import InlineServer
from horae.client.options import Instant, instant
from horae.client.transport import Answer
from horae.model.job import check_instant

__all__ = ["InlineJob", "InlineRun", "inline"]

_CONNECTION: Final = Connection("inline://", "inline")


@contextmanager
def inline(app: App, *, secrets: Mapping[str, str] | None = None) -> Iterator["InlineRun"]:
    """`with inline(app) as run:` – jobs that are due run at once, the others with `run.until(…)` or `run.drain()`.

    `secrets` are what `ctx.secret` gives; those that are not there are looked for in the environment.
    """
    server = InlineServer(app.tasks, secrets or {})
    former = app.clients.swap(
        Client(connection=_CONNECTION, transport=InlineTransport(server)),
        AsyncClient(connection=_CONNECTION, transport=AsyncInlineTransport(server)),
    )
    try:
        with _captured(app):
            yield InlineRun(server)
    finally:
        app.clients.swap(*former)


class InlineRun:
    """The jobs of one `with inline(…)` block, and its time."""

    def __init__(self, server: InlineServer) -> None:
        self._server = server

    @property
    def jobs(self) -> list[InlineJob]:
        return list(self._server.jobs.values())

    @property
    def now(self) -> datetime:
        return self._server.now

    def until(self, when: Instant) -> None:
        """Moves the time on to `when` and runs what is due by then, in order."""
        end = _checked(when)
        for job in self._due(end):
            job.run()
        self._server.now = max(self.now, end)

    async def auntil(self, when: Instant) -> None:
        """The same for async tasks that belong to the running event loop."""
        end = _checked(when)
        for job in self._due(end):
            await job.run_async()
        self._server.now = max(self.now, end)

    def drain(self) -> None:
        """Runs everything that is left, moving the time on as far as it takes."""
        for job in self._due(None):
            job.run()

    async def adrain(self) -> None:
        for job in self._due(None):
            await job.run_async()

    def _due(self, end: datetime | None) -> Iterator[InlineJob]:
        while job := self._server.next_due(end):
            self._server.now = max(self.now, job.run_at)
            yield job


class InlineTransport:
    def __init__(self, server: InlineServer) -> None:
        self._server = server

    def send(self, call: Call[Any], timeout: float) -> Answer:
        answer = self._server.answer(call)
        while job := self._server.next_due(self._server.now):
            job.run()
        return answer

    def stream(self, call: Call[Any], timeout: float) -> Generator[Answer | bytes, None, None]:
        yield from self._server.stream(call)

    def close(self) -> None: ...


class AsyncInlineTransport:
    def __init__(self, server: InlineServer) -> None:
        self._server = server

    async def send(self, call: Call[Any], timeout: float) -> Answer:
        answer = self._server.answer(call)
        while job := self._server.next_due(self._server.now):
            await job.run_async()
        return answer

    async def stream(self, call: Call[Any], timeout: float) -> AsyncGenerator[Answer | bytes, None]:
        for piece in self._server.stream(call):
            yield piece

    async def close(self) -> None: ...


@contextmanager
def _captured(app: App) -> Iterator[None]:
    """Copies what jobs print and log into their own logs; everything still goes where it went before."""
    handler = _JobHandler()
    levels = {name: logging.getLogger(name).level for name in app.tasks}
    for name, level in levels.items():
        logging.getLogger(name).addHandler(handler)
        logging.getLogger(name).setLevel(level or logging.INFO)
    try:
        with redirect_stdout(_Tee("stdout", sys.stdout)), redirect_stderr(_Tee("stderr", sys.stderr)):
            yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).removeHandler(handler)
            logging.getLogger(name).setLevel(level)


class _JobHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if job := RUNNING.get():
            job.write("stderr", self.format(record) + "\n")


class _Tee(io.TextIOBase):
    def __init__(self, stream: str, beyond: TextIO) -> None:
        self._stream = stream
        self._beyond = beyond

    def write(self, text: str) -> int:
        # `print` writes its line's end on its own.
        if (job := RUNNING.get()) and text.strip():
            job.write(self._stream, text.rstrip("\n") + "\n")
        return self._beyond.write(text)

    def flush(self) -> None:
        self._beyond.flush()


def _checked(when: Instant) -> datetime:
    end = instant(when, "when")
    assert end is not None  # noqa: S101 - only None becomes None
    return check_instant(end, "when")
