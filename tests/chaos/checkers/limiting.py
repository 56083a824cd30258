"""Limits and shares: how many at once, and who waits how long."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from chaos.case import Case, JobRow, Violation
from faults.effects import Run

from .execution import THAW_SECONDS

FLOODING: Final = "flood"
"""The tenant that submits more than its share."""
FLOOD_TASK: Final = "quick"
PASSED_OVER: Final = 1000
"""More than workers take ahead: shares go by the time that jobs take, so that cheap ones come by the hundred."""


def limits(case: Case) -> Iterator[Violation]:
    """At no moment do more jobs run under a limit than it allows, by the leases and by what ran; and no slot stays
    taken when nothing runs."""
    runs: dict[tuple[str, str], list[tuple[Any, Any]]] = defaultdict(list)
    leased: dict[tuple[str, str], list[tuple[Any, Any]]] = defaultdict(list)
    for run in case.runs:
        for group in _groups(case, case.jobs.get(run.job)):
            runs[group] += awake(case, run)
    for lease in case.leases:
        for group in _groups(case, case.jobs.get(lease.job)):
            if lease.until is not None:
                leased[group].append((lease.since, lease.until))
    for kind, groups in (("processes", runs), ("leases", leased)):
        for group, spans in groups.items():
            if (most := most_at_once(spans)) > (allowed := _allowed(case, group)):
                yield Violation("limits", f"{most} {kind} at once under {group}, which allows {allowed}")
    if case.slots:
        yield Violation("limits", f"{case.slots} slots are taken though nothing runs")


def awake(case: Case, run: Run) -> list[tuple[float, float]]:
    """When it ran, without the time for which it was frozen with its whole host and could lose its lease unawares."""
    spans, since = [], run.first
    for freeze in sorted(case.frozen(run), key=lambda freeze: freeze.since):
        spans.append((since, max(since, freeze.since)))
        since = max(since, freeze.until + THAW_SECONDS)
    return spans if spans and since >= run.last else [*spans, (since, run.last)]


def _groups(case: Case, row: JobRow | None) -> Iterator[tuple[str, str]]:
    if row is not None and row.key:
        yield "key", row.key
    if row is not None and row.task in case.limits:
        yield "task", row.task


def _allowed(case: Case, group: tuple[str, str]) -> int:
    return 1 if group[0] == "key" else case.limits[group[1]]


def most_at_once(spans: Iterable[tuple[Any, Any]]) -> int:
    """What ends at the moment when another begins does not overlap it: an end comes first."""
    changes = sorted([(since, 1) for since, _ in spans] + [(until, -1) for _, until in spans])
    running = most = 0
    for _, change in changes:
        running += change
        most = max(most, running)
    return most


def waits(case: Case) -> Iterator[Violation]:
    """A tenant that floods makes itself wait, and not the others: while many of its jobs start, one of each other
    tenant does, if it has any that nothing holds back."""
    first = sorted((min(run.first for run in runs), job) for job, runs in case.runs_of.items() if job in case.jobs)
    for tenant in {row.tenant for row in case.jobs.values()} - {FLOODING}:
        for since, until in _passed_over(case, first, tenant):
            if waiting := _waiting(case, tenant, since, until):
                what = f"{PASSED_OVER} jobs of {FLOODING} started and none of {tenant}, though {len(waiting)} waited"
                yield Violation("waits", what, waiting[0])
                break


def _passed_over(case: Case, first: Sequence[tuple[float, str]], tenant: str) -> Iterator[tuple[float, float]]:
    """From the first to the last of so many starts of the flood in a row, with none of the tenant's between them."""
    row: list[float] = []
    for at, job in first:
        owner = case.jobs[job].tenant
        if owner == tenant:
            row.clear()
        elif owner == FLOODING:
            row.append(at)
        if len(row) >= PASSED_OVER:
            yield row[-PASSED_OVER], at


def _waiting(case: Case, tenant: str, since: float, until: float) -> list[str]:
    """Jobs as those of the flood, without limits and not cancelled, that had not started in the end."""
    cancelled = {row.job for row in case.outcomes if row.state == "cancelled"}
    return [
        job
        for job, (answered, started) in case.first_waits.items()
        if answered < since and until < started and (row := case.jobs.get(job)) is not None
        and row.tenant == tenant and row.task == FLOOD_TASK and job not in cancelled
    ]  # fmt: skip


def waited(case: Case) -> dict[str, list[float]]:
    """How long jobs waited for their first start, by tenant."""
    found: dict[str, list[float]] = defaultdict(list)
    for job, seconds in case.waits.items():
        if (row := case.jobs.get(job)) is not None:
            found[row.tenant].append(seconds)
    return found
