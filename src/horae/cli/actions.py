"""`horae action`: something done to all jobs that match a filter, followed, stopped and undone."""

from datetime import UTC, datetime

from cyclopts import App
from rich.text import Text

from horae.cli.access import HERE, Access
from horae.cli.arguments import NOTHING, JobArguments
from horae.cli.screen import console, facts, print_json, print_lines, table
from horae.cli.text import absolute, compact, relative, when
from horae.cli.where import NONE, Many, act, follow, told
from horae.model.actions import ActionKind
from horae.model.errors import InvalidInput
from horae.wire.actions import Action

app = App(name="action", help="Do something to all jobs that match a filter; follow, stop and undo it.")


@app.command
def run(
    kind: ActionKind, /, *, reason: str = "", many: Many = NONE, changes: JobArguments = NOTHING, access: Access = HERE
) -> int:
    """Act on all jobs that match: counted first, then asked for, then followed until it is done.

    Parameters
    ----------
    kind
        cancel, retry, redrive, reprioritise, reschedule, discard or change.
    reason
        Why, for those who look at the jobs later.
    """
    if not many.where:
        raise InvalidInput("say which jobs with --where, e.g. --where task=mail --where status=pending")
    wanted = None if changes == NOTHING else changes.changes()
    with access.client() as client:
        return act(client, kind, many, wanted, reason, as_json=access.json)


@app.command(name="list")
def list_actions(*, limit: int = 50, access: Access = HERE) -> None:
    """List the actions, the latest first.

    Parameters
    ----------
    limit
        How many to show (50).
    """
    with access.client() as client:
        found = client.actions(limit=limit).items
    if access.json:
        print_lines(found)
        return
    now = datetime.now(UTC)
    columns = ("id", "action", "state", "done", "of", "made", "by", "filter")
    console().print(table(columns, (_row(action, now) for action in found), spare=("filter", "by")))


def _row(action: Action, now: datetime) -> tuple[str | Text, ...]:
    total = f"{action.total}{'+' if action.more else ''}"
    return (
        str(action.id), action.action.value, action.state.value, str(action.done), total,
        relative(action.created_at, now), action.by or "", compact(action.filter),
    )  # fmt: skip


@app.command
def show(action_id: str, /, *, access: Access = HERE) -> None:
    """Show one action and how far it is.

    Parameters
    ----------
    action_id
        The action's id.
    """
    with access.client() as client:
        found = client.action(action_id)
    if access.json:
        print_json(found)
        return
    now = datetime.now(UTC)
    console().print(
        facts([
            ("id", str(found.id)),
            ("action", told(found)),
            ("tenant", found.tenant),
            ("filter", compact(found.filter)),
            ("changes", compact(found.changes) if found.changes else ""),
            ("reason", found.reason),
            ("rate", f"{found.rate:g} a second" if found.rate else ""),
            ("made", when(found.created_at, now) + (f" by {found.by}" if found.by else "")),
            ("seen", f"{found.seen} of {found.total}{'+' if found.more else ''}"),
            ("finished", when(found.finished_at, now)),
            ("undo", f"possible until {absolute(found.undo_until)}" if found.undo_until else ""),
            ("remark", found.note or ""),
        ])
    )  # fmt: skip


@app.command
def cancel(action_id: str, /, *, access: Access = HERE) -> None:
    """Stop an action where it is. What it has done stays done.

    Parameters
    ----------
    action_id
        The action's id.
    """
    with access.client() as client:
        stopped = client.cancel_action(action_id)
    print_json(stopped) if access.json else print(told(stopped))


@app.command
def undo(action_id: str, /, *, access: Access = HERE) -> int:
    """Put back what an action did, within an hour, as far as nothing has happened to the jobs since.

    Parameters
    ----------
    action_id
        The action's id.
    """
    with access.client() as client:
        return follow(client, client.undo_action(action_id), as_json=access.json)
