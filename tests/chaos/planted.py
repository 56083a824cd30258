"""Bugs that are planted on purpose, one at a time: a suite that does not find them would not find others.

    python -m tests.chaos.planted NAME -- server --port 8420

starts the program `horae` with that bug in it. The product has no switches for them: they are put into the process from
outside, before the program starts. In a test each of them must be caught by the checker that it names.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from .bugs import servers, statements, workers


class Bug(NamedTuple):
    plant: Callable[[], None]
    breaks: str
    """What is no longer true with it."""
    checker: tuple[str, ...]
    """Those of which one at least must find something."""
    faults: tuple[str, ...]
    """What brings it out in a whole world under load, struck over and over."""


PLANTED: Final[dict[str, Bug]] = {
    "no-fence": Bug(
        statements.no_fence, "an end counts only for the attempt and worker that hold the lease",
        ("stale", "transitions"),
        ("worker.host.stop.long", "proxy.answer", "failpoint.reschedule.after_commit"),
    ),
    "ack-before-commit": Bug(
        servers.ack_before_commit, "an answer is given only after the commit", ("lost",), ("server.kill",),
    ),
    "tick-without-id": Bug(
        servers.tick_without_id, "a tick has one id, whoever makes its job", ("ticks",), ("server.kill",),
    ),
    "limits-in-memory": Bug(
        servers.limits_in_memory, "what runs under a limit is counted by lease rows", ("limits",), ("server.kill",),
    ),
    "reclaim-from-the-living": Bug(
        statements.reclaim_from_the_living, "jobs are taken only from a worker whose lease has ended",
        ("leases",), ("worker.stop",),
    ),
    "idempotency-ignored": Bug(
        servers.idempotency_ignored, "one idempotency key makes one job", ("idempotency", "unexpected"),
        ("proxy.reset",),
    ),
    "retry-twice": Bug(
        statements.retry_twice, "a job that is tried again waits in one place", ("transitions",), ("child.kill",),
    ),
    "claim-without-lock": Bug(
        statements.claim_without_lock, "a job is granted to one worker", ("overlaps", "leases"), ("server.kill",),
    ),
    "cancelled-and-done": Bug(
        servers.cancelled_and_done, "a job that was cancelled stays so", ("transitions",), ("worker.stop",),
    ),
    "result-of-another": Bug(
        servers.result_of_another, "a result is that of the attempt that ended the job", ("results",), ("worker.stop",),
    ),
    "timers-only-ahead": Bug(
        servers.timers_only_ahead, "what fell due while nobody looked becomes ready", ("lost",),
        ("postgres.restart", "server.stop"),
    ),
    "lost-answers-ignored": Bug(
        servers.lost_answers_ignored, "grants in answers that got lost are given away again", ("lost",),
        ("proxy.answer", "failpoint.exchange.before_answer", "failpoint.claim.after_commit"),
    ),
    "no-retries": Bug(
        servers.no_retries, "a job fails only when its attempts are used up", ("outcomes",), ("child.kill",),
    ),
    "newest-tenant-first": Bug(
        servers.newest_tenant_first, "every tenant has its share of the workers", ("waits",), ("worker.stop",),
    ),
    "no-comeback": Bug(
        servers.no_comeback, "who is refused is told when to come back", ("comebacks",), ("server.kill",),
    ),
    "cancel-forgotten": Bug(
        servers.cancel_forgotten, "what was cancelled does not run", ("cancels",), ("server.kill",),
    ),
    "action-forgotten": Bug(
        servers.action_forgotten, "an action on many jobs that is done has been carried out", ("cancels",),
        ("server.kill",),
    ),
    "tick-given-up": Bug(
        servers.tick_given_up, "a tick is skipped only for a reason of its schedule", ("ticks",), ("server.kill",),
    ),
    "never-fenced": Bug(
        workers.never_fenced, "a worker whose lease is over has ended all it ran", ("overlaps", "outruns"),
        ("worker.stop.long", "partition.both.long"),
    ),
    "heart-apart": Bug(
        workers.heart_apart, "a lease ends with the agent", ("lost", "recovery"), ("worker.kill", "worker.stop.long"),
    ),
    "heart-goes-on": Bug(
        workers.heart_apart, "a worker that cannot work has no lease", ("recovery",), ("worker.stop.long",),
    ),
    "crash-forgotten": Bug(
        workers.crash_forgotten, "a job whose process dies is reported", ("lost",), ("child.kill",),
    ),
    "report-forgotten": Bug(
        workers.report_forgotten, "an end is reported until an answer came", ("lost",),
        ("failpoint.succeed.before_commit", "proxy.reset", "server.kill"),
    ),
}  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    from horae.cli.program import run

    name, dashes, *rest = arguments
    if name not in PLANTED or dashes != "--":
        print(f"usage: planted BUG -- ARGUMENTS; bugs: {', '.join(PLANTED)}", file=sys.stderr)
        return 2
    PLANTED[name].plant()
    print(f"planted: {name}", file=sys.stderr, flush=True)
    return run(rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
