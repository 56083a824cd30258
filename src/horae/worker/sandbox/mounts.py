"""Mounts of the agent's own, which only root can make."""

import contextlib
import ctypes
import os
from pathlib import Path
from typing import Final

_NOSUID, _NODEV, _NOEXEC = 2, 4, 8
_DETACH: Final = 2


def mount_memory(folder: Path, *, size: int, files: int) -> None:
    """A file system in memory from which nothing can be executed."""
    options = f"size={size},nr_inodes={files},mode=0755"
    _call("mount", b"tmpfs", os.fsencode(folder), b"tmpfs", _NOSUID | _NODEV | _NOEXEC, options.encode())


def unmount(folder: Path) -> None:
    """At once, even if somebody still has it open."""
    _call("umount2", os.fsencode(folder), _DETACH)


def unmount_below(folder: Path) -> None:
    """All that is mounted there, the deepest first."""
    for point in find_below(folder, Path("/proc/self/mountinfo").read_text()):
        with contextlib.suppress(OSError):
            unmount(point)


def find_below(folder: Path, mountinfo: str) -> list[Path]:
    points = (Path(_unescape(line.split()[4])) for line in mountinfo.splitlines())
    return sorted((point for point in points if folder in point.parents), key=lambda point: -len(point.parts))


def _unescape(text: str) -> str:
    return text.encode("latin-1", "backslashreplace").decode("unicode_escape") if "\\" in text else text


def _call(name: str, *arguments: bytes | int) -> None:
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
