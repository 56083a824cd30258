"""What a kill did, from the journal of the jobs: pure."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from race.traces import Note


class Recovery(NamedTuple):
    interrupted: int
    """Jobs that had started and not ended when the workers were killed."""
    unfinished: int
    """Jobs that no run has ended: lost, or still to come back after all patience."""
    doubled: int
    """Jobs that were run to their end more than once."""
    first: float | None
    """Seconds from the restart to the first job that started; None if none did."""
    last: float | None
    """Seconds from the restart until every interrupted job had ended; None if one never did."""


def recovery(jobs: int, notes: Sequence[Note], killed: int, restarted: int) -> Recovery:
    ends = [note for note in notes if note.mark == "end"]
    finished = Counter(note.number for note in ends)
    before = {note.number for note in ends if note.at <= killed}
    interrupted = {note.number for note in notes if note.mark == "start" and note.at <= killed} - before
    starts = [note.at for note in notes if note.mark == "start" and note.at > restarted]
    later = [note.at for note in ends if note.number in interrupted and note.at > killed]
    return Recovery(
        interrupted=len(interrupted),
        unfinished=jobs - len(finished),
        doubled=sum(times > 1 for times in finished.values()),
        first=(starts[0] - restarted) / 1e9 if starts else None,
        last=(max(later, default=restarted) - restarted) / 1e9 if interrupted <= finished.keys() else None,
    )
