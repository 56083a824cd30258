"""Telling of jobs that somebody had cancelled when they went back to pending, and that have ended with it."""

from collections.abc import Sequence

from horae.engine.tally import Tally
from horae.engine.watch import Ended, Watch
from horae.model.states import State
from horae.store.moves import Overtaken


def tell(overtaken: Sequence[Overtaken], watch: Watch, tally: Tally, *, ran: bool = True) -> None:
    """An attempt that never ran does not count."""
    for job in overtaken:
        tally.removed(job.lane_id, State.CANCELLED)
        attempt = job.attempt if ran else job.attempt - 1
        watch.ended(job.id, Ended(State.CANCELLED, None, job.error, None, attempt))
