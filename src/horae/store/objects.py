"""Object storage for what is too large for a row: a folder by default, S3-compatible by address. Compressed."""

import gzip
from pathlib import Path
from typing import Any

import obstore
from obstore.store import LocalStore, from_url

from horae.model.errors import NotReady


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
            await obstore.put_async(self._store(), key, gzip.compress(data, compresslevel=1))
        except (obstore.exceptions.BaseError, OSError) as error:
            raise NotReady(f"object storage at {self._address} refused {key}: {error}", retry_after=2) from error

    async def get(self, key: str) -> bytes:
        try:
            found = await obstore.get_async(self._store(), key)
            return gzip.decompress(bytes(await found.bytes_async()))
        except (obstore.exceptions.BaseError, OSError) as error:
            raise NotReady(f"object storage at {self._address} cannot give {key}: {error}", retry_after=2) from error
