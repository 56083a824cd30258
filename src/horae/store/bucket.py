"""A bucket as object storage: S3, or what speaks like it."""

from collections.abc import AsyncIterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from datetime import timedelta
from typing import Final

import obstore
from obstore.exceptions import AlreadyExistsError, NotSupportedError

from horae.store.s3 import S3Access, open_store

BATCH: Final = 500
PIECE: Final = 256 * 1024


class Bucket:
    def __init__(self, address: str, access: S3Access) -> None:
        self._store = open_store(address, access)

    async def create(self, key: str, data: bytes) -> bool:
        """Stores the data, if nothing is there or the store cannot tell. Returns whether it was this call that did."""
        try:
            await obstore.put_async(self._store, key, data, mode="create")
        except AlreadyExistsError:
            return False
        except NotSupportedError:
            await obstore.put_async(self._store, key, data)
        return True

    async def get(self, key: str) -> bytes:
        found = await obstore.get_async(self._store, key)
        return bytes(await found.bytes_async())

    async def exists(self, key: str) -> bool:
        try:
            await obstore.head_async(self._store, key)
        except FileNotFoundError:
            return False
        return True

    async def put_pieces(self, key: str, pieces: AsyncIterator[bytes], attributes: dict[str, str]) -> None:
        await obstore.put_async(self._store, key, pieces, attributes=attributes)

    async def read(self, key: str, start: int, length: int) -> AsyncIterator[bytes]:
        if length:
            found = await obstore.get_async(self._store, key, options={"range": (start, start + length)})
            async for piece in found.stream(min_chunk_size=PIECE):
                yield bytes(piece)

    async def sign(self, key: str, lifetime: timedelta) -> str:
        return str(await obstore.sign_async(self._store, "GET", key, lifetime))

    async def delete(self, keys: Sequence[str]) -> None:
        for start in range(0, len(keys), BATCH):
            with suppress(FileNotFoundError):
                await obstore.delete_async(self._store, list(keys[start : start + BATCH]))

    async def remove(self, prefix: str, spared: AbstractSet[str]) -> int:
        removed = 0
        async for batch in obstore.list(self._store, prefix, chunk_size=BATCH):
            paths = [found["path"] for found in batch if spared.isdisjoint(found["path"].split("/"))]
            if paths:
                await self.delete(paths)
            removed += len(paths)
        return removed
