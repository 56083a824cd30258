"""A worker's record on this server: how its jobs ended and how long they took, beside those of the others.

A worker whose jobs keep failing while the same tasks do well elsewhere is put on *probation*: it gets one job at a time
until one succeeds. A task that fails everywhere says nothing about the worker.
"""

from typing import Final

from horae.model.states import End

FAILURES_IN_A_ROW: Final = 5
MEMORY: Final = 0.05
"""The weight of the newest job in the averages."""
UNUSUAL: Final = 0.5
"""A task that fails less often than this elsewhere tells against the worker it fails on."""
MAX_TASKS: Final = 20_000
MAX_WORKERS: Final = 1000
FAULTS: Final = frozenset({End.ERROR, End.FATAL, End.TIMEOUT, End.CRASHED})


class Record:
    def __init__(self) -> None:
        self.failing = 0.0
        """The share of its jobs that failed of late, 0…1, above what is usual for their tasks."""
        self.slowness = 0.0
        """How much longer its jobs took than usual: 0 as long, 1 twice as long or more."""
        self.in_a_row = 0
        self.probation = False
        self.probing = False
        """A probe is out."""

    def failed(self, elsewhere: float) -> None:
        """`elsewhere` is the share of the task's jobs that fail on other workers; 1 when it ran nowhere else."""
        self.probing = False
        self.failing += MEMORY * (1 - elsewhere - self.failing)
        self.in_a_row += elsewhere < UNUSUAL
        self.probation = self.in_a_row >= FAILURES_IN_A_ROW

    def succeeded(self, count: int, seconds: float, usual_seconds: float | None) -> None:
        """So many jobs of a task ended well, and took this long each."""
        self.in_a_row, self.probation, self.probing = 0, False, False
        kept = (1 - MEMORY) ** count
        self.failing *= kept
        if usual_seconds:
            slower = min(max(seconds / usual_seconds - 1, 0.0), 1.0)
            self.slowness = kept * self.slowness + (1 - kept) * slower

    def returned(self) -> None:
        """Jobs came back without having run to an end: that says nothing, but a probe among them is out no longer."""
        self.probing = False


class TaskRecords:
    """How often the jobs of each task fail, by worker."""

    def __init__(self) -> None:
        self._failing: dict[tuple[int, str], dict[int, float]] = {}

    def elsewhere(self, tenant_id: int, task: str, worker_id: int) -> float:
        """The share that fails on other workers than this one; 1 when there is no other to compare with."""
        others = [rate for other, rate in self._failing.get((tenant_id, task), {}).items() if other != worker_id]
        return sum(others) / len(others) if others else 1.0

    def note(self, tenant_id: int, task: str, worker_id: int, ended: int, failed: int) -> None:
        if len(self._failing) > MAX_TASKS:
            self._failing.clear()
        rates = self._failing.setdefault((tenant_id, task), {})
        if len(rates) > MAX_WORKERS:
            rates.clear()
        kept = (1 - MEMORY) ** ended
        rates[worker_id] = rates.get(worker_id, 0.0) * kept + (1 - kept) * failed / ended
