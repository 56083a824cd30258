"""`horae job` and `horae result`: everything about one job."""

import sys
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from cyclopts import Parameter

from horae.cli.access import HERE, Access
from horae.cli.failure import ERROR
from horae.cli.jobs import duration, progress
from horae.cli.screen import console, facts, note, print_json, safe, state, table
from horae.cli.text import compact, cut, printable, short, size, when
from horae.model.durations import parse_duration
from horae.model.errors import Gone, ResultTimeout
from horae.model.states import State
from horae.wire.jobs import Execution, Job, JobResult

if TYPE_CHECKING:
    from rich.table import Table

    from horae.client.client import Client

LONGEST_POLL: Final = 30.0
SHOWN_RESULT: Final = 2000
_OF_DATA: Final = ("version", "isolation")
"""Columns that only attempts at tasks that are data fill."""


def job(job_id: str, /, *, access: Access = HERE) -> None:
    """Show everything about one job.

    Parameters
    ----------
    job_id
        The job's id.
    """
    with access.client() as client:
        found = client.job(job_id)
        if access.json:
            print_json(found)
            return
        screen = console()
        screen.print(job_facts(found))
        if attempts := client.executions(job_id).items:
            screen.print("\nattempts", style="bold")
            screen.print(_attempts(attempts))
        if found.error is not None:
            screen.print(f"\nerror: {found.error.kind}", style="bold red")
            screen.print(safe((found.error.traceback or found.error.message).rstrip()))
        if found.state is State.SUCCEEDED:
            screen.print("\nresult", style="bold")
            screen.print(safe(cut(_result_or_why(client, job_id), SHOWN_RESULT)))


def _result_or_why(client: "Client", job_id: str) -> str:
    try:
        return result_text(client.result(job_id, wait=0))
    except Gone as error:
        return error.detail


def job_facts(found: Job) -> "Table":
    now = datetime.now(UTC)
    return facts([
        ("id", str(found.id)),
        ("task", found.task),
        ("state", state(found.state)),
        ("progress", progress(found)),
        ("cancelling", "asked to stop" if found.cancel_requested and not found.state.ended else ""),
        ("params", compact(found.params)),
        ("queue", found.queue),
        ("tenant", found.tenant),
        ("priority", str(found.priority)),
        ("attempt", f"{found.attempt} of {found.max_attempts}"),
        ("made", when(found.created_at, now) + (f" by {found.user}" if found.user else "")),
        ("due", when(found.run_at, now)),
        ("started", when(found.started_at, now) + (f" on worker {found.worker_id}" if found.worker_id else "")),
        ("finished", when(found.finished_at, now)),
        ("took", short(duration(found, now))),
        ("timeout", found.timeout or ""),
        ("deadline", when(found.deadline, now)),
        ("expires", when(found.expires, now)),
        ("service level", found.service_level or ""),
        ("start by", when(found.start_by, now)),
        ("unique", compact(found.unique) if found.unique else ""),
        ("retry", compact(found.retry) if found.retry else ""),
        ("concurrency", found.concurrency_key or ""),
        ("labels", ", ".join(f"{name}={value}" for name, value in (found.labels or {}).items())),
        ("cloned from", found.cloned_from or ""),
    ])  # fmt: skip


def _attempts(found: list[Execution]) -> "Table":
    now = datetime.now(UTC)
    of_data = any(run.isolation is not None for run in found)
    rows = (
        (
            str(run.attempt), "running" if run.end is None else run.end.value, str(run.worker_id or ""),
            when(run.started_at, now), short(_took(run, now)),
            short(run.cpu), size(run.peak_memory), *(_of_data(run) if of_data else ()),
            f"{run.error.kind}: {run.error.message}" if run.error else "",
        )
        for run in sorted(found, key=lambda run: run.attempt)
    )  # fmt: skip
    return table(
        ("attempt", "end", "worker", "started", "took", "cpu", "memory", *(_OF_DATA if of_data else ()), "error"),
        rows,
        spare=(*(_OF_DATA if of_data else ()), "memory", "cpu", "worker"),
    )


def _of_data(run: Execution) -> tuple[str, str]:
    return "" if run.task_version is None else str(run.task_version), run.isolation or ""


def _took(run: Execution, now: datetime) -> timedelta | None:
    return None if run.started_at is None else (run.ended_at or now) - run.started_at


def result(
    job_id: str,
    /,
    *,
    wait: bool = False,
    wait_for: str | None = None,
    follow: Annotated[bool, Parameter(alias="-f")] = False,
    access: Access = HERE,
) -> int:
    """Print a job's result, as JSON. The exit code is 1 when it did not succeed, 124 when it has not ended.

    Parameters
    ----------
    job_id
        The job's id.
    wait
        Wait until the job has ended.
    wait_for
        Wait at most this long, e.g. 5m.
    follow
        Print the pieces that the job gives while it runs, each as a line of JSON, and then the result.
    """
    with access.client() as client:
        if follow:
            for piece in client.follow_partials(job_id):
                print(compact(piece if access.json else piece.data), flush=True)
        return print_result(client, job_id, limit_of(wait_for, wait=wait), as_json=access.json)


def limit_of(wait_for: str | None, *, wait: bool) -> float | None:
    """Seconds to wait for a result; None is for ever."""
    if wait_for is not None:
        return parse_duration(wait_for, "--wait-for").total_seconds()
    return None if wait else 0.0


def print_result(client: "Client", job_id: str, limit: float | None, *, as_json: bool) -> int:
    found = await_result(client, job_id, limit)
    if as_json:
        print_json(found)
    elif found.state is State.SUCCEEDED:
        print(result_text(found))
    else:
        why = f": {found.error.kind}: {found.error.message}" if found.error else ""
        note(f"job {job_id} {found.state.value}{why}")
    return 0 if found.state is State.SUCCEEDED else ERROR


def await_result(client: "Client", job_id: str, limit: float | None) -> JobResult:
    """Long polls, one after the other, until the job has ended or the time is up."""
    end = None if limit is None else time.monotonic() + limit
    while True:
        left = LONGEST_POLL if end is None else max(0.0, min(LONGEST_POLL, end - time.monotonic()))
        found = client.result(job_id, wait=left)
        if found.state.ended:
            return found
        if end is not None and time.monotonic() >= end:
            raise ResultTimeout(f"job {job_id} is {found.state.value}: it has not ended yet; wait for it with --wait")


def result_text(found: JobResult) -> str:
    """Indented for eyes; as it came for programs."""
    body = bytes(found.result) if found.result else b"null"
    if not sys.stdout.isatty():
        return body.decode()
    return printable(msgspec.json.format(body, indent=2).decode(), lines=True)
