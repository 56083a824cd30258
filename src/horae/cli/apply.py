"""`horae apply`: makes schedules and calendars what a file or an app says, and shows the difference first."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from cyclopts import Parameter

from horae.cli.access import HERE, Access
from horae.cli.arguments import read_file
from horae.cli.screen import note, print_json
from horae.cli.text import compact
from horae.model.calendars import CalendarDefinition
from horae.model.definition import ScheduleDefinition, settled
from horae.model.errors import InvalidInput, NotFound, UnknownTask
from horae.model.task import TaskDefinition

if TYPE_CHECKING:
    from horae.client.client import Client


class Document(msgspec.Struct, forbid_unknown_fields=True):
    """What stands in a file."""

    calendars: list[CalendarDefinition] = []
    schedules: list[ScheduleDefinition] = []


def apply(
    *,
    file: Annotated[str | None, Parameter(name=["--file", "-f"], allow_leading_hyphen=True)] = None,
    app: str | None = None,
    dry_run: bool = False,
    delete: bool = False,
    why: str = "",
    tenant: str | None = None,
    access: Access = HERE,
) -> None:
    """Make schedules and calendars what a file says, or the schedules what an app declares. What is so is left alone.

    Parameters
    ----------
    file
        A YAML or JSON file with schedules and calendars, or - for stdin.
    app
        An app whose declared schedules to apply: package.module:app or path/to/file.py:app.
    dry_run
        Only show what would change.
    delete
        Also delete schedules that are not in the file.
    why
        For the history of the schedules.
    tenant
        For keys that belong to no tenant.
    """
    wanted = Document()
    tasks: dict[str, TaskDefinition] = {}
    if file is not None:
        wanted = read_document(read_file(file))
    if app is not None:
        from horae.client.loading import load_app

        loaded = load_app(app)
        wanted.schedules += loaded.schedules.values()
        tasks = {name: task.definition for name, task in loaded.tasks.items()}
    if not wanted.schedules and not wanted.calendars:
        raise InvalidInput("there is nothing to apply: give a file with -f, or --app of an app that declares schedules")
    with access.client() as client:
        for calendar in wanted.calendars:
            _apply_calendar(client, calendar, tenant, access, dry_run=dry_run)
        for definition in wanted.schedules:
            with _named(definition.name):
                if dry_run:
                    _look(client, wanted, definition, tenant, access)
                else:
                    _apply_schedule(client, definition, tasks.get(definition.task), why, tenant, access)
        if delete:
            names = {definition.name for definition in wanted.schedules}
            _delete_others(client, names, why, tenant, access, dry_run=dry_run)
    if dry_run:
        note("nothing was changed: this was a dry run")


@contextlib.contextmanager
def _named(schedule: str) -> Iterator[None]:
    """A file has many schedules: what is wrong with one says with which."""
    try:
        yield
    except InvalidInput as error:
        raise type(error)(f"schedule {schedule}: {error.detail}", **error.extra) from error


def read_document(text: str) -> Document:
    import yaml

    try:
        return msgspec.convert(_plain(yaml.safe_load(text) or {}), Document)
    except (yaml.YAMLError, msgspec.ValidationError) as error:
        raise InvalidInput(f"the file is not what was expected: {error}") from error


def _plain(value: Any) -> Any:
    """YAML reads some dates by itself; what the API takes is text."""
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.isoformat() if hasattr(value, "isoformat") else value


def _apply_calendar(
    client: "Client", wanted: CalendarDefinition, tenant: str | None, access: Access, *, dry_run: bool
) -> None:
    try:
        before: CalendarDefinition | None = client.schedules.calendar(wanted.name, tenant).definition
    except NotFound:
        before = None
    if before != wanted and not dry_run:
        client.schedules.put_calendar(wanted, tenant)
    _say("calendar", wanted.name, before, wanted, access)


def _apply_schedule(
    client: "Client", wanted: ScheduleDefinition, task: TaskDefinition | None, why: str, tenant: str | None,
    access: Access,
) -> None:  # fmt: skip
    before = _saved(client, wanted.name, tenant)
    wanted = settled(wanted)
    if before != wanted:
        try:
            client.schedules.put(wanted, why, tenant)
        except UnknownTask:
            if task is None:
                raise
            client.put_task(task)
            client.schedules.put(wanted, why, tenant)
    _say("schedule", wanted.name, before, wanted, access)


def _look(client: "Client", document: Document, wanted: ScheduleDefinition, tenant: str | None, access: Access) -> None:
    """A preview refuses what the server would refuse. Calendars of the same file may not be there yet."""
    wanted = settled(wanted)
    coming = {calendar.name for calendar in document.calendars}
    known = msgspec.structs.replace(wanted, calendars=[name for name in wanted.calendars if name not in coming])
    with contextlib.suppress(UnknownTask):  # An app registers its tasks when it is applied.
        client.schedules.preview(known, 1, tenant=tenant)
    _say("schedule", wanted.name, _saved(client, wanted.name, tenant), wanted, access)


def _saved(client: "Client", name: str, tenant: str | None) -> ScheduleDefinition | None:
    try:
        return client.schedules.get(name, tenant).definition
    except NotFound:
        return None


def _delete_others(
    client: "Client", names: set[str], why: str, tenant: str | None, access: Access, *, dry_run: bool
) -> None:
    page = client.schedules.list(tenant=tenant)
    found = page.items
    while page.next_cursor is not None:
        page = client.schedules.list(tenant=tenant, cursor=page.next_cursor)
        found += page.items
    for schedule in found:
        if schedule.definition.name not in names:
            if not dry_run:
                client.schedules.delete(schedule.definition.name, why, schedule.tenant)
            _say("schedule", schedule.definition.name, schedule.definition, None, access)


def _say(kind: str, name: str, before: msgspec.Struct | None, after: msgspec.Struct | None, access: Access) -> None:
    if before == after:
        outcome = "unchanged"
    else:
        outcome = "deleted" if after is None else "created" if before is None else "changed"
    lines = [] if before is None or after is None else differences(before, after)
    if access.json:
        print_json({"kind": kind, "name": name, "outcome": outcome, "differences": lines})
        return
    print(f"{kind} {name}: {outcome}")
    for line in lines:
        print(f"  {line}")


def differences(before: msgspec.Struct, after: msgspec.Struct) -> list[str]:
    """One line a field that differs: `tz: "UTC" → "Europe/Berlin"`."""
    old, new = msgspec.to_builtins(before), msgspec.to_builtins(after)
    lines = []
    for field in sorted(old.keys() | new.keys()):
        if old.get(field) != new.get(field):
            was, will = (compact(side[field]) if field in side else "(default)" for side in (old, new))
            lines.append(f"{field}: {was} → {will}")
    return lines
