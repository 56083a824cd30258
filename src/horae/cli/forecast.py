"""`horae schedule forecast` and `limit`: all schedules of a tenant together."""

from horae.cli.access import HERE, Access
from horae.cli.arguments import read_instant
from horae.cli.screen import console, note, print_json, table
from horae.cli.text import absolute
from horae.wire.schedules import Forecast


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
