"""Object storage for what is too large for a row: a folder by default, S3-compatible by address. Compressed."""

import asyncio
import gzip
from datetime import date
from pathlib import Path
from typing import Any
from uuid import UUID

import obstore
from obstore.store import LocalStore, from_url

from horae.model.errors import NotReady
from horae.model.ids import created_at


class Objects:
    def __init__(self, address: str) -> None:
        """`address`: a folder, or a URL such as s3://bucket/prefix (credentials from the environment)."""
        self._address = address
        self._opened: Any = None

    def _store(self) -> Any:
        if self._opened is None:
            if "://" in self._address:
                self._opened = from_url(self._address)
            else:
                folder = Path(self._address)
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._opened = LocalStore(str(folder.resolve()))
        return self._opened

    async def put(self, key: str, data: bytes) -> None:
        try:
            packed = await asyncio.to_thread(gzip.compress, data, 1)
            await obstore.put_async(self._store(), key, packed)
        except (obstore.exceptions.BaseError, OSError) as error:
            raise NotReady(f"object storage at {self._address} refused {key}: {error}", retry_after=2) from error

    async def get(self, key: str) -> bytes:
        try:
            found = await obstore.get_async(self._store(), key)
            return await asyncio.to_thread(gzip.decompress, bytes(await found.bytes_async()))
        except (obstore.exceptions.BaseError, OSError) as error:
            raise NotReady(f"object storage at {self._address} cannot give {key}: {error}", retry_after=2) from error

    async def remove(self, prefix: str) -> int:
        """Removes all objects below a prefix. Returns how many."""
        removed = 0
        try:
            async for batch in obstore.list(self._store(), prefix, chunk_size=500):
                keys = [found["path"] for found in batch]
                await obstore.delete_async(self._store(), keys)
                removed += len(keys)
        except (obstore.exceptions.BaseError, OSError) as error:
            raise NotReady(
                f"object storage at {self._address} cannot remove {prefix}: {error}", retry_after=2
            ) from error
        return removed


def results_of_day(day: date) -> str:
    """Results lie by the day of their job's id, so that retention removes a day of them as it drops a day of jobs."""
    return f"results/{day:%Y%m%d}"


def result_key(tenant_id: int, job_id: UUID, attempt: int) -> str:
    """The attempt is part of the key: none can replace another's result."""
    return f"{results_of_day(created_at(job_id).date())}/{tenant_id}/{job_id}/{attempt}"
