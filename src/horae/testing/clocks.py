"""A clock for PostgreSQL that can be set: libfaketime between it and the C library.

Only what PostgreSQL believes the time of day to be is changed. Its own waits go by the monotonic clock, which is left
alone, and so are servers and workers: what they do is what they would do if somebody set the database host's clock.
"""

from datetime import timedelta
from pathlib import Path
from shutil import which
from typing import Final

LIBRARY: Final = "*/faketime/libfaketimeMT.so.1"
"""Below the folder of libraries, as Debian's package libfaketime puts it. The variant for threads, though PostgreSQL
has none: it lets no signal in while it reads its file. In the other one a backend hangs for ever when one of its
timers rings at that moment, as the handler looks at the clock, too."""


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
        """
        environ = {
            "LD_PRELOAD": str(self._library),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        return [which("env") or "env", *(f"{name}={value}" for name, value in environ.items())]

    def step(self, by: timedelta) -> None:
        """All of PostgreSQL's processes see it at their next look at the clock."""
        self._offset += by
        self._write()

    def _write(self) -> None:
        """By a new name, so that nobody reads half of it."""
        half = self._file.with_suffix(".new")
        half.write_text(f"{self._offset.total_seconds():+.0f}s\n")
        half.chmod(0o644)
        half.rename(self._file)
