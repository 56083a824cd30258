"""Leases: one holder at a time, for as long as it was told, and not for longer than it lives."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Final

from chaos.case import Case, Violation
from chaos.trail import Lease

SLACK_SECONDS: Final = 0.5
RACE: Final = timedelta(seconds=1)
"""A claim looks at the worker's lease when it begins, and is noted when it ends. What it gave to a worker whose time
ran out in between, servers find again."""
UNNOTICED: Final = timedelta(milliseconds=50)
LIVING: Final = frozenset({"active", "draining"})


def leases(case: Case) -> Iterator[Violation]:
    """At every instant of the database one worker at most holds a valid lease of a job: no two are there side by side,
    none is granted to a worker whose own lease is over, and none is taken from one that may still believe in it."""
    held: dict[str, list[Lease]] = defaultdict(list)
    for lease in case.leases:
        held[lease.job].append(lease)
        if not case.clock_set:
            yield from _out_of_time(case, lease)
    for job, all_of_it in held.items():
        for earlier, later in pairwise(sorted(all_of_it, key=lambda lease: lease.since)):
            if earlier.until is None or earlier.until > later.since:
                yield Violation("leases", f"attempts {earlier.attempt} and {later.attempt} were leased at once", job)
            if later.attempt <= earlier.attempt:
                yield Violation("leases", f"attempt {later.attempt} was leased after {earlier.attempt}", job)


def _out_of_time(case: Case, lease: Lease) -> Iterator[Violation]:
    if lease.granted_late > RACE:
        yield Violation("leases", f"granted to worker {lease.worker}, whose own lease had ended", lease.job)
    if case.endings.get((lease.job, lease.attempt)) == "lost" and lease.taken_early > UNNOTICED:
        seconds = lease.taken_early.total_seconds()
        what = f"attempt {lease.attempt} was taken away {seconds:.1f} s before worker {lease.worker}'s lease ended"
        yield Violation("leases", what, lease.job)


def recovery(case: Case) -> Iterator[Violation]:
    """A worker that cannot work has no lease: an agent stopped for longer than a lease lasts can never renew it. It may
    have joined anew, as another worker."""
    if case.clock_set:
        return
    lasting = case.lease_seconds + SLACK_SECONDS
    stopped = [freeze for freeze in case.freezes if not freeze.host and freeze.until - freeze.since > lasting]
    for freeze in stopped:
        for worker in case.workers:
            if worker.pid in freeze.pids and worker.state in LIVING and worker.joined_at < freeze.since:
                seconds = freeze.until - freeze.since
                what = f"worker {worker.id} was stopped for {seconds:.0f} s and never lost its lease"
                yield Violation("recovery", what)
