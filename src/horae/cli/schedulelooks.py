"""`horae schedule list`, `show`, `preview`, `ticks` and `history`: looking at schedules."""

from datetime import UTC, datetime

from horae.cli.access import HERE, Access
from horae.cli.apply import differences
from horae.cli.arguments import read_instant
from horae.cli.schedulearguments import NO_TIMES, NOTHING, WhatArguments, WhenArguments, definition
from horae.cli.scheduletables import record_table, schedule_facts, schedule_table, tick_table
from horae.cli.screen import console, print_json, print_lines
from horae.cli.text import when
from horae.wire.schedules import Schedule, ScheduleVersion


def list_schedules(
    *,
    task: str | None = None,
    text: str | None = None,
    state: str | None = None,
    tenant: str | None = None,
    access: Access = HERE,
) -> None:
    """List the schedules.

    Parameters
    ----------
    task
        Only those of this task.
    text
        Only those with this in their name or their task.
    state
        Only active, paused or ended ones.
    tenant
        Only those of this tenant.
    """
    found: list[Schedule] = []
    with access.client() as client:
        page = client.schedules.list(task, tenant, text=text, state=state)
        found += page.items
        while page.next_cursor is not None:
            page = client.schedules.list(task, tenant, page.next_cursor, text=text, state=state)
            found += page.items
    if access.json:
        print_lines(found)
        return
    console().print(schedule_table(found))


def show(name: str, /, *, tenant: str | None = None, access: Access = HERE) -> None:
    """Show a schedule, its next ten ticks and its latest ones.

    Parameters
    ----------
    name
        The schedule's name.
    tenant
        For keys that belong to no tenant.
    """
    with access.client() as client:
        found = client.schedules.get(name, tenant)
        if access.json:
            print_json(found)
            return
        screen = console()
        screen.print(schedule_facts(found))
        screen.print("\nto come", style="bold")
        screen.print(tick_table(client.schedules.preview(name, tenant=tenant).items, found.definition.tz))
        if latest := client.schedules.ticks(name, limit=10, tenant=tenant).items:
            screen.print("\nlatest", style="bold")
            screen.print(record_table(latest))


def preview(
    name: str,
    task: str | None = None,
    /,
    *,
    count: int = 10,
    since: str | None = None,
    until: str | None = None,
    tenant: str | None = None,
    times: WhenArguments = NO_TIMES,
    job: WhatArguments = NOTHING,
    access: Access = HERE,
) -> None:
    """Show the ticks to come: of a schedule, or with TASK and a rule of one that is not saved.

    Parameters
    ----------
    name
        The schedule's name.
    task
        The task of a schedule that is not saved.
    count
        How many ticks (10).
    since
        From this instant on (now).
    until
        Up to this instant.
    tenant
        For keys that belong to no tenant.
    """
    span = (count, read_instant(since, "since"), read_instant(until, "until"), tenant)
    with access.client() as client:
        wanted = definition(name, task, times, job) if task else client.schedules.get(name, tenant).definition
        found = client.schedules.preview(wanted if task else name, *span)
    if access.json:
        print_json(found)
        return
    screen = console()
    screen.print("; ".join(found.words))
    screen.print(tick_table(found.items, wanted.tz))


def ticks(
    name: str, /, *, state: str | None = None, limit: int = 50, tenant: str | None = None, access: Access = HERE
) -> None:
    """Show what became of a schedule's ticks, the latest first.

    Parameters
    ----------
    name
        The schedule's name.
    state
        Only planned, waiting, fired or skipped ones.
    limit
        How many to show (50).
    tenant
        For keys that belong to no tenant.
    """
    with access.client() as client:
        found = client.schedules.ticks(name, state, limit=limit, tenant=tenant).items
    if access.json:
        print_lines(found)
    else:
        console().print(record_table(found))


def history(name: str, /, *, tenant: str | None = None, access: Access = HERE) -> None:
    """Show who changed a schedule, when, why, and what.

    Parameters
    ----------
    name
        The schedule's name, also of one that was deleted.
    tenant
        For keys that belong to no tenant.
    """
    with access.client() as client:
        found = client.schedules.history(name, tenant=tenant).items
    if access.json:
        print_lines(found)
        return
    now = datetime.now(UTC)
    before: list[ScheduleVersion | None] = [*found[1:], None]
    for version, earlier in zip(found, before, strict=True):
        print(f"{version.version}  {version.action} {when(version.at, now)} by {version.by}", version.why)
        if earlier is not None and version.action == "changed":
            for line in differences(earlier.definition, version.definition):
                print(f"     {line}")
