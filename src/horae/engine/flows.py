"""Flows: what happened to each tenant's jobs, kept in memory until it is written down.

Made from what the rollups were made of, so nothing on the way of a job is counted twice.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from horae.model.delays import STEPS, step_of
from horae.store.flows import FlowRow
from horae.store.rollups import RollupRow

EVERYBODY: Final = 0
"""Stands for all tenants together."""


class Flow:
    __slots__ = (
        "cancelled", "failed", "other", "retried", "run_seconds", "runs", "started", "submitted", "succeeded", "waits",
    )  # fmt: skip

    def __init__(self) -> None:
        self.submitted = self.started = self.succeeded = self.failed = self.cancelled = self.other = 0
        self.retried = self.runs = 0
        self.run_seconds = 0.0
        self.waits: list[int] = []
        """By steps of delay; empty as long as no start was looked at."""

    @property
    def events(self) -> int:
        ends = self.succeeded + self.failed + self.cancelled + self.other
        return self.submitted + self.started + self.retried + ends

    def add(self, more: "RollupRow | Flow") -> None:
        # Field by field: there may be thousands of tenants a second, and a loop over names takes five times as long.
        self.submitted += more.submitted
        self.started += more.started
        self.succeeded += more.succeeded
        self.failed += more.failed
        self.cancelled += more.cancelled
        self.other += more.other
        self.retried += more.retried
        self.runs += more.runs
        self.run_seconds += more.run_seconds

    def merge(self, more: "Flow") -> None:
        self.add(more)
        if self.waits and more.waits:
            self.waits = [a + b for a, b in zip(self.waits, more.waits, strict=True)]
        elif more.waits:
            self.waits = list(more.waits)

    def waited(self, step: int, jobs: int) -> None:
        self.waits = self.waits or [0] * STEPS
        self.waits[step] += jobs


SUMS: Final = tuple(name for name in Flow.__slots__ if name != "waits")


def by_tenant(rows: Iterable[RollupRow]) -> dict[int, Flow]:
    flows: dict[int, Flow] = {}
    for row in rows:
        flows.setdefault(row.tenant_id, Flow()).add(row)
    return flows


class Flows:
    def __init__(self) -> None:
        self._flows: dict[int, Flow] = {}

    def add(self, flows: Mapping[int, Flow]) -> None:
        for tenant_id, flow in flows.items():
            self._of(tenant_id).merge(flow)
            self._of(EVERYBODY).merge(flow)

    def waited(self, tenant_id: int, seconds: float, jobs: int) -> None:
        """So many jobs started so long after their time."""
        step = step_of(seconds)
        for key in (tenant_id, EVERYBODY):
            self._of(key).waited(step, jobs)

    def take(self) -> Mapping[int, Flow]:
        taken, self._flows = self._flows, {}
        return taken

    def give_back(self, flows: Mapping[int, Flow]) -> None:
        for tenant_id, flow in flows.items():
            self._of(tenant_id).merge(flow)

    def _of(self, tenant_id: int) -> Flow:
        flow = self._flows.get(tenant_id)
        if flow is None:
            flow = self._flows[tenant_id] = Flow()
        return flow


def rows_of(flows: Mapping[int, Flow]) -> Sequence[FlowRow]:
    return [
        FlowRow(
            tenant_id, flow.submitted, flow.started, flow.succeeded, flow.failed, flow.cancelled, flow.other,
            flow.retried, flow.runs, flow.run_seconds, "{" + ",".join(map(str, flow.waits)) + "}",
        )
        for tenant_id, flow in flows.items()
    ]  # fmt: skip
