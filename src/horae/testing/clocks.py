"""A clock for PostgreSQL that can be set: a few functions of ours (clock.c) between it and the C library.

Only what PostgreSQL believes the time of day to be is changed. Its own waits go by the monotonic clock, which is left
alone, and so are servers and workers: what they do is what they would do if somebody set the database host's clock.

Rejected: libfaketime, which reads a file at each look. A backend whose timer rings meanwhile looks at the clock in the
handler of the signal, and hangs or dies of what the two did to the heap; one that hangs with a lock in its hands takes
all others with it. A soak of an hour ended so, twice.
"""

import subprocess
from datetime import timedelta
from importlib.resources import as_file, files
from pathlib import Path
from shutil import which
from typing import Final

from horae.model.errors import SetupError

BYTES: Final = 8
COMPILER: Final = "a C compiler (Debian: apt install gcc libc6-dev)"


def find_compiler() -> Path | None:
    found = which("cc") or which("gcc")
    return None if found is None else Path(found)


class SettableClock:
    """`folder` must be one that PostgreSQL's account can read."""

    def __init__(self, compiler: Path, folder: Path) -> None:
        self._library = folder / "clock.so"
        self._file = folder / "offset"
        self._file.write_bytes(bytes(BYTES))
        self._file.chmod(0o644)
        with as_file(files("horae.testing").joinpath("clock.c")) as source:
            _run(compiler, "-shared", "-fPIC", "-O2", "-o", str(self._library), str(source), "-ldl")
        self._library.chmod(0o755)

    @property
    def prefix(self) -> list[str]:
        """Begins the command of a program that shall go by this clock."""
        return [which("env") or "env", f"LD_PRELOAD={self._library}", f"HORAE_TEST_CLOCK={self._file}"]

    def step(self, by: timedelta) -> None:
        """By whole seconds. All who go by it see it at once, at their next look: they share the page it stands in."""
        with self._file.open("r+b", buffering=0) as shared:
            offset = int.from_bytes(shared.read(BYTES), "little", signed=True) + round(by.total_seconds())
            shared.seek(0)
            shared.write(offset.to_bytes(BYTES, "little", signed=True))


def _run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SetupError(f"clock.c could not be compiled; it takes {COMPILER}:\n{done.stderr[-1000:]}")
