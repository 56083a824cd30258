"""`horae dead`: failed jobs by cause, to look at, run again or discard."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

import msgspec
from cyclopts import App
from rich.text import Text

from horae.cli.access import HERE, Access
from horae.cli.arguments import NOTHING, Dashed, JobArguments, read_ids
from horae.cli.jobs import job_table, moment
from horae.cli.screen import console, facts, note, print_json, print_lines, safe, table
from horae.cli.text import cut, relative, when
from horae.cli.where import NONE, Many, carry_out, read_where
from horae.model.actions import ActionKind
from horae.model.errors import InvalidInput, NotFound
from horae.wire.actions import Action, Cause, DeadLetterRequest, JobsFilter
from horae.wire.jobs import JobChanges

if TYPE_CHECKING:
    from rich.table import Table

    from horae.client.client import Client

app = App(name="dead", help="Look at failed jobs by cause, run them again, or discard them.")
MESSAGE: Final = 80


@app.command(name="list")
def list_causes(
    *,
    task: str | None = None,
    tenant: str | None = None,
    since: str | None = None,
    until: str | None = None,
    access: Access = HERE,
) -> None:
    """List the causes of failures, the most frequent first: one line for each, however many jobs failed so.

    Parameters
    ----------
    task
        Only causes that this task's jobs failed of.
    tenant
        For keys that belong to no tenant.
    since
        Of jobs made at or after this instant, or this long ago (e.g. 2h).
    until
        Of jobs made before this instant, or this long ago.
    """
    with access.client() as client:
        found = client.dead_letters(
            task=task, tenant=tenant, since=moment(since, "since"), until=moment(until, "until")
        ).causes
    if access.json:
        print_lines(found)
        return
    now = datetime.now(UTC)
    columns = ("cause", "count", "error", "message", "tasks", "last", "first")
    console().print(table(columns, (_row(cause, now) for cause in found), spare=("first", "tasks")))
    if not found:
        note("no dead letters")


def _row(cause: Cause, now: datetime) -> tuple[str | Text, ...]:
    kind, message = ("", "") if cause.error is None else (cause.error.kind, cause.error.message.split("\n", 1)[0])
    return (
        cause.cause or "-", str(cause.count), kind, cut(message, MESSAGE), ",".join(cause.tasks),
        relative(cause.last_at, now), relative(cause.first_at, now),
    )  # fmt: skip


@app.command
def show(cause: str, /, *, limit: int = 20, tenant: str | None = None, access: Access = HERE) -> None:
    """Show one cause and its newest jobs. `horae job` and `horae logs` tell more about each.

    Parameters
    ----------
    cause
        The cause, as `horae dead list` shows it.
    limit
        How many jobs to show (20).
    tenant
        For keys that belong to no tenant.
    """
    with access.client() as client:
        found = client.dead_letters(cause=cause, limit=limit, tenant=tenant)
    if not found.causes:
        raise NotFound(f"there are no dead letters with the cause {cause!r}")
    if access.json:
        print_json(found)
        return
    for group in found.causes:
        console().print(_facts(group))
    console().print(job_table(found.jobs or []))


def _facts(group: Cause) -> "Table":
    now = datetime.now(UTC)
    error = safe("" if group.error is None else f"{group.error.kind}: {group.error.message}")
    return facts([
        ("cause", group.cause or "-"),
        ("tenant", group.tenant),
        ("jobs", f"{group.count:,}"),
        ("error", error),
        ("tasks", ", ".join(group.tasks)),
        ("first", when(group.first_at, now)),
        ("last", when(group.last_at, now)),
    ])  # fmt: skip


@app.command
def redrive(
    *causes: Dashed,
    job: list[str] | None = None,
    every: bool = False,
    reason: str = "",
    many: Many = NONE,
    changes: JobArguments = NOTHING,
    access: Access = HERE,
) -> int:
    """Run dead letters again, at a rate (100 a second unless told otherwise), with all their attempts anew.

    Parameters
    ----------
    causes
        Causes, as `horae dead list` shows them; - reads them from stdin.
    job
        A single job's id. May be repeated.
    every
        All dead letters there are.
    reason
        Why, for those who look later.
    """
    wanted = None if changes == NOTHING else changes.changes()
    return _each(ActionKind.REDRIVE, causes, job, wanted, reason, many, access, every=every)


@app.command
def discard(
    *causes: Dashed,
    job: list[str] | None = None,
    every: bool = False,
    reason: str = "",
    many: Many = NONE,
    access: Access = HERE,
) -> int:
    """Take jobs out of the dead letters. They stay failed; `horae action undo` brings them back within an hour.

    Parameters
    ----------
    causes
        Causes, as `horae dead list` shows them; - reads them from stdin.
    job
        A single job's id. May be repeated.
    every
        All dead letters there are.
    reason
        Why, for those who look later.
    """
    return _each(ActionKind.DISCARD, causes, job, None, reason, many, access, every=every)


def _each(
    kind: ActionKind, causes: tuple[str, ...], jobs: list[str] | None, changes: JobChanges | None, reason: str,
    many: Many, access: Access, *, every: bool,
) -> int:  # fmt: skip
    wanted = _filters(causes, jobs, many, every=every)
    with access.client() as client:
        return max(_act(client, kind, one, changes, reason, many, as_json=access.json) for one in wanted)


def _filters(causes: tuple[str, ...], jobs: list[str] | None, many: Many, *, every: bool) -> list[JobsFilter]:
    """One action for each cause; the jobs that are named are one action."""
    base = read_where(many.where)
    if not (causes or jobs or many.where or every):
        raise InvalidInput("say which: causes, --job ID, --where name=value, or --every")
    if jobs:
        base.ids = [_id(job) for job in jobs]
    return [msgspec.structs.replace(base, cause=cause) for cause in read_ids(causes)] if causes else [base]


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise InvalidInput(f"--job: {text[:80]!r} is no job's id, which is a UUID") from None


def _act(
    client: "Client", kind: ActionKind, wanted: JobsFilter, changes: JobChanges | None, reason: str, many: Many, *,
    as_json: bool,
) -> int:  # fmt: skip
    def ask(*, preview: bool) -> Action:
        request = DeadLetterRequest(filter=wanted, changes=changes, reason=reason, rate=many.rate, preview=preview)
        return client.redrive(request) if kind is ActionKind.REDRIVE else client.discard(request)

    return carry_out(client, ask, many, as_json=as_json)
