"""Output: what jobs make while and after they run: logs, checkpoints, results."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

import asyncpg
import msgspec

from horae import failpoints
from horae.engine.lifetimes import REMOVED, Lifetimes, gone
from horae.engine.sinks import Sinks
from horae.engine.watch import Ended, Watch, within
from horae.model.errors import InvalidInput, TooLarge, WrongState
from horae.model.job import MAX_PIECE_BYTES, MAX_RESULT_BYTES
from horae.model.states import State
from horae.store.files import FileRows, NewFile
from horae.store.jobs import Jobs
from horae.store.objects import Objects, result_key
from horae.store.workers import Workers

MAX_CHECKPOINT_BYTES: Final = 1024 * 1024
MAX_CHUNK_BYTES: Final = 256 * 1024
PARTIAL: Final = "partial"
"""The stream of partial results, which lie beside the log: they come, stay and go with it. A chunk is a piece."""
STREAMS: Final = frozenset({"stdout", "stderr", "system", PARTIAL})


class Chunk(msgspec.Struct, frozen=True):
    lane: int
    id: str
    attempt: int
    seq: int
    stream: str
    text: str


class Output:
    def __init__(
        self,
        jobs: Jobs,
        workers: Workers,
        files: FileRows,
        objects: Objects,
        watch: Watch,
        lifetimes: Lifetimes,
        sinks: Sinks,
    ) -> None:
        self._jobs = jobs
        self._workers = workers
        self._files = files
        self._objects = objects
        self._watch = watch
        self._lifetimes = lifetimes
        self._sinks = sinks

    async def append_logs(self, worker_id: int, chunks: Sequence[Chunk]) -> None:
        rows = [
            (c.lane, c.id, c.attempt, c.seq, c.stream if c.stream in STREAMS else "stdout",
             c.text[:MAX_CHUNK_BYTES].replace("\x00", "\N{REPLACEMENT CHARACTER}"))
            for c in chunks
            if c.stream != PARTIAL or _is_piece(c.text)
        ]  # fmt: skip
        if rows:
            await self._workers.log_append(worker_id, rows)

    async def log_page(self, tenant_id: int, job_id: UUID, after: tuple[int, int], limit: int) -> list[asyncpg.Record]:
        return await self._workers.log_page(tenant_id, job_id, after, limit)

    async def partial_page(
        self, tenant_id: int, job_id: UUID, after: tuple[int, int], limit: int
    ) -> list[asyncpg.Record]:
        return await self._workers.partial_page(tenant_id, job_id, after, limit)

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
        """Keeps a result and writes its sink, before the completion. No attempt can replace another's."""
        if len(data) > MAX_RESULT_BYTES:
            raise TooLarge(f"result: {len(data)} bytes are more than {MAX_RESULT_BYTES}")
        held = await self._files.lease_facts(worker_id, job_id, attempt)
        if held is None:
            raise WrongState(f"the worker no longer holds attempt {attempt} of job {job_id}")
        keep = await self._lifetimes.of(held.tenant_id, held.task)
        key = result_key(held.tenant_id, job_id, attempt)
        await self._files.file_put(NewFile(held.tenant_id, job_id, attempt, None, len(data), None, None, key, keep))
        failpoints.reach("object.before_put")
        await self._objects.put(key, data)
        failpoints.reach("object.after_put")
        await self._sinks.write(held, job_id, data)

    async def result(self, tenant_id: int, job_id: UUID, wait: float) -> Ended | None:
        """How a job ended, its large result fetched; waits for the end if it has to. None: it has not ended."""
        with self._watch.watching(tenant_id, str(job_id)) as end:
            ended = await self._ended(tenant_id, job_id)
            if ended is None and wait > 0:
                ended = await within(end, wait)
        if ended is None:
            return None
        if ended.blob == REMOVED:
            raise gone(job_id)
        if ended.blob is not None:
            data = await self._objects.get(result_key(tenant_id, job_id, ended.attempt))
            ended = msgspec.structs.replace(ended, result=data.decode())
        return ended

    async def _ended(self, tenant_id: int, job_id: UUID) -> Ended | None:
        row = await self._jobs.result_get(tenant_id, job_id)
        if row is None:
            return None
        return Ended(State(row["outcome"]), row["result"], row["error"], row["blob"], row["attempt"])


def _is_piece(text: str) -> bool:
    """Only JSON of a piece's size is one: it goes to readers as it is."""
    try:
        msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return len(text) <= MAX_PIECE_BYTES and "\x00" not in text
