"""Reads what jobs left behind (see drivers/recording.py)."""

from pathlib import Path
from typing import NamedTuple


class Count(NamedTuple):
    jobs: int
    first: int
    """Nanoseconds of the monotonic clock; 0 if none has run."""
    last: int


class Note(NamedTuple):
    mark: str
    number: int
    at: int


def read_count(folder: Path) -> Count:
    """Over all processes."""
    rows = [[int(cell) for cell in path.read_text().split()] for path in folder.glob("count-*")]
    whole = [row for row in rows if len(row) == 3]
    if not whole:
        return Count(0, 0, 0)
    jobs, firsts, lasts = zip(*whole, strict=True)
    return Count(sum(jobs), min(firsts), max(lasts))


def read_notes(folder: Path) -> list[Note]:
    """In the order of time. A line cut short by a kill is left out."""
    notes = []
    for path in folder.glob("journal-*"):
        for line in path.read_text().splitlines():
            words = line.split()
            if len(words) == 3:
                notes.append(Note(words[0], int(words[1]), int(words[2])))
    return sorted(notes, key=lambda note: note.at)
