"""Object storage for what is too large for a row: a folder by default, S3-compatible by address.

Results lie compressed; files lie as they are, so that a part of one can be asked for and a signed address leads
straight to it. Nothing is ever replaced by something else: results and files carry the attempt in their key, and where
the store honours it they are created on condition that nothing is there. Nothing relies on that.
"""

import asyncio
import gzip
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

import msgspec
import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, NotSupportedError
from obstore.store import LocalStore

from horae.model.errors import Gone, NotReady
from horae.model.ids import created_at
from horae.store.s3 import S3Access, open_store

PIECE: Final = 256 * 1024
BATCH: Final = 500
PROBES: Final = "probes"
DEFAULT_ACCESS: Final = S3Access()


class ObjectsConfig(msgspec.Struct, frozen=True):
    address: str
    """A folder, or a URL such as s3://bucket/prefix."""
    access: S3Access = DEFAULT_ACCESS


class Objects:
    def __init__(self, config: ObjectsConfig) -> None:
        self.address = config.address
        self._access = config.access
        self._opened: Any = None

    @property
    def is_folder(self) -> bool:
        return "://" not in self.address

    def _store(self) -> Any:
        if self._opened is None:
            if self.is_folder:
                folder = Path(self.address)
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                # Every job with a large result has a folder; without this they would stay when their day is dropped.
                self._opened = LocalStore(str(folder.resolve()), automatic_cleanup=True)
            else:
                self._opened = open_store(self.address, self._access)
        return self._opened

    @contextmanager
    def _asking(self, what: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise Gone(f"object storage no longer has {what}") from error
        except (BaseError, OSError, ValueError) as error:
            why = " ".join(str(error).split())[:300]
            raise NotReady(f"object storage at {self.address} failed with {what}: {why}", retry_after=2) from error

    async def put(self, key: str, data: bytes) -> None:
        """Returns once the data is durable. A second put of the same key leaves the first."""
        await self.create(key, await asyncio.to_thread(gzip.compress, data, 1))

    async def get(self, key: str) -> bytes:
        with self._asking(key):
            found = await obstore.get_async(self._store(), key)
            packed = bytes(await found.bytes_async())
        return await asyncio.to_thread(gzip.decompress, packed)

    async def create(self, key: str, data: bytes) -> bool:
        """Stores the data as it is, if nothing is there. Returns whether it was this call that did."""
        with self._asking(key):
            try:
                await obstore.put_async(self._store(), key, data, mode="create")
            except AlreadyExistsError:
                return False
            except NotSupportedError:
                await obstore.put_async(self._store(), key, data)
        return True

    async def exists(self, key: str) -> bool:
        with self._asking(key):
            try:
                await obstore.head_async(self._store(), key)
            except FileNotFoundError:
                return False
        return True

    async def put_pieces(self, key: str, pieces: AsyncIterator[bytes], attributes: dict[str, str]) -> None:
        """Stores what the pieces make; when they raise, nothing is stored. Returns once it is durable."""
        with self._asking(key):
            await obstore.put_async(self._store(), key, pieces, attributes=None if self.is_folder else attributes)

    async def read(self, key: str, start: int, length: int) -> AsyncIterator[bytes]:
        """A part of an object, piece by piece."""
        with self._asking(key):
            if length:
                found = await obstore.get_async(self._store(), key, options={"range": (start, start + length)})
                async for piece in found.stream(min_chunk_size=PIECE):
                    yield bytes(piece)

    async def sign(self, key: str, lifetime: timedelta) -> str | None:
        """An address that gives the object to whoever has it; None when the store can make none."""
        if self.is_folder:
            return None
        with self._asking(key):
            return str(await obstore.sign_async(self._store(), "GET", key, lifetime))

    async def delete(self, keys: Sequence[str]) -> None:
        """Those that are gone already are no fault."""
        size = 1 if self.is_folder else BATCH  # A folder says so when one is gone; S3 takes many at once and does not.
        for start in range(0, len(keys), size):
            batch = list(keys[start : start + size])
            with self._asking(batch[0]), suppress(FileNotFoundError):
                await obstore.delete_async(self._store(), batch)

    async def remove(self, prefix: str) -> int:
        """Removes all objects below a prefix. Returns how many."""
        removed = 0
        with self._asking(prefix):
            async for batch in obstore.list(self._store(), prefix, chunk_size=BATCH):
                keys = [found["path"] for found in batch]
                await obstore.delete_async(self._store(), keys)
                removed += len(keys)
        return removed

    async def probe(self) -> bool:
        """Writes, reads and removes an object. Returns whether the store honours a create on condition."""
        key = f"{PROBES}/{uuid4()}"
        await self.put(key, b"one")
        try:
            honoured = not await self.create(key, b"two")
            if honoured and await self.get(key) != b"one":
                raise NotReady(f"object storage at {self.address} gives back other bytes than it was given")
        finally:
            await self.delete([key])
        return honoured


def results_of_day(day: date) -> str:
    """Output lies by the day of its job's id, so that retention removes a day of it as it drops a day of jobs."""
    return f"results/{day:%Y%m%d}"


def result_key(tenant_id: int, job_id: UUID, attempt: int) -> str:
    """The attempt is part of the key: none can replace another's result."""
    return f"{results_of_day(created_at(job_id).date())}/{tenant_id}/{job_id}/{attempt}"
