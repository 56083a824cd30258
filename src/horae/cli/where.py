"""Doing something to all jobs that match: counted and shown first, then asked, then followed with a progress bar."""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from cyclopts import Group, Parameter
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from horae.cli.failure import ERROR
from horae.cli.jobs import job_table, moment
from horae.cli.screen import console, note, print_json
from horae.model.actions import ActionKind, ActionState
from horae.model.errors import InvalidInput
from horae.wire.actions import Action, ActionRequest, JobsFilter
from horae.wire.jobs import JobChanges

if TYPE_CHECKING:
    from horae.client.client import Client

POLL_SECONDS: Final = 0.3
UNDER_WAY: Final = frozenset({ActionState.RUNNING, ActionState.UNDOING})
_WORDS: Final = ("status", "tenant", "user", "task", "queue", "cause", "text")


@Parameter(name="*", group=Group("Many at once", sort_key=40))
@dataclass(frozen=True, kw_only=True)
class Many:
    where: list[str] = field(default_factory=list)
    """All jobs with name=value: status, task, queue, user, worker, label (as NAME:VALUE), since … May be repeated."""
    rate: float | None = None
    """Jobs a second at most. Those that run again have 100 unless told otherwise."""
    dry_run: bool = False
    """Only count them and show some."""
    yes: bool = False
    """Do not ask."""


NONE: Final = Many()


def read_where(pairs: Sequence[str]) -> JobsFilter:
    found: dict[str, Any] = {"label": {}}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise InvalidInput(f"--where: {pair[:80]!r} is not name=value")
        if name in found and name != "label":
            raise InvalidInput(f"--where: {name} stands twice")
        _read_one(found, name, value)
    return JobsFilter(**found)


def _read_one(found: dict[str, Any], name: str, value: str) -> None:
    if name in _WORDS:
        found[name] = value
    elif name in ("since", "until"):
        found[name] = moment(value, f"where {name}")
    elif name == "worker" and value.isascii() and value.isdigit():
        found[name] = int(value)
    elif name == "label" and ":" in value:
        label, _, text = value.partition(":")
        found["label"][label] = text
    else:
        raise InvalidInput(
            f"--where: {name[:40]}={value[:40]!r} is none of {', '.join(_WORDS)}, since, until, worker=NUMBER, "
            "label=NAME:VALUE"
        )


def act(
    client: "Client", kind: ActionKind, many: Many, changes: JobChanges | None, reason: str = "", *, as_json: bool
) -> int:
    """An action on all jobs that `--where` names."""
    wanted = read_where(many.where)

    def ask(*, preview: bool) -> Action:
        request = ActionRequest(
            action=kind, filter=wanted, changes=changes, reason=reason, rate=many.rate, preview=preview
        )
        return client.act(request)

    return carry_out(client, ask, many, as_json=as_json)


def carry_out(client: "Client", ask: Callable[..., Action], many: Many, *, as_json: bool) -> int:
    if many.dry_run:
        preview = ask(preview=True)
        print_json(preview) if as_json else show_preview(preview)
        return 0
    if not many.yes:
        preview = ask(preview=True)
        if preview.total == 0:
            note("no job matches")
            return 0
        _confirm(preview)
    return follow(client, ask(preview=False), as_json=as_json)


def show_preview(preview: Action) -> None:
    console().print(job_table(preview.sample))
    note(f"{_many(preview)} would be concerned by {preview.action}, in tenant {preview.tenant}; nothing was done")


def _confirm(preview: Action) -> None:
    if not sys.stdin.isatty():
        raise InvalidInput(f"{preview.action} would concern {_many(preview)}: say --yes, or look first with --dry-run")
    console(sys.stderr).print(job_table(preview.sample))
    answer = input(f"{preview.action} {_many(preview)} in tenant {preview.tenant}? [y/N] ")
    if answer.strip().lower() not in ("y", "yes"):
        raise InvalidInput("nothing was done")


def _many(action: Action) -> str:
    count = action.total or 0
    return f"{'more than ' if action.more else ''}{count:,} {'job' if count == 1 else 'jobs'}"


def follow(client: "Client", action: Action, *, as_json: bool) -> int:
    """Until it has ended. It goes on without us, should we be interrupted."""
    note(f"action {action.id}")
    with _bar() as bar:
        shown = bar.add_task(action.action.value, total=None if action.more else action.total, done=0)
        while action.state in UNDER_WAY:
            time.sleep(POLL_SECONDS)
            action = client.action(str(action.id))
            done = action.undone if action.state is ActionState.UNDOING else action.seen
            bar.update(shown, completed=done, done=done)
    if as_json:
        print_json(action)
    else:
        print(told(action))
    return 0 if action.state in (ActionState.DONE, ActionState.UNDONE) and not action.failed else ERROR


def told(action: Action) -> str:
    """`cancel done: 120 jobs, 3 had moved on`."""
    parts = [f"{action.done:,} {'job' if action.done == 1 else 'jobs'}"]
    parts += [f"{action.skipped:,} had moved on"] if action.skipped else []
    parts += [f"{action.failed:,} failed ({action.note})"] if action.failed else []
    parts += [f"{action.undone:,} undone"] if action.undone else []
    return f"{action.action} {action.state}: {', '.join(parts)}"


def _bar() -> Progress:
    screen = console(sys.stderr)
    columns = (
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[done]} jobs"),
        TimeElapsedColumn(),
    )  # fmt: skip
    return Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal)
