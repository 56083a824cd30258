"""Bugs in SQL: a named statement is sent with another text. What is to be replaced must be there, so that a statement
that was rewritten since breaks its plant loudly instead of leaving a bug that is none.
"""

from horae.store.statements import statements

COMPLETIONS = ("job_succeed", "job_complete", "job_reschedule")
SLOWLY = "0.5"
"""Seconds that a claim takes, so that two meet: the other server hears of the jobs a moment later."""


class NotThere(Exception):
    """A text that was to be replaced is gone: the plant needs to be done anew."""


def swap(name: str, old: str, new: str) -> None:
    sql = statements()[name]
    if sql.count(old) != 1:
        raise NotThere(f"the statement {name} has {sql.count(old)} times: {old}")
    statements()[name] = sql.replace(old, new)


def no_fence() -> None:
    for name in COMPLETIONS:
        swap(name, "and lease.attempt = f.attempt\n", "\n")
        swap(name, "and lease.worker_id + 0 = $1 ", "and $1::int is not null ")


def reclaim_from_the_living() -> None:
    """Every worker that was not heard of for a second."""
    sooner = "and seen_at <= least({now}::timestamptz, clock_timestamp()) - interval '1 second'"
    swap(
        "worker_expired",
        "and expires_at <= least($1::timestamptz, (select clock_timestamp()))",
        sooner.format(now="$1"),
    )
    swap("worker_lose", "and expires_at <= least($2::timestamptz, clock_timestamp())", sooner.format(now="$2"))


def retry_twice() -> None:
    swap("job_reschedule", "from ended where pause <= 0\n", "from ended\n")


def claim_without_lock() -> None:
    swap("job_claim", "        for update skip locked\n", "")
    swap("job_claim", "array(select place from picked)", f"array(select place from picked, pg_sleep({SLOWLY}))")
    swap("job_claim", "attempt, $2 from picked\n", "attempt, $2 from picked on conflict do nothing\n")
