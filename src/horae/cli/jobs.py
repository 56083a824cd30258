"""`horae jobs`: lists of jobs, by filter."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import Group, Parameter
from rich.live import Live
from rich.table import Table
from rich.text import Text

from horae.cli.access import HERE, Access
from horae.cli.arguments import read_instant, read_pairs
from horae.cli.screen import console, note, print_lines, safe, state, table
from horae.cli.text import relative, short
from horae.model.durations import parse_duration
from horae.model.errors import InvalidInput
from horae.wire.jobs import Job

if TYPE_CHECKING:
    from horae.client.client import Client

LARGEST_PAGE: Final = 500
REFRESH_SECONDS: Final = 2.0


@Parameter(name="*", group=Group("Filter", sort_key=50))
@dataclass(frozen=True, kw_only=True)
class Filter:
    status: str | None = None
    """A state: scheduled, ready, running, succeeded, failed, cancelled …; or pending."""
    task: str | None = None
    queue: str | None = None
    tenant: str | None = None
    user: str | None = None
    """The name of the key that submitted the job."""
    worker: int | None = None
    """The id of the worker that ran it last."""
    label: list[str] = field(default_factory=list)
    """A label as name=value. May be repeated."""
    since: str | None = None
    """Made at or after this instant, or this long ago (e.g. 2h)."""
    until: str | None = None
    """Made before this instant, or this long ago."""
    cause: str | None = None
    """Dead letters with this cause, as `horae dead list` shows it."""
    text: str | None = None
    """What stands in its id, task, queue, labels, or the beginning of its params or error."""

    def query(self) -> dict[str, Any]:
        names = ("status", "task", "queue", "tenant", "user", "worker", "cause", "text")
        found = {name: getattr(self, name) for name in names}
        found |= {"since": moment(self.since, "since"), "until": moment(self.until, "until")}
        found["label"] = read_pairs(self.label, "label") or None
        return {name: value for name, value in found.items() if value is not None}


EVERYTHING: Final = Filter()


def moment(text: str | None, option: str) -> datetime | None:
    """An instant, or a duration counted back from now."""
    if text is None:
        return None
    try:
        return datetime.now(UTC) - parse_duration(text, option)
    except InvalidInput:
        return read_instant(text, option)


def jobs(
    *,
    limit: int = 50,
    everything: Annotated[bool, Parameter(name="--all")] = False,
    watch: bool = False,
    ids: bool = False,
    only: Filter = EVERYTHING,
    access: Access = HERE,
) -> None:
    """List jobs, the latest first.

    Parameters
    ----------
    limit
        How many to show (50).
    everything
        Show all there are, however many.
    watch
        Show the list anew every two seconds, until Ctrl-C.
    ids
        Print the ids alone, one a line, as cancel and retry take them.
    """
    with access.client() as client:
        if watch and not access.json:
            _watch(client, only, limit)
            return
        found = _find(client, only, None if everything else limit)
        if access.json or ids:
            print_lines(found) if access.json else _print_ids(found)
            return
        shown = list(found)
        console().print(job_table(shown))
        if len(shown) == limit and not everything:
            note(f"the first {limit}; more with --limit or --all")


def _print_ids(found: Iterator[Job]) -> None:
    for job in found:
        print(job.id)


def _find(client: "Client", only: Filter, limit: int | None) -> Iterator[Job]:
    page = LARGEST_PAGE if limit is None else max(1, min(limit, LARGEST_PAGE))
    return islice(client.iter_jobs(**only.query(), limit=page), limit)


def _watch(client: "Client", only: Filter, limit: int) -> None:
    with Live(console=console(), auto_refresh=False, transient=True) as live:
        while True:
            live.update(job_table(list(_find(client, only, limit))), refresh=True)
            time.sleep(REFRESH_SECONDS)


def job_table(found: list[Job]) -> Table:
    now = datetime.now(UTC)
    columns = ("id", "task", "state", "queue", "priority", "attempt", "made", "took", "remark")
    return table(columns, (_row(job, now) for job in found), spare=("queue", "priority", "took", "attempt"))


def _row(job: Job, now: datetime) -> tuple[str | Text, ...]:
    return (
        str(job.id), job.task, state(job.state), job.queue, str(job.priority), f"{job.attempt}/{job.max_attempts}",
        relative(job.created_at, now), short(duration(job, now)), remark(job, now),
    )  # fmt: skip


def duration(job: Job, now: datetime) -> timedelta | None:
    return None if job.started_at is None else (job.finished_at or now) - job.started_at


def remark(job: Job, now: datetime) -> Text:
    """What one would ask next about a job in this state."""
    if job.error is not None:
        return safe(f"{job.error.kind}: {job.error.message}".split("\n", 1)[0])
    if job.cancel_requested:
        return Text("asked to stop")
    if job.progress is not None and not job.state.ended:
        return safe(progress(job))
    return Text(f"runs {relative(job.run_at, now)}" if job.run_at > now else "")


def progress(job: Job) -> str:
    view = job.progress
    if view is None:
        return ""
    amount = f"{view.done:g}" if view.total is None else f"{view.done:g}/{view.total:g}"
    return f"{amount} {view.note}" if view.note else amount
