"""Sinks: a tabular result goes to Parquet or to a PostgreSQL table too, once for each job whatever fails.

A result of a task with a sink is uploaded whatever its size, and the server writes the sink before it answers the
upload; only then can the worker complete the job. What was written tells a later attempt that it was: the object that
is there, or the marker row that came into the target database in the same transaction as the rows.
"""

import asyncio
import io
from collections.abc import Awaitable, Sequence
from typing import Any, Final, Protocol
from urllib.parse import quote
from uuid import UUID

import structlog

from horae.engine.tasks import Tasks
from horae.model.addresses import Network
from horae.model.errors import InvalidInput, NotFound, NotReady, UnknownTask
from horae.model.kinds import Sink
from horae.model.tabular import Row, column_names, read_rows
from horae.store.files import LeaseFacts
from horae.store.objects import Objects
from horae.store.sinks import append_rows

log = structlog.get_logger()

SECONDS: Final = 45.0
"""The worker waits for a minute."""
FOLDER: Final = "tables"
"""In object storage. The tenant follows, so that none writes among another's."""


class Revealing(Protocol):
    def reveal(self, tenant_id: int, names: Sequence[str]) -> Awaitable[dict[str, str]]: ...


class Sinks:
    def __init__(self, objects: Objects, tasks: Tasks, secrets: Revealing, allowed: Sequence[Network] = ()) -> None:
        """`allowed`: networks of databases that may be reached beside the public internet."""
        self._objects = objects
        self._allowed = allowed
        self._tasks = tasks
        self._secrets = secrets

    async def write(self, held: LeaseFacts, job_id: UUID, data: bytes) -> None:
        """Writes the result of a job whose lease the caller has checked, if its task has a sink and nobody has."""
        sink = await self._sink(held)
        if sink is None:
            return
        rows = await asyncio.to_thread(read_rows, data)
        try:
            async with asyncio.timeout(SECONDS):
                written = await self._write(held, sink, job_id, rows)
        except TimeoutError as error:
            raise NotReady(f"the sink of task {held.task} took longer than {SECONDS:g} s", retry_after=5) from error
        log.info("sink_written" if written else "sink_was_written", job=str(job_id), task=held.task, rows=len(rows))

    async def _sink(self, held: LeaseFacts) -> Sink | None:
        try:
            return (await self._tasks.find(held.tenant_id, held.task)).definition.sink
        except UnknownTask:
            return None

    async def _write(self, held: LeaseFacts, sink: Sink, job_id: UUID, rows: list[Row]) -> bool:
        """Returns whether it was this call that wrote."""
        if sink.parquet is not None:
            key = parquet_key(held.tenant, sink.parquet, job_id)
            if await self._objects.exists(key):
                return False
            return await self._objects.create(key, await asyncio.to_thread(parquet, rows))
        if sink.table is None or sink.dsn_secret is None:
            raise InvalidInput(f"the sink of task {held.task} names neither a prefix nor a table with its secret")
        dsn = await self._dsn(held, sink.dsn_secret)
        return await append_rows(dsn, sink.table, job_id, rows, self._allowed)

    async def _dsn(self, held: LeaseFacts, name: str) -> str:
        try:
            giver = await self._tasks.giver(held.tenant_id, held.task)
            return (await self._secrets.reveal(giver, [name]))[name].strip()
        except NotFound as error:
            raise InvalidInput(f"the sink of task {held.task}: {error.detail}") from error


def parquet_key(tenant: str, prefix: str, job_id: UUID) -> str:
    """A tenant is one step of the way, whatever its name: `a` with the prefix b/c must not write among `a/b`."""
    return f"{FOLDER}/{quote(tenant, safe=':')}/{prefix.strip('/')}/{job_id}.parquet"


def parquet(rows: list[Row]) -> bytes:
    """The rows as a Parquet file; a column's type is what its values have in common."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped] # it has no types
        from pyarrow.parquet import write_table  # type: ignore[import-untyped]
    except ModuleNotFoundError as error:
        raise InvalidInput(
            "sinks to Parquet need pyarrow on the servers: pip install 'horae[sinks]' there, and start them again"
        ) from error
    columns: dict[str, Any] = {}
    for name in column_names(rows):
        try:
            columns[name] = pa.array([row.get(name) for row in rows])
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise InvalidInput(f"the values of column {name[:80]!r} have no common type: {str(error)[:200]}") from error
    buffer = io.BytesIO()
    try:
        write_table(pa.table(columns), buffer, compression="zstd")
    except pa.ArrowException as error:
        raise InvalidInput(f"the result cannot be written as Parquet: {str(error)[:200]}") from error
    return buffer.getvalue()
