"""Output: what jobs make while and after they run: logs, checkpoints, results."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

import asyncpg
import msgspec

from horae.engine.watch import Ended, Watch, within
from horae.model.errors import InvalidInput, TooLarge, WrongState
from horae.model.job import MAX_RESULT_BYTES
from horae.model.states import State
from horae.store.jobs import Jobs
from horae.store.objects import Objects, result_key
from horae.store.workers import Workers

MAX_CHECKPOINT_BYTES: Final = 1024 * 1024
MAX_CHUNK_BYTES: Final = 256 * 1024
STREAMS: Final = frozenset({"stdout", "stderr", "system"})


class Chunk(msgspec.Struct, frozen=True):
    lane: int
    id: str
    attempt: int
    seq: int
    stream: str
    text: str


class Output:
    def __init__(self, jobs: Jobs, workers: Workers, objects: Objects, watch: Watch) -> None:
        self._jobs = jobs
        self._workers = workers
        self._objects = objects
        self._watch = watch

    async def append_logs(self, worker_id: int, chunks: Sequence[Chunk]) -> None:
        rows = [
            (c.lane, c.id, c.attempt, c.seq, c.stream if c.stream in STREAMS else "stdout",
             c.text[:MAX_CHUNK_BYTES].replace("\x00", "\N{REPLACEMENT CHARACTER}"))
            for c in chunks
        ]  # fmt: skip
        if rows:
            await self._workers.log_append(worker_id, rows)

    async def log_page(self, tenant_id: int, job_id: UUID, after: tuple[int, int], limit: int) -> list[asyncpg.Record]:
        return await self._workers.log_page(tenant_id, job_id, after, limit)

    async def save_checkpoint(self, worker_id: int, lane_id: int, job_id: str, attempt: int, data: bytes) -> None:
        if len(data) > MAX_CHECKPOINT_BYTES:
            raise TooLarge(f"checkpoint: {len(data)} bytes are more than {MAX_CHECKPOINT_BYTES}")
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise InvalidInput("checkpoint: not UTF-8") from error
        if not await self._workers.checkpoint_save(worker_id, lane_id, job_id, attempt, text):
            raise WrongState(f"the worker no longer holds attempt {attempt} of job {job_id}")

    async def save_result(self, worker_id: int, job_id: UUID, attempt: int, data: bytes) -> None:
        """Keeps a large result before its completion. Its key carries the attempt: no attempt can replace another's."""
        if len(data) > MAX_RESULT_BYTES:
            raise TooLarge(f"result: {len(data)} bytes are more than {MAX_RESULT_BYTES}")
        tenant_id = await self._workers.lease_holds(worker_id, job_id, attempt)
        if tenant_id is None:
            raise WrongState(f"the worker no longer holds attempt {attempt} of job {job_id}")
        await self._objects.put(result_key(tenant_id, job_id, attempt), data)

    async def result(self, tenant_id: int, job_id: UUID, wait: float) -> Ended | None:
        """How a job ended, its large result fetched; waits for the end if it has to. None: it has not ended."""
        with self._watch.watching(tenant_id, str(job_id)) as end:
            ended = await self._ended(tenant_id, job_id)
            if ended is None and wait > 0:
                ended = await within(end, wait)
        if ended is None:
            return None
        if ended.blob is not None:
            data = await self._objects.get(result_key(tenant_id, job_id, ended.attempt))
            ended = msgspec.structs.replace(ended, result=data.decode())
        return ended

    async def _ended(self, tenant_id: int, job_id: UUID) -> Ended | None:
        row = await self._jobs.result_get(tenant_id, job_id)
        if row is None:
            return None
        return Ended(State(row["outcome"]), row["result"], row["error"], row["blob"], row["attempt"])
