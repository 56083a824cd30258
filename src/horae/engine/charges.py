"""Charges: what a worker's jobs were charged their tenants when they were claimed, until they end.

What such jobs are expected to take is learnt all the time. A correction by what is expected *now* would leave a tenant
with what it was charged too much before anything was known, for ever.
"""


class Charges:
    def __init__(self) -> None:
        self._open: dict[int, tuple[int, float]] = {}
        """By lane: how many jobs, and the worker-seconds charged for them together."""

    def note(self, lane_id: int, jobs: int, seconds: float) -> None:
        open_jobs, charged = self._open.get(lane_id, (0, 0.0))
        self._open[lane_id] = open_jobs + jobs, charged + seconds

    def settle(self, lane_id: int, jobs: int) -> tuple[int, float]:
        """How many of these jobs were charged here, and what; others were claimed through another server."""
        open_jobs, charged = self._open.pop(lane_id, (0, 0.0))
        if open_jobs <= jobs:
            return open_jobs, charged
        part = charged * jobs / open_jobs
        self._open[lane_id] = open_jobs - jobs, charged - part
        return jobs, part
