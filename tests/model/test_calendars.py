"""Calendars: which days are blocked and why, and which definitions are refused."""

from datetime import date

import pytest

from horae.model.calendars import CalendarDefinition, blocked_days, check_calendar
from horae.model.errors import InvalidInput


def known(*calendars):
    return {calendar.name: calendar for calendar in calendars}


def labels(calendars, names, *days):
    blocked = blocked_days(known(*calendars), names)
    return [blocked(date.fromisoformat(day)) for day in days]


def test_public_holidays_by_country_and_part():
    germany = CalendarDefinition(name="de", country="DE")
    bavaria = CalendarDefinition(name="by", country="DE", subdivision="BY")
    assert labels([germany], ["de"], "2026-12-25", "2026-01-06", "2026-12-24") == ["Christmas Day", None, None]
    assert labels([bavaria], ["by"], "2026-01-06") == ["Epiphany"]
    assert labels([germany], ["de"], "2040-10-03") == ["German Unity Day"]


def test_business_days_and_own_days():
    team = CalendarDefinition(name="team", weekend=["Sat", "SUNDAY"], days={"2026-11-18": "offsite", "2026-11-19": ""})
    assert labels([team], ["team"], "2026-11-14", "2026-11-15", "2026-11-16", "2026-11-18", "2026-11-19") == [
        "Saturday", "Sunday", None, "offsite", "team",
    ]  # fmt: skip


def test_an_excepted_day_is_never_blocked_by_its_calendar():
    shop = CalendarDefinition(name="shop", include=["de"], weekend=["SUN"], except_days=["2026-12-25", "2026-11-15"])
    germany = CalendarDefinition(name="de", country="DE")
    both = [shop, germany]
    assert labels(both, ["shop"], "2026-12-25", "2026-12-26", "2026-11-15") == [None, "Second Day of Christmas", None]
    assert labels(both, ["shop", "de"], "2026-12-25") == ["Christmas Day"], "another calendar still blocks it"


def test_calendars_are_joined_by_name_and_through_each_other():
    one = CalendarDefinition(name="one", days={"2026-01-01": "one"}, include=["two"])
    two = CalendarDefinition(name="two", days={"2026-01-02": "two"}, include=["three"])
    three = CalendarDefinition(name="three", days={"2026-01-03": "three"})
    days = ("2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04")
    assert labels([one, two, three], ["one"], *days) == ["one", "two", "three", None]
    assert labels([one, two, three], ["three", "two"], *days) == [None, "two", "three", None]
    assert labels([one, two, three], [], *days) == [None] * 4


def test_a_calendar_that_went_missing_or_round_blocks_nothing_of_its_own():
    """They were refused when saved; ticks must go on all the same if someone took one away since."""
    one = CalendarDefinition(name="one", days={"2026-01-01": "one"}, include=["two", "gone"])
    two = CalendarDefinition(name="two", include=["one"])
    assert labels([one, two], ["one", "gone"], "2026-01-01", "2026-01-02") == ["one", None]


@pytest.mark.parametrize(
    ("definition", "field", "reason"),
    [
        ({"country": "Germany"}, "country", "did you mean 'DE'"),
        ({"country": "de"}, "country", "did you mean 'DE'"),
        ({"country": "ZZZZZZ"}, "country", "not known"),
        ({"country": "DE", "subdivision": "Bayern"}, "subdivision", "did you mean 'BY'"),
        ({"country": "DE", "subdivision": "QQ"}, "subdivision", "it knows .*BY"),
        ({"subdivision": "BY"}, "subdivision", "needs its country"),
        ({"weekend": ["SAT", "Funday"]}, "weekend", "'Funday' is no day"),
        ({"weekend": ["SA"]}, "weekend", "'SA' is no day"),
        ({"days": {"2026-02-30": "never"}}, "days", "2026-02-30"),
        ({"days": {"20261224": "compact"}}, "days", "no date"),
        ({"days": {"2026-01-01": "x" * 201}}, "days", "200 characters"),
        ({"except_days": ["tomorrow"]}, "except_days", "tomorrow"),
        ({"include": ["germny"]}, "include", "did you mean 'germany'"),
        ({"include": ["mine"]}, "include", "circle: mine > mine"),
        ({"include": ["round"]}, "include", "circle: mine > round > mine"),
    ],
)
def test_what_cannot_work_is_refused_with_the_field(definition, field, reason):
    others = known(CalendarDefinition(name="germany", country="DE"), CalendarDefinition(name="round", include=["mine"]))
    with pytest.raises(InvalidInput, match=reason) as refused:
        check_calendar(CalendarDefinition(name="mine", **definition), others)
    assert refused.value.extra["field"] == field


def test_a_good_calendar_is_accepted():
    parts = known(CalendarDefinition(name="a"), CalendarDefinition(name="b", include=["a"]))
    calendar = CalendarDefinition(
        name="c", country="US", subdivision="CA", weekend=["SAT"], days={"2026-12-24": "eve"}, include=["a", "b"]
    )
    assert check_calendar(calendar, parts) is calendar
