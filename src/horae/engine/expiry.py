"""Expiry: start by then, or never.

It concerns the first start alone. A job that has started is tried again however late, because its work has begun; a
grant that never reached its worker is no start. A person's retry begins anew: what was before it does not count.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import structlog

from horae.engine.rows import error_text
from horae.engine.signals import Signals
from horae.engine.tally import Tally
from horae.engine.watch import Ended, Watch
from horae.model.job import JobOptions
from horae.model.states import State
from horae.model.work import JobError
from horae.store.unique import Expiries

log = structlog.get_logger()

BATCH: Final = 1000
ERROR: Final = error_text(JobError("expired", "it had not started by the time it expires")) or ""


def expired(options: JobOptions, now: datetime) -> bool:
    """Whether a job that is about to start for the first time comes too late. `end_leased` sees to the rest."""
    return options.expires is not None and options.expires <= now


class Expiry:
    def __init__(self, expiries: Expiries, watch: Watch, signals: Signals, tally: Tally) -> None:
        self._expiries = expiries
        self._watch = watch
        self._signals = signals
        self._tally = tally

    async def end_due(self) -> int:
        """Ends the jobs that wait and have expired."""
        total = 0
        while ended := await self._expiries.expiry_end(BATCH, ERROR):
            for row in ended:
                self._tally.removed(row["lane_id"], State.EXPIRED)
                self._watch.ended(row["id"], Ended(State.EXPIRED, None, ERROR, None, row["attempt"]))
            total += len(ended)
        if total:
            log.info("jobs_expired", jobs=total)
        return total

    async def end_leased(self, worker_id: int, rows: Sequence[tuple[int, str, int, int]]) -> set[str]:
        """Ends jobs that a claim has just leased to a worker that has not been told: (lane, id, attempt, tenant).

        Returns those that ended. The others have started before and are to be granted.
        """
        gone = await self._expiries.expiry_end_leased(worker_id, rows, ERROR) if rows else []
        ended = {row["id"] for row in gone}
        if freed := Counter(group_id for row in gone for group_id in row["slots"] or ()):
            self._signals.freed(freed)
        for lane_id, job_id, attempt, _ in rows:
            if job_id in ended:
                self._tally.lost(lane_id, State.EXPIRED)
                self._watch.ended(job_id, Ended(State.EXPIRED, None, ERROR, None, attempt - 1))
        return ended
