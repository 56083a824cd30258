"""`horae schedule`: rules that make jobs. Making, changing and ending them; the rest is in files of its own."""

from typing import TYPE_CHECKING

from cyclopts import App

from horae.cli.access import HERE, Access
from horae.cli.arguments import read_params
from horae.cli.schedulearguments import NO_TIMES, NOTHING, WhatArguments, WhenArguments, definition
from horae.cli.scheduletables import schedule_facts, tick_table
from horae.cli.screen import console, note, print_json
from horae.model.errors import InvalidInput
from horae.wire.schedules import Schedule

if TYPE_CHECKING:
    from horae.client.client import Client

app = App(name="schedule", help="Schedules: rules that make jobs.")
app.command("horae.cli.schedulelooks:list_schedules", name="list", help="List the schedules.")
app.command("horae.cli.schedulelooks:show", help="Show a schedule, its next ticks and its latest ones.")
app.command("horae.cli.schedulelooks:preview", help="Show the ticks to come, before or after saving.")
app.command("horae.cli.schedulelooks:ticks", help="Show what became of a schedule's ticks.")
app.command("horae.cli.schedulelooks:history", help="Show who changed a schedule, when, why, and what.")
app.command("horae.cli.backfills:backfill", help="Run ticks of the past that have not succeeded.")
app.command("horae.cli.crontab:import_file", name="import", help="Make schedules of a crontab.")
app.command("horae.cli.forecast:forecast", help="Show what all schedules do, minute by minute.")
app.command("horae.cli.forecast:agenda", help="Show which schedules fire on which day.")
app.command("horae.cli.forecast:limit", help="Show or say how often schedules of a tenant may fire.")


@app.command
def create(
    name: str,
    task: str,
    /,
    *,
    paused: bool = False,
    why: str = "",
    tenant: str | None = None,
    times: WhenArguments = NO_TIMES,
    job: WhatArguments = NOTHING,
    access: Access = HERE,
) -> None:
    """Create a schedule. Look at it first with `horae schedule preview`.

    Parameters
    ----------
    name
        The schedule's name, unique in its tenant.
    task
        The task to run.
    paused
        Do not start it yet.
    why
        For its history.
    tenant
        For keys that belong to no tenant.
    """
    wanted = definition(name, task, times, job)
    with access.client() as client:
        _show(client, client.schedules.create(wanted, why, paused=paused, tenant=tenant), access)


@app.command
def edit(
    name: str,
    /,
    *,
    task: str | None = None,
    why: str = "",
    tenant: str | None = None,
    times: WhenArguments = NO_TIMES,
    job: WhatArguments = NOTHING,
    access: Access = HERE,
) -> None:
    """Change a schedule. Only what is given changes; rules, calendars, windows and params are replaced as a whole.

    Parameters
    ----------
    name
        The schedule's name.
    task
        The task to run.
    why
        For its history.
    tenant
        For keys that belong to no tenant.
    """
    changes = times.fields() | job.fields() | ({"task": task} if task else {})
    if not changes:
        raise InvalidInput("nothing to change: give at least one of the options under When or Job")
    with access.client() as client:
        _show(client, client.schedules.change(name, changes, why, tenant), access)


@app.command
def pause(*names: str, why: str = "", tenant: str | None = None, access: Access = HERE) -> None:
    """Let schedules rest. What has not started is taken back; what runs goes on.

    Parameters
    ----------
    names
        Their names.
    why
        For the history.
    tenant
        For keys that belong to no tenant.
    """
    with access.client() as client:
        for name in names:
            _done(client.schedules.pause(name, why, tenant), access)


@app.command
def resume(*names: str, why: str = "", tenant: str | None = None, access: Access = HERE) -> None:
    """Let paused schedules go on. The policy for missed ticks says what becomes of those in between.

    Parameters
    ----------
    names
        Their names.
    why
        For the history.
    tenant
        For keys that belong to no tenant.
    """
    with access.client() as client:
        for name in names:
            _done(client.schedules.resume(name, why, tenant), access)


@app.command
def delete(*names: str, why: str = "", tenant: str | None = None, access: Access = HERE) -> None:
    """Delete schedules. What has not started is taken back; what runs goes on. The history stays.

    Parameters
    ----------
    names
        Their names.
    why
        For the history.
    tenant
        For keys that belong to no tenant.
    """
    with access.client() as client:
        for name in names:
            client.schedules.delete(name, why, tenant)
            print_json({"name": name, "state": "deleted"}) if access.json else print(name, "deleted")


@app.command
def trigger(
    name: str,
    /,
    *,
    param: list[str] | None = None,
    json_params: str | None = None,
    tenant: str | None = None,
    access: Access = HERE,
) -> None:
    """Run a schedule's job now, whatever its rule says. Prints the job's id.

    Parameters
    ----------
    name
        The schedule's name.
    param
        A parameter as name=value, instead of the schedule's params. May be repeated.
    json_params
        All parameters as a JSON object, instead of the schedule's.
    tenant
        For keys that belong to no tenant.
    """
    params = read_params(param or [], json_params)
    with access.client() as client:
        done = client.schedules.trigger(name, params, tenant)
    print_json(done) if access.json else print(done.job_id)


def _show(client: "Client", made: Schedule, access: Access) -> None:
    if access.json:
        print_json(made)
        return
    screen = console()
    screen.print(schedule_facts(made))
    if made.state == "active":
        screen.print("\nto come", style="bold")
        coming = client.schedules.preview(made.definition.name, tenant=made.tenant).items
        screen.print(tick_table(coming, made.definition.tz))
    else:
        note(f"the schedule is {made.state}")


def _done(changed: Schedule, access: Access) -> None:
    print_json(changed) if access.json else print(changed.definition.name, changed.state)
