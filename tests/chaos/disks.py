"""A disk of a few hundred megabytes that can be filled up: a tmpfs, which root can mount."""

import fcntl
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from horae.testing.database import CLAIM, PREFIX

SIZE: Final = "2g"
"""More than a run writes, and all of it memory."""
BALLAST: Final = "ballast"
REST: Final = 32 << 20
BIT: Final = 1 << 12


def missing() -> str | None:
    """Why no disk can be filled here."""
    return None if os.geteuid() == 0 else "a disk to fill up is a tmpfs, which only root can mount"


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """At the folder; where none can be mounted, just the folder."""
    folder.mkdir()
    if missing():
        yield
        return
    unmount_abandoned()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=711", "horae-chaos", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def unmount_abandoned() -> None:
    """A run that was killed leaves its mounts; whose folder nobody has the lock of, are nobody's."""
    for line in Path("/proc/mounts").read_text().splitlines():
        device, place = line.split()[:2]
        parent = Path(place).parent
        ours = device == "horae-chaos" and parent.parent == Path(tempfile.gettempdir())
        if ours and parent.name.startswith(PREFIX) and not _claimed(parent / CLAIM):
            subprocess.run(["umount", "--lazy", place], check=True)


def _claimed(claim: Path) -> bool:
    try:
        with claim.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def fill(folder: Path) -> None:
    """Takes all that is left of the disk: most of it at once, the rest bit by bit, for others take some meanwhile."""
    with (folder / BALLAST).open("wb", buffering=0) as file:
        free = os.statvfs(folder)
        most = free.f_bavail * free.f_frsize - REST
        if most > 0:
            os.posix_fallocate(file.fileno(), 0, most)
            file.seek(most)
        with suppress(OSError):
            while True:
                file.write(bytes(BIT))


def relieve(folder: Path) -> None:
    (folder / BALLAST).unlink(missing_ok=True)
