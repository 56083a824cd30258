"""`horae schedule forecast`, `agenda` and `limit`: all schedules of a tenant together."""

from horae.cli.access import HERE, Access
from horae.cli.arguments import read_instant
from horae.cli.screen import console, note, print_json, table
from horae.cli.text import absolute
from horae.wire.schedules import Agenda, Forecast


def forecast(
    *, since: str | None = None, hours: float = 24.0, tenant: str | None = None, access: Access = HERE
) -> None:
    """Show when many schedules fire at once, and how they could be spread.

    Parameters
    ----------
    since
        From this instant on (now).
    hours
        How far to look (24).
    tenant
        For keys that belong to no tenant.
    """
    with access.client() as client:
        found = client.schedules.forecast(read_instant(since, "since"), hours, tenant)
    print_json(found) if access.json else _print(found)


def _print(found: Forecast) -> None:
    screen = console()
    total = sum(minute.ticks for minute in found.minutes)
    screen.print(
        f"{found.schedules} schedules fire in {len(found.minutes)} minutes, {total} times, {found.peak} at most"
    )
    if found.collisions:
        screen.print("\nfullest minutes", style="bold")
        rows = ((absolute(c.at), str(c.ticks), ", ".join(c.schedules)) for c in found.collisions)
        screen.print(table(("at", "ticks", "schedules"), rows))
    if found.proposals:
        screen.print("\nto spread them", style="bold")
        rows = ((p.schedule, p.instead, p.cron) for p in found.proposals)
        screen.print(table(("schedule", "now", "better"), rows))
        screen.print(f"then at most {found.peak_spread} fire in one minute")
    if found.truncated:
        note("there are more schedules than were looked at")


def agenda(
    name: str | None = None,
    /,
    *,
    since: str | None = None,
    until: str | None = None,
    tz: str = "UTC",
    task: str | None = None,
    text: str | None = None,
    tenant: str | None = None,
    access: Access = HERE,
) -> None:
    """Show which schedules fire on which day.

    Parameters
    ----------
    name
        Only this schedule.
    since
        From this instant on (now).
    until
        Up to this instant (31 days later).
    tz
        Days by the clocks of this zone.
    task
        Only schedules of this task.
    text
        Only schedules with this in their name or their task.
    tenant
        For keys that belong to no tenant.
    """
    span = (read_instant(since, "since"), read_instant(until, "until"))
    with access.client() as client:
        found = client.schedules.agenda(name, *span, tz, task=task, text=text, tenant=tenant)
    print_json(found) if access.json else _print_agenda(found)


def _print_agenda(found: Agenda) -> None:
    rows = (
        (
            f"{day.day:%a} {day.day}", absolute(item.first_at), item.schedule,
            str(item.ticks) if not item.skipped else f"{item.ticks}, {item.skipped} skipped", item.detail or "",
        )
        for day in found.days
        for item in day.items
    )  # fmt: skip
    console().print(table((f"day ({found.tz})", "first", "schedule", "ticks", "detail"), rows, spare=("first",)))
    if found.frequent:
        note(f"many times a day: {', '.join(item.schedule for item in found.frequent)}")
    if found.truncated:
        note("there is more than is shown: ask for one schedule, a task or a shorter time")


def limit(shortest_interval: str | None = None, /, *, tenant: str | None = None, access: Access = HERE) -> None:
    """Show, or with an interval say, how often schedules of a tenant may fire.

    Parameters
    ----------
    shortest_interval
        The shortest time between two ticks of one schedule, e.g. 10s. Only for keys that belong to no tenant.
    tenant
        For keys that belong to no tenant.
    """
    with access.client() as client:
        if shortest_interval is None:
            found = client.schedules.limits(tenant)
        else:
            found = client.schedules.set_limits(shortest_interval, tenant)
    print_json(found) if access.json else print(found.shortest_interval)
