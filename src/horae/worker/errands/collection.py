"""Takes what a job left in its output folder to the server, without ever being led out of that folder.

Every step is an `openat` from the folder's own descriptor with O_NOFOLLOW, so that no link, planted before or swapped
in meanwhile, leads elsewhere. Only regular files with one name are taken: a hard link may be a file of somebody else's.
What is not taken is said in the job's log.
"""

import asyncio
import hashlib
import os
import stat
from collections.abc import AsyncIterator, Callable, Iterator
from io import FileIO
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from horae.model.files import MAX_FILES, MAX_NAME_BYTES, MAX_NAME_DEPTH, printable_name
from horae.model.work import Grant
from horae.worker.errands.errand import Errand
from horae.worker.link import Link
from horae.worker.uploads import persist

PIECE: Final = 256 * 1024
MOST_ENTRIES: Final = 20_000
"""A folder with more entries is not read to its end."""
MOST_REMARKS: Final = 20
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_KINDS: Final = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


class FileEntry(msgspec.Struct, frozen=True):
    name: str
    size: int
    sha256: str


class Found(NamedTuple):
    name: str
    file: FileIO
    size: int


class Collection:
    def __init__(self, link: Link, limit: int) -> None:
        """`limit` is in bytes, of all files of one attempt."""
        self._link = link
        self._limit = limit

    async def collect(self, errand: Errand) -> list[FileEntry]:
        """Returns once the server keeps every file that was taken."""
        remarks = Remarks(errand.write)
        walk = Walk(errand.folder / "output", self._limit, remarks.add).files()
        taken = []
        while (found := await asyncio.to_thread(next, walk, None)) is not None:
            with found.file:
                if (entry := await self._send(errand.grant, found, remarks)) is not None:
                    taken.append(entry)
        remarks.close()
        return taken

    async def _send(self, grant: Grant, found: Found, remarks: "Remarks") -> FileEntry | None:
        descriptor = found.file.fileno()
        digest = await asyncio.to_thread(_digest, descriptor, found.size)
        entry = FileEntry(found.name, found.size, digest)
        announced = {"name": entry.name, "size": str(entry.size), "sha256": entry.sha256}
        refusal = await persist(
            lambda: self._link.post_file(grant.id, grant.attempt, announced, _pieces(descriptor, found.size))
        )
        if refusal is not None:
            remarks.add(f"{entry.name} was not kept: {refusal}")
            return None
        return entry


class Walk:
    """The files below one folder that may be taken, opened; whoever gets one closes it."""

    def __init__(self, folder: Path, limit: int, remark: Callable[[str], None]) -> None:
        self._folder = folder
        self._room = limit
        self._remark = remark
        self._seen = 0
        self._names: set[str] = set()

    def files(self) -> Iterator[Found]:
        try:
            top = os.open(self._folder, _FOLDER)
        except FileNotFoundError:
            return
        except OSError as error:
            self._remark(f"the output folder was not read: {error.strerror}")
            return
        yield from self._below(top, b"", 1)

    def _below(self, folder: int, prefix: bytes, depth: int) -> Iterator[Found]:
        """Closes `folder`."""
        try:
            with os.scandir(folder) as entries:
                names = sorted(os.fsencode(entry.name) for _, entry in zip(range(MOST_ENTRIES), entries, strict=False))
            for name in names:
                self._seen += 1
                if self._seen > MOST_ENTRIES or len(self._names) >= MAX_FILES:
                    self._remark(f"the rest was left: {MAX_FILES} files, among {MOST_ENTRIES} entries, is the most")
                    return
                yield from self._entry(folder, name, prefix + name, depth)
        finally:
            os.close(folder)

    def _entry(self, folder: int, name: bytes, path: bytes, depth: int) -> Iterator[Found]:
        try:
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                if depth >= MAX_NAME_DEPTH:
                    self._refuse(path, f"is deeper than {MAX_NAME_DEPTH} folders")
                else:
                    yield from self._below(os.open(name, _FOLDER, dir_fd=folder), path + b"/", depth + 1)
            elif not stat.S_ISREG(mode):
                self._refuse(path, f"is {_KINDS.get(stat.S_IFMT(mode), 'no file')}")
            elif (found := self._open(folder, name, path)) is not None:
                yield found
        except OSError as error:
            self._refuse(path, f"could not be read: {error.strerror}")

    def _open(self, folder: int, name: bytes, path: bytes) -> Found | None:
        file = FileIO(os.open(name, _FILE, dir_fd=folder))
        held = os.fstat(file.fileno())
        known_as = printable_name(path)
        reason = self._reason(held, known_as)
        if reason is None:
            self._room -= held.st_size
            self._names.add(known_as)
            return Found(known_as, file, held.st_size)
        file.close()
        self._refuse(path, reason)
        return None

    def _reason(self, held: os.stat_result, name: str) -> str | None:
        """Why an open file is not taken."""
        if not stat.S_ISREG(held.st_mode):
            return "is no file"
        if held.st_nlink != 1:
            return "is a hard link: it has other names"
        if len(name.encode()) > MAX_NAME_BYTES:
            return f"has a name of more than {MAX_NAME_BYTES} bytes"
        if name in self._names:
            return "is named like another, once it can be printed"
        if held.st_size > self._room:
            return f"has {held.st_size:,} bytes, more than is left of the limit: {self._room:,}"
        return None

    def _refuse(self, path: bytes, reason: str) -> None:
        self._remark(f"{printable_name(path)} {reason}")


class Remarks:
    """What was not taken and why, on the job's `system` stream; not more of it than anybody reads."""

    def __init__(self, write: Callable[[str, bytes], None]) -> None:
        self._write = write
        self._count = 0

    def add(self, remark: str) -> None:
        self._count += 1
        if self._count <= MOST_REMARKS:
            self._write("system", f"output: {remark[:500]}\n".encode())

    def close(self) -> None:
        if self._count > MOST_REMARKS:
            self._write("system", f"output: {self._count - MOST_REMARKS} more were not taken\n".encode())


def _digest(descriptor: int, size: int) -> str:
    digest = hashlib.sha256()
    for at in range(0, size, PIECE):
        digest.update(os.pread(descriptor, min(PIECE, size - at), at))
    return digest.hexdigest()


async def _pieces(descriptor: int, size: int) -> AsyncIterator[bytes]:
    for at in range(0, size, PIECE):
        yield await asyncio.to_thread(os.pread, descriptor, min(PIECE, size - at), at)
