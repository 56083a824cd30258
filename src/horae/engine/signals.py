"""Wake-ups inside one server. Whoever makes work says so here; whoever waits for it subscribes.

Signals are hints: every listener also looks for itself now and then, so a lost one costs time, never a job.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta

from horae.engine.clock import Clock
from horae.engine.tally import Runs


class Signals:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.on_ready: list[Callable[[Mapping[int, int]], None]] = []
        self.on_scheduled: list[Callable[[datetime], None]] = []
        self.on_cancel: list[Callable[[int], None]] = []
        self.on_lost: list[Callable[[int], None]] = []
        self.on_ended: list[Callable[[int, Mapping[int, Runs]], None]] = []
        self.on_freed: list[Callable[[Mapping[int, int]], None]] = []
        self.on_policy: list[Callable[[], None]] = []

    def ready(self, heads: Mapping[int, int]) -> None:
        """Jobs became ready: lane → smallest rank."""
        for listener in self.on_ready:
            listener(heads)

    def scheduled(self, run_at: datetime) -> None:
        """A job was scheduled for then, or earlier than anything known."""
        for listener in self.on_scheduled:
            listener(run_at)

    def cancel(self, worker_ids: Iterable[int]) -> None:
        """These workers have something to stop."""
        for worker_id in worker_ids:
            for listener in self.on_cancel:
                listener(worker_id)

    def lost(self, worker_id: int) -> None:
        """This worker's lease has ended."""
        for listener in self.on_lost:
            listener(worker_id)

    def ended(self, worker_id: int, ran: Mapping[int, Runs]) -> None:
        """Attempts ended on this worker, in whatever way: their sums by lane."""
        for listener in self.on_ended:
            listener(worker_id, ran)

    def freed(self, groups: Mapping[int, int]) -> None:
        """Limits in which so many slots became free: group → how many."""
        for listener in self.on_freed:
            listener(groups)

    def policy(self) -> None:
        """Limits, gates or weights have changed."""
        for listener in self.on_policy:
            listener()

    def moved(self, rows: Iterable[tuple[int, int, float]]) -> None:
        """Jobs went back to pending: (lane, rank, seconds to wait)."""
        heads: dict[int, int] = {}
        soonest: float | None = None
        for lane_id, rank, pause in rows:
            if pause <= 0:
                heads[lane_id] = min(rank, heads.get(lane_id, rank))
            elif soonest is None or pause < soonest:
                soonest = pause
        if heads:
            self.ready(heads)
        if soonest is not None:
            self.scheduled(self._clock.now() + timedelta(seconds=soonest))
