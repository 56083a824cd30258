"""A folder as object storage, of one server or shared by several.

An object is a file that comes to its name whole: it is written beside its place, synced and only then named. When a
call is answered, the file and the way to it are on the disk. What lies there under a name that begins with a dot is
the unfinished work of a server that died; it goes with the day it lies in.

The threads are those of the loop, whose number is fixed. A driver that starts threads of its own (obstore's does, one
whenever the last one is not quite at rest) keeps them for as long as there is something to do: hundreds after a storm.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, Final, ParamSpec, TypeVar
from uuid import uuid4

HANDS: Final = 4
"""Of the loop's threads that a folder may have at once. Where it hangs, as a network's may, others are left."""
TRIES: Final = 10
"""To write where somebody else is just removing the last of what was there."""
PIECE: Final = 256 * 1024

P = ParamSpec("P")
T = TypeVar("T")


class Folder:
    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._root = root.resolve()
        self._hands = asyncio.Semaphore(HANDS)

    async def create(self, key: str, data: bytes) -> bool:
        """Stores the data, if nothing is there. Returns whether it was this call that did."""
        return await self._do(self._create, self._place(key), data)

    async def get(self, key: str) -> bytes:
        return await self._do(self._place(key).read_bytes)

    async def exists(self, key: str) -> bool:
        return await self._do(self._place(key).is_file)

    async def put_pieces(self, key: str, pieces: AsyncIterator[bytes], _attributes: dict[str, str]) -> None:
        """Stores what the pieces make, in place of what is there; when they raise, nothing."""
        place = self._place(key)
        draft = await self._do(self._open_draft, place)
        try:
            async for piece in pieces:
                await self._do(draft.write, piece)
            await self._do(self._finish, draft, place)
        finally:
            await self._do(self._discard, draft)

    async def read(self, key: str, start: int, length: int) -> AsyncIterator[bytes]:
        file = await self._do(self._place(key).open, "rb", 0)
        try:
            while length > 0 and (piece := await self._do(_read, file, start, min(PIECE, length))):
                start, length = start + len(piece), length - len(piece)
                yield piece
        finally:
            file.close()

    async def sign(self, _key: str, _lifetime: timedelta) -> None:
        """There is nobody but a server to ask for a file."""

    async def delete(self, keys: Sequence[str]) -> None:
        for key in keys:
            await self._do(self._delete, self._place(key))

    async def remove(self, prefix: str, spared: AbstractSet[str]) -> int:
        """Removes all below a prefix but what is in folders of these names. Returns how many objects that were."""
        removed, walk = 0, os.walk(self._place(prefix), topdown=False, onerror=_refuse)
        while (found := await self._do(next, walk, None)) is not None:
            removed += await self._do(self._clear, Path(found[0]), found[2], spared)
        return removed

    async def _do(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """In a thread. Whoever gives up waiting does not free it: it may hang."""
        await self._hands.acquire()
        doing = asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs))
        doing.add_done_callback(lambda _: self._hands.release())
        return await asyncio.shield(doing)

    def _place(self, key: str) -> Path:
        steps = key.split("/")
        if any(step.startswith(".") or not step or "\0" in step for step in steps):
            raise ValueError(f"{key!r} is no name of an object in a folder")
        return self._root.joinpath(*steps)

    # In a thread.

    def _create(self, place: Path, data: bytes) -> bool:
        draft = self._open_draft(place)
        try:
            draft.write(data)
            _sync(draft)
            try:
                os.link(draft.name, place)
            except FileExistsError:
                return False
            self._sync_way(place)
        finally:
            self._discard(draft)
        return True

    def _open_draft(self, place: Path) -> BinaryIO:
        for tries_left in reversed(range(TRIES)):
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                return (place.parent / f".{uuid4().hex}").open("xb")
            except (FileNotFoundError, FileExistsError):  # The latter when it was there, and no longer is.
                if not tries_left:
                    raise
        raise AssertionError("unreachable")

    def _finish(self, draft: BinaryIO, place: Path) -> None:
        _sync(draft)
        Path(draft.name).replace(place)
        self._sync_way(place)

    def _discard(self, draft: BinaryIO) -> None:
        """Nothing is left of it but what was named."""
        with suppress(OSError):
            draft.close()
        self._delete(Path(draft.name))

    def _delete(self, place: Path) -> None:
        with suppress(FileNotFoundError):
            place.unlink()
        for folder in self._way(place):
            if folder == self._root or not _remove_empty(folder):
                return

    def _clear(self, folder: Path, names: Sequence[str], spared: AbstractSet[str]) -> int:
        if not spared.isdisjoint(folder.relative_to(self._root).parts):
            return 0
        for name in names:
            with suppress(FileNotFoundError):
                (folder / name).unlink()
        _remove_empty(folder)
        return sum(not name.startswith(".") for name in names)

    def _sync_way(self, place: Path) -> None:
        """A new folder is on the disk when the one that it lies in is."""
        for folder in self._way(place):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def _way(self, place: Path) -> Iterator[Path]:
        """The folders above, up to the root."""
        for folder in place.parents:
            yield folder
            if folder == self._root:
                return


def _refuse(error: OSError) -> None:
    """What cannot be looked into must not count as empty."""
    if not isinstance(error, FileNotFoundError):
        raise error


def _read(file: BinaryIO, start: int, size: int) -> bytes:
    return os.pread(file.fileno(), size, start)


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _remove_empty(folder: Path) -> bool:
    try:
        folder.rmdir()
    except OSError:
        return False
    return True
