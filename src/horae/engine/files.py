"""Files that jobs leave: kept before the attempt completes, seen once it has completed as the one that counts.

A file is named by an opaque id. Its object's key carries tenant, job and attempt, and is known to servers only.
"""

import hashlib
import hmac
from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

import asyncpg
import msgspec

from horae.engine.access import Caller
from horae.engine.clock import Clock
from horae.engine.lifetimes import Lifetimes
from horae.model.durations import parse_duration
from horae.model.errors import Gone, InvalidInput, NotFound, TooLarge, WrongState
from horae.model.files import MAX_FILES, Span, check_file_name, disposition, media_type
from horae.store.files import FileRows, NewFile
from horae.store.objects import Objects, result_key

MAX_BYTES: Final = 16 * 1024**3
"""Of all files of one attempt."""
LONGEST_ADDRESS: Final = timedelta(days=7)


class Upload(msgspec.Struct, frozen=True):
    """A file as a worker announces it."""

    name: str
    size: int
    sha256: str


class Files:
    def __init__(self, rows: FileRows, objects: Objects, lifetimes: Lifetimes, clock: Clock) -> None:
        self._rows = rows
        self._objects = objects
        self._lifetimes = lifetimes
        self._clock = clock

    async def save(
        self, worker_id: int, job_id: UUID, attempt: int, upload: Upload, pieces: AsyncIterator[bytes]
    ) -> UUID:
        """Keeps a file of an attempt that this worker holds. Returns once it is durable."""
        check_file_name(upload.name)
        digest = _read_digest(upload.sha256)
        held = await self._rows.lease_facts(worker_id, job_id, attempt)
        if held is None:
            raise WrongState(f"the worker no longer holds attempt {attempt} of job {job_id}")
        await self._check_room(held.tenant_id, job_id, attempt, upload)
        keep = await self._lifetimes.of(held.tenant_id, held.task)
        key = file_key(held.tenant_id, job_id, attempt, upload.name)
        kind = media_type(upload.name)
        file_id = await self._rows.file_put(
            NewFile(held.tenant_id, job_id, attempt, upload.name, upload.size, digest, kind, key, keep)
        )
        attributes = {"Content-Type": kind, "Content-Disposition": disposition(upload.name)}
        await self._objects.put_pieces(key, checked(pieces, upload.size, digest), attributes)
        await self._rows.file_stored(held.tenant_id, file_id)
        return file_id

    async def _check_room(self, tenant_id: int, job_id: UUID, attempt: int, upload: Upload) -> None:
        files, used = await self._rows.file_room(tenant_id, job_id, attempt, upload.name)
        if files > MAX_FILES:
            raise TooLarge(f"job {job_id} has left {files} files; {MAX_FILES} can be kept")
        if not 0 <= upload.size <= MAX_BYTES - used:
            raise TooLarge(f"the files of job {job_id} would have more than {MAX_BYTES} bytes")

    async def of_job(self, tenant_id: int, job_id: UUID) -> Sequence[asyncpg.Record]:
        return await self._rows.file_list(tenant_id, job_id, MAX_FILES + 1)

    async def find(self, by: Caller, file_id: UUID) -> asyncpg.Record:
        return await self._find(by.tenant_id, file_id)

    async def _find(self, tenant_id: int | None, file_id: UUID) -> asyncpg.Record:
        row = await self._rows.file_get(tenant_id, file_id)
        if row is None:
            raise NotFound(f"there is no file {file_id}")
        if row["expired"]:
            raise Gone(f"file {file_id} was kept for its lifetime and is gone")
        return row

    def read(self, row: asyncpg.Record, span: Span) -> AsyncIterator[bytes]:
        return self._objects.read(row["key"], span.start, span.length)

    async def address(self, by: Caller, file_id: UUID, lifetime: str | float) -> tuple[str, datetime]:
        """An address that needs no key, and until when it leads to the file."""
        lasts = parse_duration(lifetime, "lifetime")
        if not timedelta(seconds=1) <= lasts <= LONGEST_ADDRESS:
            raise InvalidInput(f"lifetime: must be 1 s … {LONGEST_ADDRESS.days} days", field="lifetime")
        row = await self.find(by, file_id)
        until = self._clock.now() + lasts
        url = await self._objects.sign(row["key"], lasts)
        if url is None:
            expires = str(int(until.timestamp()))
            signed = {"expires": expires, "signature": await self._sign(file_id, expires)}
            url = f"/v1/files/{file_id}/content?{urlencode(signed)}"
        return url, until

    async def signed(self, file_id: UUID, expires: str, signature: str) -> asyncpg.Record:
        """The file of an address that this installation signed."""
        good = hmac.compare_digest((await self._sign(file_id, expires)).encode(), signature.encode())
        if not good or int(expires) <= self._clock.now().timestamp():
            raise NotFound("the address is not one that was given, or its time is over; ask for another")
        return await self._find(None, file_id)

    async def _sign(self, file_id: UUID, expires: str) -> str:
        secret = await self._rows.signing_key()
        return hmac.new(secret, f"{file_id} {expires}".encode(), hashlib.sha256).hexdigest()


def file_key(tenant_id: int, job_id: UUID, attempt: int, name: str) -> str:
    """The same for the same file sent again. The name is hashed: no path of a job's making reaches the store."""
    return f"{result_key(tenant_id, job_id, attempt)}.files/{hashlib.sha256(name.encode()).hexdigest()[:32]}"


async def checked(pieces: AsyncIterator[bytes], size: int, digest: bytes) -> AsyncIterator[bytes]:
    """The pieces, as long as they are what was announced. Raising before the end leaves nothing stored."""
    seen, count = hashlib.sha256(), 0
    async for piece in pieces:
        count += len(piece)
        if count > size:
            raise TooLarge(f"the file is larger than the {size} bytes that were announced")
        seen.update(piece)
        yield piece
    if count != size or seen.digest() != digest:
        raise InvalidInput("the file is not the one that was announced: its size or SHA-256 differs")


def _read_digest(text: str) -> bytes:
    try:
        digest = bytes.fromhex(text)
    except ValueError:
        digest = b""
    if len(digest) != hashlib.sha256().digest_size:
        raise InvalidInput("sha256: must be 64 hexadecimal digits", field="sha256")
    return digest
