"""Python environments with what scripts require: made once for each set of requirements, kept, shown read-only.

The key is a hash of the sorted requirements and of the Python they are for. What came of a build is put next to its
final place and renamed, so there is a whole environment or none.

A lock for each key, held by the kernel, keeps it together, between agents that share the cache too: exclusive while it
is made or removed, shared while a job uses it. What has not been used for longest goes first when there is too much.
"""

import asyncio
import contextlib
import fcntl
import hashlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from horae.worker.errands.errand import Errand, Outcome
from horae.worker.errands.quarters import remove_folder

MOST_BYTES: Final = 10 * 2**30
_UNFINISHED: Final = ".unfinished"
_WAIT: Final = 0.05

Make = Callable[[Path], Awaitable[Outcome | None]]
"""Fills a folder with an environment; says why it could not."""


class Environments:
    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        self._folder = folder
        self._most_bytes = most_bytes

    @contextlib.asynccontextmanager
    async def use(self, errand: Errand, key: str, make: Make) -> AsyncIterator[Path | Outcome]:
        """The environment, which stays while it is used; or how the errand ends because there is none."""
        lock = self._open_lock(key)
        try:
            with errand.preparing():
                found = await self._obtain(errand, key, lock, make)
            yield found
        finally:
            os.close(lock)

    async def _obtain(self, errand: Errand, key: str, lock: int, make: Make) -> Path | Outcome:
        home = self._folder / key
        while await _locked(lock, fcntl.LOCK_SH, errand):
            if home.is_dir():
                os.utime(home)
                return home
            # Changing a lock lets go of it first, so what is true must be looked at again.
            if await _locked(lock, fcntl.LOCK_EX, errand) and not home.is_dir():
                problem = await self._make(home, make)
                if problem is not None:
                    return problem
        return errand.stop.result().outcome()

    async def _make(self, home: Path, make: Make) -> Outcome | None:
        unfinished = home.with_suffix(_UNFINISHED)
        await asyncio.to_thread(remove_folder, unfinished)
        unfinished.mkdir(mode=0o755)
        try:
            problem = await make(unfinished)
            if problem is None:
                unfinished.rename(home)
        finally:
            await asyncio.to_thread(remove_folder, unfinished)
        await asyncio.to_thread(self.evict)
        return problem

    def evict(self) -> None:
        """Removes what was left unfinished, and the least recently used until the rest fits."""
        for folder in self._folder.glob(f"*{_UNFINISHED}"):
            self._remove(folder.stem)
        homes = [folder for folder in self._folder.iterdir() if folder.is_dir() and folder.suffix != _UNFINISHED]
        sizes = {home: _size(home) for home in homes}
        surplus = sum(sizes.values()) - self._most_bytes
        for home in sorted(homes, key=_used_at):
            if surplus > 0 and self._remove(home.name):
                surplus -= sizes[home]

    def _remove(self, key: str) -> bool:
        """False while somebody uses or makes it."""
        home = self._folder / key
        lock = self._open_lock(key)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if home.is_dir():
                home.rename(home.with_suffix(_UNFINISHED))
            remove_folder(home.with_suffix(_UNFINISHED))
        except BlockingIOError:
            return False
        finally:
            os.close(lock)
        return True

    def _open_lock(self, key: str) -> int:
        return os.open(self._folder / f"{key}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def key_of(requirements: Sequence[str], python: str) -> str:
    """An upgrade of the system's Python changes what its name points to, and so the key."""
    text = msgspec.json.encode([sorted({*requirements}), str(Path(python).resolve())])
    return hashlib.sha256(text).hexdigest()[:32]


async def _locked(lock: int, how: int, errand: Errand) -> bool:
    """Waits for it; False when the job is to stop. Not in a thread, which nobody could call back."""
    while not errand.stop.done():
        try:
            fcntl.flock(lock, how | fcntl.LOCK_NB)
        except BlockingIOError:
            await asyncio.sleep(_WAIT)
        else:
            return True
    return False


def _used_at(home: Path) -> float:
    try:
        return home.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _size(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):  # Another agent may be removing it.
                total += os.lstat(os.path.join(parent, name)).st_blocks * 512  # noqa: PTH118 - thousands of files
    return total
