"""`horae calendar`: the days on which schedules rest."""

from datetime import UTC, datetime

from cyclopts import App

from horae.cli.access import HERE, Access
from horae.cli.arguments import read_pairs
from horae.cli.screen import console, print_json, print_lines, table
from horae.cli.text import compact, relative
from horae.model.calendars import CalendarDefinition
from horae.wire.schedules import Calendar

app = App(name="calendar", help="Calendars: the days on which schedules rest.")


@app.command
def put(
    name: str,
    /,
    *,
    country: str | None = None,
    subdivision: str | None = None,
    weekend: str | None = None,
    day: list[str] | None = None,
    except_day: list[str] | None = None,
    include: list[str] | None = None,
    tenant: str | None = None,
    access: Access = HERE,
) -> None:
    """Create a calendar, or replace it. Schedules that use it are planned anew.

    Parameters
    ----------
    name
        The calendar's name.
    country
        Public holidays of this country, e.g. DE.
    subdivision
        Those of a part of it, too, e.g. BY.
    weekend
        Days of the week that are blocked: SAT,SUN leaves business days.
    day
        A blocked day of your own as 2026-12-31=stocktaking. May be repeated.
    except_day
        A day that is never blocked, e.g. 2026-12-24. May be repeated.
    include
        Another calendar whose days are blocked, too. May be repeated.
    tenant
        For keys that belong to no tenant.
    """
    definition = CalendarDefinition(
        name=name,
        country=country,
        subdivision=subdivision,
        weekend=weekend.split(",") if weekend else None,
        days=read_pairs(day or [], "day"),
        except_days=except_day or [],
        include=include or [],
    )
    with access.client() as client:
        made = client.schedules.put_calendar(definition, tenant)
    print_json(made) if access.json else print(made.definition.name)


@app.command(name="list")
def list_calendars(*, tenant: str | None = None, access: Access = HERE) -> None:
    """List the calendars.

    Parameters
    ----------
    tenant
        For keys that belong to no tenant.
    """
    with access.client() as client:
        found = client.schedules.calendars(tenant).items
    if access.json:
        print_lines(found)
        return
    now = datetime.now(UTC)
    columns = ("name", "country", "weekend", "days", "includes", "changed")
    console().print(table(columns, (_row(calendar, now) for calendar in found)))


def _row(calendar: Calendar, now: datetime) -> tuple[str, ...]:
    it = calendar.definition
    place = "-".join(part for part in (it.country, it.subdivision) if part)
    return (
        it.name, place, ",".join(it.weekend or []), str(len(it.days)), ", ".join(it.include),
        f"{relative(calendar.changed_at, now)} by {calendar.changed_by}",
    )  # fmt: skip


@app.command
def show(name: str, /, *, tenant: str | None = None, access: Access = HERE) -> None:
    """Show a calendar.

    Parameters
    ----------
    name
        The calendar's name.
    tenant
        For keys that belong to no tenant.
    """
    with access.client() as client:
        found = client.schedules.calendar(name, tenant)
    print_json(found) if access.json else print(compact(found.definition))


@app.command
def delete(name: str, /, *, tenant: str | None = None, access: Access = HERE) -> None:
    """Delete a calendar that no schedule uses.

    Parameters
    ----------
    name
        The calendar's name.
    tenant
        For keys that belong to no tenant.
    """
    with access.client() as client:
        client.schedules.delete_calendar(name, tenant)
    print_json({"name": name, "state": "deleted"}) if access.json else print(name, "deleted")
