"""Between the store and the processes: who ran what, when, and whose word counted."""

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from chaos.case import Case, Violation
from faults.effects import Run

OUTSIDE: Final = frozenset({"calling"})
"""Tasks whose work is done by a service, which keeps no account of attempts."""


def overlaps(case: Case) -> Iterator[Violation]:
    """No two processes run one job at once, unless a whole host was frozen under one of them: see `by_frozen_hosts`.
    And no two run the same attempt, ever: it is the fence."""
    yield from doubled_attempts(case)
    for earlier, later in overlapping(case):
        if not excused(case, earlier, later):
            seconds = earlier.last - later.first
            first, second = (f"{run.attempt} (process {run.pid})" for run in (earlier, later))
            what = f"attempt {first} ran {seconds:.3f} s into {second}"
            yield Violation("overlaps", what, earlier.job)


def doubled_attempts(case: Case) -> Iterator[Violation]:
    for runs in case.runs_of.values():
        for one, other in combinations(runs, 2):
            if one.attempt == other.attempt:
                what = f"attempt {one.attempt} ran in the processes {one.pid} and {other.pid}"
                yield Violation("overlaps", what, one.job)


def overlapping(case: Case) -> Iterator[tuple[Run, Run]]:
    for runs in case.runs_of.values():
        for one, other in combinations(runs, 2):
            earlier, later = sorted((one, other), key=lambda run: run.first)
            if earlier.last >= later.first:
                yield earlier, later


def excused(case: Case, earlier: Run, later: Run) -> bool:
    """The earlier one was frozen with its host when the later one began, so that nobody could stop it."""
    frozen_at = case.thawed(earlier)
    return frozen_at is not None and frozen_at <= later.first


def by_frozen_hosts(case: Case) -> int:
    return sum(excused(case, *pair) for pair in overlapping(case))


def stale(case: Case) -> Iterator[Violation]:
    """An attempt whose lease was taken away ends nothing: its word is refused."""
    taken = {(row.job, row.attempt) for row in case.attempts}
    for row in case.outcomes:
        if (row.job, row.attempt) in taken and row.state != "cancelled":
            yield Violation("stale", f"ended as {row.state} by attempt {row.attempt}, which had ended before", row.job)
    last = {lease.job: 0 for lease in case.leases}
    for lease in case.leases:
        last[lease.job] = max(last[lease.job], lease.attempt)
    for row in case.outcomes:
        if row.attempt < last.get(row.job, 0):
            what = f"ended as {row.state} by attempt {row.attempt} after attempt {last[row.job]} had begun"
            yield Violation("stale", what, row.job)


def results(case: Case) -> Iterator[Violation]:
    """A result is of the attempt that ended the job, and a job that succeeded has run to its end in that attempt."""
    finished = {(run.job, run.attempt) for run in case.runs if run.ended}
    for row in case.outcomes:
        if row.state != "succeeded":
            continue
        job = case.jobs.get(row.job)
        if (row.job, row.attempt) not in finished and (job is None or job.task not in OUTSIDE):
            yield Violation("results", f"succeeded in attempt {row.attempt}, which never came to its end", row.job)
        if row.result is not None and row.result != (row.job, row.attempt):
            yield Violation("results", f"succeeded in attempt {row.attempt} with the result of {row.result}", row.job)
    counted = {row.job: (row.job, row.attempt) for row in case.outcomes}
    for call in case.calls:
        if call.name == "result" and call.answer.get("state") == "succeeded":
            said, job = tuple(call.answer["origin"] or ()), call.asked["job"]
            if said != counted.get(job):
                yield Violation("results", f"a client got the result of {said}, and {counted.get(job)} ended it", job)
