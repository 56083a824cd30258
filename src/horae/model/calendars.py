"""Calendars: which local days are blocked, and why.

A calendar joins public holidays, days of the week, own days and other calendars. Its `except_days` win over all of
these, within that calendar; where a schedule names several calendars, a day blocked by any of them is blocked.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec

from horae.model.cronfields import WEEKDAY
from horae.model.errors import InvalidInput
from horae.model.job import check_name

if TYPE_CHECKING:
    from holidays import HolidayBase

MAX_DAYS: Final = 5000
MAX_LABEL: Final = 200

BlockedDays = Callable[[date], str | None]
"""The label of why a local day is blocked, or None when it is a good day."""


class CalendarDefinition(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    name: str
    country: str | None = None
    """Public holidays of this country, by ISO code: "DE"."""
    subdivision: str | None = None
    """Those of a part of the country, too: "BY"."""
    weekend: list[str] | None = None
    """Days of the week that are blocked: ["SAT", "SUN"] leaves business days."""
    days: dict[str, str] = {}
    """Own blocked days, ISO date -> label."""
    except_days: list[str] = []
    """ISO dates that this calendar never blocks, whatever the rest of it says."""
    include: list[str] = []
    """Names of other calendars whose days are blocked here, too."""


def blocked_days(definitions: Mapping[str, CalendarDefinition], names: Sequence[str]) -> BlockedDays:
    """The calendars of that name, joined. A name that is not there blocks nothing: it was checked when it was saved."""
    calendars = [_blocked_by(definitions, name, ()) for name in names if name in definitions]
    if len(calendars) == 1:
        return calendars[0]
    return lambda day: next((label for calendar in calendars if (label := calendar(day)) is not None), None)


def _blocked_by(definitions: Mapping[str, CalendarDefinition], name: str, above: tuple[str, ...]) -> BlockedDays:
    calendar = definitions[name]
    included = [other for other in calendar.include if other in definitions and other not in (*above, name)]
    others = [_blocked_by(definitions, other, (*above, name)) for other in included]
    own = {date.fromisoformat(day): label for day, label in calendar.days.items()}
    spared = {date.fromisoformat(day) for day in calendar.except_days}
    weekend = {_weekday(day) for day in calendar.weekend or ()}
    public = _holidays(calendar.country, calendar.subdivision) if calendar.country else None

    def blocked(day: date) -> str | None:
        if day in spared:
            return None
        if day in own:
            return own[day] or calendar.name
        if public is not None and (label := public.get(day)) is not None:
            return label
        if day.isoweekday() % 7 in weekend:
            return f"{day:%A}"
        return next((label for other in others if (label := other(day)) is not None), None)

    return blocked


@lru_cache(maxsize=512)
def _holidays(country: str, subdivision: str | None) -> "HolidayBase":
    """Fills itself year by year as it is asked. The language is fixed: left out, it is that of the process."""
    import holidays

    known = holidays.country_holidays(country)
    language = "en_US" if "en_US" in known.supported_languages else known.default_language
    return holidays.country_holidays(country, subdiv=subdivision, language=language)


def _weekday(text: str) -> int | None:
    return WEEKDAY.names.get(text.strip().upper()[:3])


def check_calendar(calendar: CalendarDefinition, others: Mapping[str, CalendarDefinition]) -> CalendarDefinition:
    """Refuses what cannot work; `others` are the calendars that are there already, perhaps with an older self."""
    check_name(calendar.name, "name")
    _check_country(calendar)
    for day in calendar.weekend or ():
        if _weekday(day) is None:
            raise InvalidInput(f"weekend: {day[:20]!r} is no day of the week, such as SAT", field="weekend")
    if len(calendar.days) + len(calendar.except_days) > MAX_DAYS:
        raise InvalidInput(f"days: a calendar has at most {MAX_DAYS} days of its own", field="days")
    for day, label in calendar.days.items():
        _check_day(day, "days")
        if len(label) > MAX_LABEL or "\x00" in label:
            raise InvalidInput(f"days.{day}: a label has at most {MAX_LABEL} characters, no NUL", field="days")
    for day in calendar.except_days:
        _check_day(day, "except_days")
    _check_includes(calendar, {**others, calendar.name: calendar})
    return calendar


def _check_day(text: str, field: str) -> None:
    try:
        canonical = date.fromisoformat(text).isoformat()
    except ValueError:
        canonical = ""
    if canonical != text:
        raise InvalidInput(f"{field}: {text[:20]!r} is no date such as 2026-12-24", field=field)


def _check_country(calendar: CalendarDefinition) -> None:
    country, part = calendar.country, calendar.subdivision
    if country is None:
        if part is not None:
            raise InvalidInput(f"subdivision: {part[:20]!r} needs its country", field="subdivision")
        return
    import holidays

    known = holidays.list_supported_countries(include_aliases=True)
    if country not in known:
        raise InvalidInput(f"country: {country[:40]!r} is not known{_near(country, _countries())}", field="country")
    if part is not None and part not in known[country]:
        names = {name: name for name in known[country]}
        aliases = _holidays(country, None).get_subdivision_aliases()
        names |= {alias: code for code, spellings in aliases.items() for alias in spellings}
        hint = _near(part, names) or f"; it knows {', '.join(known[country]) or 'none'}"
        raise InvalidInput(f"subdivision: {part[:40]!r} is not known in {country}{hint}", field="subdivision")


def _countries() -> dict[str, str]:
    """Spellings of countries and their codes."""
    import holidays
    from holidays.registry import COUNTRIES

    names = {code: code for code in holidays.list_supported_countries()}
    return names | {module.replace("_", " "): codes[1] for module, codes in COUNTRIES.items()}


def _near(text: str, names: Mapping[str, str]) -> str:
    lower = {name.lower(): code for name, code in names.items()}
    found = get_close_matches(text.strip().lower(), lower, n=1, cutoff=0.6)
    return f"; did you mean {lower[found[0]]!r}?" if found else ""


def _check_includes(calendar: CalendarDefinition, known: Mapping[str, CalendarDefinition]) -> None:
    for other in calendar.include:
        if other not in known:
            hint = _near(other, {name: name for name in known})
            raise InvalidInput(f"include: there is no calendar {other[:80]!r}{hint}", field="include")
    circle = next(_circles(calendar.name, known, ()), None)
    if circle is not None:
        raise InvalidInput(f"include: goes round in a circle: {' > '.join(circle)}", field="include")


def _circles(name: str, known: Mapping[str, CalendarDefinition], above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    path = (*above, name)
    for other in known[name].include if name in known else ():
        if other in path:
            yield (*path[path.index(other) :], other)
        else:
            yield from _circles(other, known, path)
