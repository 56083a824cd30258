"""Leases: one holder at a time, for as long as it was told, and not for longer than it lives."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Final

from chaos.case import Case, Violation
from chaos.trail import PASSED, Lease
from horae.model.callbacks import SERVER

LONGER_SECONDS: Final = 0.5
"""Than a lease lasts: a stop may be noted down as a little longer than it was."""
RACE: Final = timedelta(seconds=1)
"""A claim looks at the worker's lease when it begins, and is noted when it ends. What it gave to a worker whose time
ran out in between, servers find again."""
UNNOTICED: Final = timedelta(milliseconds=50)
SOON: Final = timedelta(seconds=30)
"""With a machine to itself it takes three."""
LIVING: Final = frozenset({"active", "draining"})


def leases(case: Case) -> Iterator[Violation]:
    """At every instant of the database one worker at most holds a valid lease of a job: no two are there side by side,
    none is granted to a worker whose own lease is over, and none is taken from one that may still believe in it."""
    held: dict[str, list[Lease]] = defaultdict(list)
    for step in case.steps:
        if step.place == PASSED and step.worker != SERVER:
            what = f"the lease of attempt {step.attempt} was passed on to worker {step.worker}"
            yield Violation("leases", what, step.job)
    for lease in case.leases:
        held[lease.job].append(lease)
        yield from _out_of_time(case, lease)
    for job, all_of_it in held.items():
        for earlier, later in pairwise(sorted(all_of_it, key=lambda lease: lease.since)):
            if earlier.until is None or earlier.until > later.since:
                yield Violation("leases", f"attempts {earlier.attempt} and {later.attempt} were leased at once", job)
            if later.attempt <= earlier.attempt:
                yield Violation("leases", f"attempt {later.attempt} was leased after {earlier.attempt}", job)


def _out_of_time(case: Case, lease: Lease) -> Iterator[Violation]:
    if lease.granted_late > RACE and case.trusted(lease.at):
        yield Violation("leases", f"granted to worker {lease.worker}, whose own lease had ended", lease.job)
    lost = case.endings.get((lease.job, lease.attempt)) == "lost" and case.trusted(lease.gone_at)
    if lost and lease.taken_early > UNNOTICED:
        seconds = lease.taken_early.total_seconds()
        what = f"attempt {lease.attempt} was taken away {seconds:.1f} s before worker {lease.worker}'s lease ended"
        yield Violation("leases", what, lease.job)


def recovery(case: Case) -> Iterator[Violation]:
    """A worker that cannot work has no lease: an agent stopped for longer than a lease lasts can never renew it. It may
    have joined anew, as another worker. And when nothing is wrong any more, what the dead held is found soon."""
    yield from _late(case)
    lasting = case.lease_seconds + LONGER_SECONDS
    stopped = [freeze for freeze in case.freezes if not freeze.host and freeze.until - freeze.since > lasting]
    for freeze in (freeze for freeze in stopped if not case.strayed(freeze.since, freeze.until)):
        for worker in case.workers:
            if worker.pid in freeze.pids and worker.state in LIVING and worker.joined_at < freeze.since:
                seconds = freeze.until - freeze.since
                what = f"worker {worker.id} was stopped for {seconds:.0f} s and never lost its lease"
                yield Violation("recovery", what)


def _late(case: Case) -> Iterator[Violation]:
    """Leases that were there when all was well again, and were taken away as lost long after every lease of a worker
    that had died before must have ended."""
    if case.well_at is None:
        return
    bound = timedelta(seconds=case.lease_seconds) + SOON
    for lease in case.leases:
        lost = case.endings.get((lease.job, lease.attempt)) == "lost"
        if lost and lease.at and lease.gone_at and lease.at <= case.well_at and lease.gone_at > case.well_at + bound:
            seconds = (lease.gone_at - case.well_at).total_seconds()
            yield Violation("recovery", f"attempt {lease.attempt} was found lost {seconds:.0f} s after", lease.job)
