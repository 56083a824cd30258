"""`horae schedule import`: a crontab becomes schedules. Says of every line what was understood."""

import msgspec

from horae.cli.access import HERE, Access
from horae.cli.arguments import Dashed, read_file
from horae.cli.failure import ERROR
from horae.cli.screen import note, print_json
from horae.model.crontab import Entry, read_crontab
from horae.model.definition import ScheduleDefinition
from horae.model.errors import InvalidInput


def import_file(
    file: Dashed,
    /,
    *,
    task: str | None = None,
    prefix: str = "crontab",
    tz: str = "UTC",
    system: bool = False,
    dry_run: bool = False,
    tenant: str | None = None,
    access: Access = HERE,
) -> int:
    """Make schedules of a crontab: one for each line, running a task that gets the line's command.

    Parameters
    ----------
    file
        The crontab, or - for stdin (crontab -l | horae schedule import - …).
    task
        The task to run. It gets the parameters command, and stdin and env if the line has them.
    prefix
        Names are PREFIX-LINE (crontab).
    tz
        The zone of lines that name none: cron's own is that of its machine (UTC).
    system
        The file has a user before each command, as /etc/crontab.
    dry_run
        Only explain what was understood.
    tenant
        For keys that belong to no tenant.
    """
    entries = read_crontab(read_file(file), system)
    if not dry_run and task is None:
        raise InvalidInput("which task shall run the commands? Give --task, or --dry-run to look first")
    for entry in entries:
        _explain(entry, access)
    wanted = [_definition(entry, task or "", prefix, tz) for entry in entries if entry.rule is not None]
    if not dry_run:
        with access.client() as client:
            for definition in wanted:
                done = client.schedules.put(definition, "imported from a crontab", tenant)
                print_json(done) if access.json else print(definition.name, done.outcome)
    return ERROR if any(entry.error for entry in entries) else 0


def _explain(entry: Entry, access: Access) -> None:
    if access.json:
        print_json(entry)
        return
    print(f"line {entry.line}: {entry.text}")
    for remark in entry.notes:
        print(f"  {remark}")
    for warning in entry.warnings:
        print(f"  warning: {warning}")
    if entry.error is not None:
        note(f"line {entry.line} is left out: {entry.error}")


def _definition(entry: Entry, task: str, prefix: str, tz: str) -> ScheduleDefinition:
    given = {"command": entry.command, "stdin": entry.stdin, "env": entry.env or None}
    return ScheduleDefinition(
        name=f"{prefix}-{entry.line}",
        task=task,
        params={name: value for name, value in given.items() if value is not None},
        rules=[] if entry.rule is None else [msgspec.structs.replace(entry.rule)],
        tz=entry.tz or tz,
        description=entry.text[:200],
    )
