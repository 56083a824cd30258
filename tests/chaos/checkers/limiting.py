"""Limits and shares: how many at once, and who waits how long."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from statistics import median
from typing import Any, Final

from chaos.case import Case, JobRow, Violation

FLOODING: Final = "flood"
"""The tenant that submits more than its share."""
STARVED_SECONDS: Final = 5.0


def limits(case: Case) -> Iterator[Violation]:
    """At no moment do more jobs run under a limit than it allows, by the leases and by what ran; and no slot stays
    taken when nothing runs."""
    runs: dict[tuple[str, str], list[tuple[Any, Any]]] = defaultdict(list)
    leased: dict[tuple[str, str], list[tuple[Any, Any]]] = defaultdict(list)
    for run in case.runs:
        end = run.last if (frozen_at := case.thawed(run)) is None else min(run.last, frozen_at)
        for group in _groups(case, case.jobs.get(run.job)):
            runs[group].append((run.first, max(run.first, end)))
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
    """A tenant that floods makes itself wait, and not the others."""
    medians = {tenant: median(seconds) for tenant, seconds in waited(case).items()}
    flooding = medians.pop(FLOODING, None)
    for tenant, seconds in medians.items():
        if flooding is not None and seconds > flooding + STARVED_SECONDS:
            what = f"jobs of {tenant} waited {seconds:.1f} s at the median, those of {FLOODING} {flooding:.1f} s"
            yield Violation("waits", what)


def waited(case: Case) -> dict[str, list[float]]:
    """How long jobs waited for their first start, by tenant."""
    found: dict[str, list[float]] = defaultdict(list)
    for job, seconds in case.waits.items():
        if (row := case.jobs.get(job)) is not None:
            found[row.tenant].append(seconds)
    return found
