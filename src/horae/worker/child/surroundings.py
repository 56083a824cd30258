"""What jobs share because they run in one process one after another, put back when one of them has changed it."""

import contextlib
import os
import signal
import sys
from _signal import getsignal  # type: ignore[import-not-found] # signal's own asks an enum first: 3 µs a job
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any


class Surroundings:
    def __init__(self, on_terminate: Callable[[int, FrameType | None], None]) -> None:
        self._on_terminate = on_terminate
        self._home = Path.cwd()
        self._moved = False
        signal.signal(signal.SIGTERM, on_terminate)
        sys.addaudithook(self._audit)

    def _audit(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "os.chdir":
            self._moved = True

    def restore(self) -> None:
        if self._moved:
            with contextlib.suppress(OSError):
                os.chdir(self._home)
            self._moved = False
        if getsignal(signal.SIGTERM) != self._on_terminate:
            signal.signal(signal.SIGTERM, self._on_terminate)
