"""All that a container can write: its output folder, /tmp and /dev/shm, of one size together, not executable.

An agent that is root mounts a small file system in memory for each job. The limit then holds by construction, also for
files that were removed and are still open, and nothing reaches the disk, secrets least of all. What is in it counts as
memory of the job. What the job leaves is copied out before the mount goes.

Any other agent has only folders: the output folder is looked at while the job runs, and the rest is left to the engine.
"""

import contextlib
import os
import time
from pathlib import Path
from typing import Final, Protocol

from horae.worker.containers.confinement import SLACK
from horae.worker.containers.engine import Engine
from horae.worker.errands.workspace import Workspace
from horae.worker.sandbox.box import Box
from horae.worker.sandbox.limits import Bounds
from horae.worker.sandbox.mounts import mount_memory, unmount

OUTPUT: Final = "/output"
_FOLDERS: Final = {"output": OUTPUT, "tmp": "/tmp", "shm": "/dev/shm"}  # noqa: S108 - paths in the container
_OWN_BYTES: Final = SLACK // 2
"""For the variables and secrets of the job, which are in there too."""
_FEWEST_FILES: Final = 1024
_MOST_FILES: Final = 1_000_000
_TEMPORARY: Final = 64 * 1024 * 1024


class Disk(Protocol):
    private: Path
    """For small files that the job does not see unless they are mounted."""

    @property
    def flags(self) -> list[str]: ...

    @property
    def full(self) -> bool: ...

    @property
    def memory(self) -> int:
        """Bytes of it that count as memory of the job."""

    def take(self, target: Path) -> int:
        """Copies what the job made; says how many entries were left behind. Blocks: for a thread."""

    def close(self) -> None: ...


class MountedDisk:
    def __init__(self, folder: Path, size: int) -> None:
        self._folder = folder
        self._size = size
        folder.mkdir(mode=0o700)
        mount_memory(folder, size=size + _OWN_BYTES, files=max(_FEWEST_FILES, min(_MOST_FILES, size // 4096)))
        self.private = folder / "private"
        self._box = Box(os.open(folder, os.O_RDONLY | os.O_DIRECTORY))
        try:
            self.private.mkdir()
            for name in _FOLDERS:
                (folder / name).mkdir()
                (folder / name).chmod(0o1777)
        except OSError:
            self.close()
            raise

    @property
    def flags(self) -> list[str]:
        return [bind(self._folder / name, target) for name, target in _FOLDERS.items()]

    @property
    def full(self) -> bool:
        return self._box.full

    @property
    def memory(self) -> int:
        return self._box.used

    def take(self, target: Path) -> int:
        return self._box.take(target, self._size)

    def close(self) -> None:
        self._box.close()
        unmount(self._folder)


class PlainDisk:
    def __init__(self, engine: Engine, workspace: Workspace, bounds: Bounds) -> None:
        self._workspace = workspace
        self._temporary = min(_TEMPORARY, bounds.disk // 4)
        self._most = bounds.disk - 2 * self._temporary
        self._options = ":rw,nosuid,nodev,noexec" if engine.podman else ""
        self._next_look = 0.0
        self.private = workspace.given.parent / "private"
        self.private.mkdir()

    @property
    def flags(self) -> list[str]:
        output = self._workspace.output
        written = f"--volume={output}:{OUTPUT}{self._options}" if self._options else bind(output, OUTPUT)
        options = f"rw,noexec,nosuid,nodev,size={self._temporary},mode=1777"
        return [written, f"--tmpfs=/tmp:{options}", f"--shm-size={self._temporary}"]

    @property
    def full(self) -> bool:
        """Not looked at more often than the look is cheap."""
        began = time.monotonic()
        if began < self._next_look:
            return False
        found = self._workspace.exceeds(self._most)
        self._next_look = began + max(0.5, 20 * (time.monotonic() - began))
        return found

    @property
    def memory(self) -> int:
        return 0

    def take(self, target: Path) -> int:
        return 0

    def close(self) -> None:
        pass


def bind(source: Path, target: str, *, readonly: bool = False) -> str:
    return f"--mount=type=bind,source={source},target={target}" + (",readonly" if readonly else "")


def can_mount(folder: Path) -> bool:
    trial = folder / "mount"
    with contextlib.suppress(OSError):
        MountedDisk(trial, _OWN_BYTES).close()
        trial.rmdir()
        return True
    return False
