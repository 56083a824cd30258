"""A clock for PostgreSQL that can be set: libfaketime between it and the C library.

Only what PostgreSQL believes the time of day to be is changed. Its own waits go by the monotonic clock, which is left
alone, and so are servers and workers: what they do is what they would do if somebody set the database host's clock.
"""

import asyncio
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from shutil import which
from typing import Final

import psutil

LIBRARY: Final = "*/faketime/libfaketime.so.1"
"""Below the folder of libraries, as Debian's package libfaketime puts it."""
SURELY: Final = 0.02
"""Seconds by which a new second has begun for everybody."""


def find_library() -> Path | None:
    return next(Path("/usr/lib").glob(LIBRARY), None)


class SettableClock:
    """`folder` must be one that PostgreSQL's account can read."""

    def __init__(self, library: Path, folder: Path) -> None:
        self._library = library
        self._file = folder / "offset"
        self._offset = timedelta()
        self._write()

    @property
    def prefix(self) -> list[str]:
        """Begins the command of a program that shall go by this clock.

        It is not in the environment of the launcher, which is root and would own what the library shares.

        The library reads its file once in a second. It could do so at every look (FAKETIME_NO_CACHE), but that is no
        place for a signal: a backend whose timer rings meanwhile looks at the clock in the handler, and then hangs or
        dies of what the two did to the heap.
        """
        environ = {
            "LD_PRELOAD": str(self._library),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_CACHE_DURATION": "0",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        return [which("env") or "env", *(f"{name}={value}" for name, value in environ.items())]

    async def step(self, by: timedelta) -> None:
        """All who go by it see it at once: they are held until a new second has begun, in which they read it anew."""
        self._offset += by
        held = self._hold()
        try:
            self._write()
            await asyncio.sleep(1 - time.time() % 1 + SURELY)
        finally:
            for process in held:
                with suppress(psutil.NoSuchProcess):
                    process.resume()

    def _hold(self) -> set[psutil.Process]:
        """Until there are no more: one that is not held yet may start another."""
        held: set[psutil.Process] = set()
        while more := self._users() - held:
            for process in more:
                with suppress(psutil.NoSuchProcess):
                    process.suspend()
            held |= more
        return held

    def _users(self) -> set[psutil.Process]:
        """Those that were started with it, and all below: PostgreSQL's processes write over their environment."""
        found: set[psutil.Process] = set()
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get("FAKETIME_TIMESTAMP_FILE") == str(self._file):
                    found |= {process, *process.children(recursive=True)}
        return found

    def _write(self) -> None:
        """By a new name, so that nobody reads half of it."""
        half = self._file.with_suffix(".new")
        half.write_text(f"{self._offset.total_seconds():+.0f}s\n")
        half.chmod(0o644)
        half.rename(self._file)
