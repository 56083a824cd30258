"""What a person sees while a measurement runs: a line for each step, on stderr and only if that is a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


class Step:
    def __init__(self, bars: Progress, text: str, total: float | None) -> None:
        self._bars = bars
        self._task = bars.add_task(text, total=total)

    def reach(self, done: float) -> None:
        self._bars.update(self._task, completed=done)

    def tell(self, text: str) -> None:
        self._bars.update(self._task, description=text)

    def end(self) -> None:
        """The line stays without its bar if the total was never known."""
        self._bars.update(self._task, total=1, completed=1, visible=False)


class Screen:
    def __init__(self) -> None:
        console = Console(file=sys.stderr)
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        self._bars = Progress(
            *columns, TimeElapsedColumn(), console=console, transient=True, disable=not console.is_terminal
        )

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    @contextmanager
    def step(self, text: str, total: float | None = None) -> Iterator[Step]:
        step = Step(self._bars, text, total)
        try:
            yield step
        finally:
            step.end()
