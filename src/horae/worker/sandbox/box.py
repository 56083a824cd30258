"""What a job could write, held open by the agent after the job and its mounts are gone.

Nothing in it is trusted. It is walked by open folders, no link is followed, and only regular files and folders are
taken: links, devices, sockets and pipes stay behind and vanish with it. So do files beyond the job's disk limit, which
a job can seem to have when they are full of holes.
"""

import os
import shutil
import stat
from pathlib import Path
from typing import Final

_DEEPEST: Final = 64
_PIECE: Final = 1024 * 1024


class Box:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @property
    def full(self) -> bool:
        status = os.fstatvfs(self._descriptor)
        return status.f_bavail == 0 or status.f_favail == 0

    @property
    def used(self) -> int:
        status = os.fstatvfs(self._descriptor)
        return (status.f_blocks - status.f_bfree) * status.f_frsize

    def take(self, target: Path, most: int, *, links: bool = False) -> int:
        """Copies the output folder, and says how many entries were left behind. Blocks: for a thread.

        `links`: copies symbolic links too, as links.
        """
        return _Taking(most, links=links).folder("output", self._descriptor, target, _DEEPEST)

    def close(self) -> None:
        os.close(self._descriptor)


class _Taking:
    def __init__(self, most: int, *, links: bool) -> None:
        self._room = most
        self._links = links

    def folder(self, name: str, parent: int, target: Path, depth: int) -> int:
        left_behind = 0
        folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
        try:
            for entry in os.listdir(folder):  # noqa: PTH208 - of an open folder
                left_behind += self._try_entry(entry, folder, target / entry, depth)
        finally:
            os.close(folder)
        return left_behind

    def _try_entry(self, name: str, folder: int, target: Path, depth: int) -> int:
        try:
            return self._entry(name, folder, target, depth)
        except OSError:
            return 1  # Without the right to read it, if the job has taken that away.

    def _entry(self, name: str, folder: int, target: Path, depth: int) -> int:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode) and depth:
            target.mkdir()
            target.chmod(0o755)
            return self.folder(name, folder, target, depth - 1)
        if stat.S_ISREG(status.st_mode) and status.st_size <= self._room:
            self._room -= status.st_size
            _copy(name, folder, target)
            return 0
        if stat.S_ISLNK(status.st_mode) and self._links:
            target.symlink_to(os.readlink(name, dir_fd=folder))
            return 0
        return 1


def _copy(name: str, folder: int, target: Path) -> None:
    source = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
    with os.fdopen(source, "rb") as reading, target.open("xb") as writing:
        shutil.copyfileobj(reading, writing, _PIECE)
        # Executable or not is all that is kept of its mode. Compiled Python is good only for a source of the same age.
        status = os.fstat(source)
        os.fchmod(writing.fileno(), 0o755 if status.st_mode & 0o100 else 0o644)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
