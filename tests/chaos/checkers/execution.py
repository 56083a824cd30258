"""Between the store and the processes: who ran what, when, and whose word counted."""

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from chaos.case import Case, Violation
from chaos.history import End
from faults.effects import Run
from horae.model.states import OUTCOMES, State

OUTSIDE: Final = frozenset({"calling"})
"""Tasks whose work is done by a service, which keeps no account of attempts."""
SLACK_SECONDS: Final = 0.25
"""Between an instant of the database and one of a process: both clocks are of one host."""
THAW_SECONDS: Final = 1.0
"""Within which what was frozen with its host must have ended, if its lease is over."""


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
    """The earlier one was frozen with its host all the time that they were there together, so that nobody could stop
    it. However short: what the host had left of its lease when it froze may have been less."""
    until = min(earlier.last, later.last)
    return any(f.since <= later.first <= f.until and until <= f.until + THAW_SECONDS for f in case.frozen(earlier))


def by_frozen_hosts(case: Case) -> int:
    return sum(excused(case, *pair) for pair in overlapping(case))


def outruns(case: Case) -> Iterator[Violation]:
    """A process works for an attempt only as long as that has a lease: not before it is granted, nor when it is gone.
    What was frozen with its host when the lease ended is given the moment it needs to hear of it."""
    leases = {(lease.job, lease.attempt): lease for lease in case.leases}
    for run in case.runs:
        job = case.jobs.get(run.job)
        if job is None or job.task in OUTSIDE:
            continue
        if (lease := leases.get((run.job, run.attempt))) is None:
            yield Violation("outruns", f"attempt {run.attempt} ran and was never leased", run.job)
            continue
        since, until = case.instant(lease.at), case.instant(lease.gone_at)
        if since is not None and (seconds := since - run.first) > SLACK_SECONDS:
            yield Violation("outruns", f"attempt {run.attempt} began {seconds:.1f} s before it was leased", run.job)
        if until is not None and (seconds := run.last - until) > SLACK_SECONDS and not _thawed(case, run, until):
            how = "ran on for" if run.first <= until else "was begun and ran, up to"
            yield Violation("outruns", f"attempt {run.attempt} {how} {seconds:.1f} s after its lease", run.job)


def _thawed(case: Case, run: Run, lost_at: float) -> bool:
    return any(
        f.host and run.pid in f.pids and f.since <= lost_at <= f.until and run.last <= f.until + THAW_SECONDS
        for f in case.freezes
    )


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
        if not row.stored and (job is None or job.task not in OUTSIDE):
            yield Violation("results", f"succeeded in attempt {row.attempt}, and its result is gone", row.job)
        if row.result is not None and row.result != (row.job, row.attempt):
            yield Violation("results", f"succeeded in attempt {row.attempt} with the result of {row.result}", row.job)
    yield from told(case)
    yield from unread(case)


def told(case: Case) -> Iterator[Violation]:
    """What clients were told of an end is what the job came to."""
    counted = {row.job: row for row in case.outcomes}
    for call in case.calls:
        if call.name != "result" or call.end is not End.OK:
            continue
        job, state = call.asked["job"], call.answer["state"]
        row = counted.get(job)
        if state in OUTCOMES and (row is None or row.state != state):
            yield Violation("results", f"a client was told that it had {state}, and it {row and row.state}", job)
        elif state == State.SUCCEEDED and row is not None:
            said = tuple(call.answer["origin"] or ())
            if said != (row.job, row.attempt):
                what = f"a client got the result of {said}, and {(row.job, row.attempt)} ended it"
                yield Violation("results", what, job)


def unread(case: Case) -> Iterator[Violation]:
    """What is asked for at last, when all has ended and nothing is wrong, is there."""
    last = [call for call in case.calls if call.name == "result" and call.asked.get("last")]
    got = {call.asked["job"] for call in last if call.end is End.OK and call.answer["state"] in OUTCOMES}
    for job in sorted({call.asked["job"] for call in last} - got):
        answers = [call.answer for call in last if call.asked["job"] == job]
        yield Violation("results", f"nobody could read what it came to: {answers}", job)
