"""Merging many sorted lines into one, reading little more than what is asked for.

A few of the first of each line, its *heads*, are enough where the lines are alike. Where one line has all the first
ones, more of that line alone is asked for, four times as many each time. Invariant: when nobody needs asking any more,
`first` is what a sort of all the lines would begin with.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID


class Standing(NamedTuple):
    """A job's place in line; smaller is earlier."""

    place: int
    id: UUID
    tenant_id: int


S = TypeVar("S", bound=tuple[Any, ...])


class Merge(Generic[S]):
    def __init__(self, lines: Sequence[int], rows: int) -> None:
        self.ask: list[int] = list(lines)
        """The lines of which the first `heads` are to be told next."""
        self.heads = min(-(-2 * rows // max(len(lines), 1)), rows)
        self.first: list[S] = []
        self._rows = rows
        self._lines: dict[int, list[S]] = {}

    def tell(self, found: Iterable[tuple[int, S]]) -> None:
        lines: dict[int, list[S]] = defaultdict(list)
        for line, standing in found:
            lines[line].append(standing)
        self._lines |= lines
        self.first = sorted(each for line in self._lines.values() for each in line)[: self._rows]
        full = [line for line in self.ask if len(lines[line]) >= self.heads]
        self.ask = [line for line in full if len(self.first) < self._rows or lines[line][-1] < self.first[-1]]
        self.heads = min(self.heads * 4, self._rows)
