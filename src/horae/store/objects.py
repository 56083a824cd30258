"""Object storage for what is too large for a row: a folder by default, S3-compatible by address.

Results lie compressed; files lie as they are, so that a part of one can be asked for and a signed address leads
straight to it. Nothing is ever replaced by something else: results and files carry the attempt in their key, and where
the store honours it they are created on condition that nothing is there. Nothing relies on that.
"""

import asyncio
import gzip
from collections.abc import AsyncIterator, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Final
from uuid import UUID, uuid4

import msgspec
from obstore.exceptions import BaseError

from horae.model.errors import Gone, NotReady
from horae.model.ids import created_at
from horae.store.bucket import Bucket
from horae.store.folder import Folder
from horae.store.s3 import S3Access

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
        self._opened: Bucket | Folder | None = None

    def _store(self) -> Bucket | Folder:
        if self._opened is None:
            is_url = "://" in self.address
            self._opened = Bucket(self.address, self._access) if is_url else Folder(Path(self.address))
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
            packed = await self._store().get(key)
        return await asyncio.to_thread(gzip.decompress, packed)

    async def create(self, key: str, data: bytes) -> bool:
        """Stores the data as it is, if nothing is there. Returns whether it was this call that did."""
        with self._asking(key):
            return await self._store().create(key, data)

    async def exists(self, key: str) -> bool:
        with self._asking(key):
            return await self._store().exists(key)

    async def put_pieces(self, key: str, pieces: AsyncIterator[bytes], attributes: dict[str, str]) -> None:
        """Stores what the pieces make; when they raise, nothing is stored. Returns once it is durable."""
        with self._asking(key):
            await self._store().put_pieces(key, pieces, attributes)

    async def read(self, key: str, start: int, length: int) -> AsyncIterator[bytes]:
        """A part of an object, piece by piece."""
        with self._asking(key):
            async for piece in self._store().read(key, start, length):
                yield piece

    async def sign(self, key: str, lifetime: timedelta) -> str | None:
        """An address that gives the object to whoever has it; None when the store can make none."""
        with self._asking(key):
            return await self._store().sign(key, lifetime)

    async def delete(self, keys: Sequence[str]) -> None:
        """Those that are gone already are no fault."""
        with self._asking(keys[0] if keys else "nothing"):
            await self._store().delete(keys)

    async def remove(self, prefix: str, spared: AbstractSet[str] = frozenset()) -> int:
        """Removes all objects below a prefix but those in folders of these names. Returns how many."""
        with self._asking(prefix):
            return await self._store().remove(prefix, spared)

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
