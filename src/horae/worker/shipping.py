"""Sends the output of jobs to the server, soon after it was printed, and all of it before the job's completion.

Output never holds up anything else: when it cannot be sent, completions go ahead after PATIENCE, and what does not fit
into memory is left out and counted.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

import structlog

from horae.model.errors import HoraeError, WorkerGone
from horae.model.work import Finished
from horae.wire.workers import LogChunk, LogUpload
from horae.worker.backoff import Backoff
from horae.worker.clock import now
from horae.worker.link import Link, is_refusal
from horae.worker.logs import PARTIAL, JobLog

log = structlog.get_logger()
PATIENCE: Final = 3.0
_INTERVAL: Final = 0.25
_MOST_HELD: Final = 16 * 1024 * 1024
_LARGEST_UPLOAD: Final = 1024 * 1024
_MOST_CHUNKS: Final = 1000


class Shipper:
    def __init__(self, link: Link, release: Callable[[list[Finished]], None]) -> None:
        self._link = link
        self._release_jobs = release
        self._dirty: dict[int, JobLog] = {}
        self._ending: dict[int, JobLog] = {}
        self._held = 0
        self._any = asyncio.Event()
        self._urgent = asyncio.Event()

    def wrote(self, job_log: JobLog, stream: str, data: bytes) -> None:
        if self._held > _MOST_HELD:
            job_log.leave_out(len(data))
            return
        self._held += job_log.add(stream, data)
        self._mark(job_log)

    def piece(self, job_log: JobLog, data: bytes) -> None:
        """A piece of the job's result."""
        self.wrote(job_log, PARTIAL, data)

    def ended(self, finished: Finished, job_log: JobLog) -> None:
        job_log.finished, job_log.ended_at = finished, now()
        self._ending[id(job_log)] = job_log
        self._mark(job_log)
        self._urgent.set()

    def _mark(self, job_log: JobLog) -> None:
        self._dirty[id(job_log)] = job_log
        self._any.set()

    def reset(self) -> None:
        self._dirty.clear()
        self._ending.clear()
        self._held = 0

    @property
    def idle(self) -> bool:
        return not self._ending

    def tick(self) -> None:
        """Lets completions go whose output could not be sent in time."""
        latest = now() - PATIENCE
        for job_log in [job_log for job_log in self._ending.values() if job_log.ended_at < latest]:
            self._release(job_log)

    async def run(self) -> None:
        while True:
            await self._any.wait()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_INTERVAL):
                    await self._urgent.wait()
            self._urgent.clear()
            await self._ship()

    async def _ship(self) -> None:
        logs, self._dirty = list(self._dirty.values()), {}
        self._any.clear()
        closing = [job_log for job_log in logs if job_log.finished is not None]
        chunks: list[LogChunk] = []
        size = 0
        for job_log in logs:
            taken, taken_bytes = job_log.take()
            chunks += taken
            size += taken_bytes
            if job_log.lingering:
                self._mark(job_log)
        for batch in _batches(chunks):
            await self._upload(batch)
        self._held -= size
        for job_log in closing:
            self._release(job_log)

    async def _upload(self, chunks: list[LogChunk]) -> None:
        backoff = Backoff()
        while True:
            try:
                await self._link.post("logs", LogUpload(chunks))
            except WorkerGone:
                raise
            except HoraeError as error:
                log.warning("log_upload_failed", chunks=len(chunks), error=str(error))
                if is_refusal(error):
                    return
            else:
                return
            await backoff.wait()

    def _release(self, job_log: JobLog) -> None:
        if self._ending.pop(id(job_log), None) is not None and job_log.finished is not None:
            self._release_jobs([job_log.finished])


def _batches(chunks: list[LogChunk]) -> list[list[LogChunk]]:
    batches: list[list[LogChunk]] = []
    room = 0
    for chunk in chunks:
        room -= len(chunk.text)
        if room < 0 or len(batches[-1]) >= _MOST_CHUNKS:
            batches.append([])
            room = _LARGEST_UPLOAD - len(chunk.text)
        batches[-1].append(chunk)
    return batches
