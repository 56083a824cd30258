"""What one batch of a bulk action did: the counts, what is kept to undo it, and who must hear of it once it is
committed."""

from collections import Counter
from datetime import datetime
from uuid import UUID

import asyncpg

from horae.engine.signals import Signals
from horae.engine.tally import Tally
from horae.engine.watch import Ended, Watch
from horae.model.states import State
from horae.store.actions import Counts
from horae.store.jobs import PendingChange


class Deed:
    def __init__(self) -> None:
        self.done = self.skipped = self.failed = self.undone = 0
        self.note: str | None = None
        self.items: list[tuple[UUID, str | None]] = []
        self._ended: list[tuple[str, Ended]] = []
        self._workers: set[int] = set()
        self._ready: dict[int, int] = {}
        self._soonest: datetime | None = None
        self._removed: Counter[int] = Counter()
        self._restored: Counter[int] = Counter()

    def counts(self, seen: int) -> Counts:
        return Counts(seen, self.done, self.skipped, self.failed, self.undone)

    def cancelled(self, row: asyncpg.Record, error: str, before: str) -> None:
        self.done += 1
        self.items.append((row["id"], before))
        self._removed[row["lane_id"]] += 1
        self._ended.append((str(row["id"]), Ended(State.CANCELLED, None, error, None, row["attempt"])))

    def asked(self, worker_id: int | None) -> None:
        """A running job's worker was asked to stop it; None: it has just ended."""
        if worker_id is None:
            self.skipped += 1
        else:
            self.done += 1
            self._workers.add(worker_id)

    def changed(self, change: PendingChange, *, ready: bool) -> None:
        """A waiting job waits elsewhere."""
        self._restored[change.old_lane_id] -= 1
        self.revived(change.lane_id, change.rank, change.run_at, ready=ready)

    def revived(self, lane_id: int, rank: int, run_at: datetime, *, ready: bool) -> None:
        """A job that had ended waits again."""
        self._restored[lane_id] += 1
        if ready:
            self._ready[lane_id] = min(rank, self._ready.get(lane_id, rank))
        elif self._soonest is None or run_at < self._soonest:
            self._soonest = run_at

    def tell(self, signals: Signals, watch: Watch, tally: Tally) -> None:
        for job_id, ended in self._ended:
            watch.ended(job_id, ended)
        for lane_id, count in self._removed.items():
            tally.removed(lane_id, State.CANCELLED, count)
        for lane_id, count in self._restored.items():
            tally.restored(lane_id, count)
        if self._workers:
            signals.cancel(self._workers)
        if self._ready:
            signals.ready(self._ready)
        if self._soonest is not None:
            signals.scheduled(self._soonest)
