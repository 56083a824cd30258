"""Cron expressions on the wall clock: agreement with cronsim, the special days, the hash, and what is refused."""

# ruff: noqa: DTZ001 - wall times are naive

from calendar import monthrange
from datetime import date, datetime, timedelta
from itertools import islice

import pytest
from cronsim import CronSim
from hypothesis import given, settings
from hypothesis import strategies as st

from horae.model.cron import parse
from horae.model.errors import InvalidInput

START = datetime(2026, 11, 16, 0, 30)
walls = st.datetimes(datetime(2020, 1, 1), datetime(2040, 12, 31)).map(lambda wall: wall.replace(microsecond=0))


def matches(text, start=START, seed="x"):
    cron, wall = parse(text, seed), start
    while (found := cron.next(wall)) is not None:
        yield found
        wall = found + timedelta(seconds=1)


def first(text, count=3, start=START):
    return [f"{wall:%Y-%m-%d %H:%M:%S}".removesuffix(":00") for wall in islice(matches(text, start), count)]


def field(low, high, *extra):
    value = st.integers(low, high).map(str)
    ordered = (
        st.tuples(st.integers(low, high), st.integers(low, high)).map(sorted).map(lambda pair: "{}-{}".format(*pair))
    )
    step = st.integers(1, (high - low + 1) // 2 or 1)
    stepped = st.tuples(st.just("*") | ordered.filter(lambda text: len(set(text.split("-"))) == 2), step)
    term = (
        st.just("*")
        | value
        | ordered
        | stepped.map(lambda pair: "{}/{}".format(*pair))
        | st.sampled_from(extra or ["*"])
    )
    return term | st.lists(value | ordered, min_size=2, max_size=4).map(",".join)


shared_dialect = st.tuples(
    field(0, 59),
    field(0, 23),
    field(1, 28, "L", "LW", "29", "30", "31"),
    field(1, 12, "JAN", "FEB-APR", "dec"),
    field(0, 6, "7", "MON", "mon-fri", "SAT,SUN", "5L", "1#2", "FRI#5", "5-7"),
).map(" ".join)


@settings(max_examples=300)
@given(shared_dialect, walls)
def test_it_agrees_with_cronsim_where_the_dialects_meet(text, start):
    expected = list(islice(CronSim(text, start), 6))
    assert list(islice(matches(text, start + timedelta(seconds=1)), 6)) == expected


@settings(max_examples=60)
@given(st.tuples(field(0, 59), shared_dialect).map(" ".join), walls)
def test_six_fields_have_seconds_first(text, start):
    expected = list(islice(CronSim(text, start), 6))
    assert list(islice(matches(text, start + timedelta(seconds=1)), 6)) == expected


def nearest_weekday(year, month, day):
    """By trying all days of the month: the nearest from Monday to Friday."""
    days = [date(year, month, n) for n in range(1, monthrange(year, month)[1] + 1)]
    return min((d for d in days if d.weekday() < 5), key=lambda d: abs(d.day - day)).day


@given(st.integers(1, 31), st.integers(2020, 2040), st.integers(1, 12))
def test_w_is_the_nearest_weekday_within_the_month(day, year, month):
    found = parse(f"0 0 {day}W * *", "x").days.in_month(year, month)
    last = monthrange(year, month)[1]
    assert found == (1 << nearest_weekday(year, month, day) if day <= last else 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 10 * * FRI", ["2026-11-20 10:00", "2026-11-27 10:00"]),
        ("0 0 L * *", ["2026-11-30 00:00", "2026-12-31 00:00", "2027-01-31 00:00", "2027-02-28 00:00"]),
        ("0 0 L-3 * *", ["2026-11-27 00:00", "2026-12-28 00:00"]),
        ("0 0 LW * *", ["2026-11-30 00:00", "2026-12-31 00:00", "2027-01-29 00:00"]),
        ("0 0 15W * ?", ["2026-12-15 00:00", "2027-01-15 00:00", "2027-02-15 00:00", "2027-03-15 00:00"]),
        ("0 0 1W,15W * *", ["2026-12-01 00:00", "2026-12-15 00:00", "2027-01-01 00:00"]),
        ("0 0 ? * FRIL", ["2026-11-27 00:00", "2026-12-25 00:00"]),
        ("0 0 ? * 1#2", ["2026-12-14 00:00", "2027-01-11 00:00"]),
        ("0 0 29 2 *", ["2028-02-29 00:00", "2032-02-29 00:00", "2036-02-29 00:00"]),
        ("0 0 29 FEB */7", ["2032-02-29 00:00", "2060-02-29 00:00"]),
        ("*/20 30 2 * * *", ["2026-11-16 02:30", "2026-11-16 02:30:20", "2026-11-16 02:30:40", "2026-11-17 02:30"]),
        ("@hourly", ["2026-11-16 01:00", "2026-11-16 02:00"]),
        ("@Daily", ["2026-11-17 00:00"]),
        ("@midnight", ["2026-11-17 00:00"]),
        ("@weekly", ["2026-11-22 00:00"]),
        ("@monthly", ["2026-12-01 00:00"]),
        ("@yearly", ["2027-01-01 00:00", "2028-01-01 00:00"]),
        ("@annually", ["2027-01-01 00:00"]),
    ],
)
def test_the_special_days_and_names(text, expected):
    assert first(text, len(expected)) == expected


@pytest.mark.parametrize(
    ("wrapped", "written_out"),
    [
        ("0 0 * * FRI-MON", "0 0 * * 5,6,0,1"),
        ("0 0 * * 7-2", "0 0 * * 0,1,2"),
        ("0 22-4 * * *", "0 22,23,0,1,2,3,4 * * *"),
        ("0 22-4/2 * * *", "0 22,0,2,4 * * *"),
        ("0 0 1 NOV-FEB *", "0 0 1 11,12,1,2 *"),
        ("50-10/10 * * * *", "50,0,10 * * * *"),
        ("10/20 * * * *", "10,30,50 * * * *"),
    ],
)
def test_a_range_that_ends_before_it_starts_wraps_round(wrapped, written_out):
    assert first(wrapped, 30) == first(written_out, 30)


def test_days_are_joined_by_or_unless_one_starts_with_a_star():
    assert {wall.day for wall in islice(matches("0 0 13 * FRI"), 40)} > {13, 20, 27}
    assert all(wall.weekday() == 0 and wall.day % 2 for wall in islice(matches("0 0 */2 * MON"), 20))
    assert first("0 0 ? * MON", 5) == first("0 0 * * MON", 5)


@given(st.text(max_size=20))
def test_a_hash_stays_in_its_range_and_belongs_to_the_seed(seed):
    cron = parse("H H(1-5) H H ?", seed)
    (found,) = islice(matches("H H(1-5) H H ?", datetime(2026, 1, 1), seed), 1)
    assert 1 <= found.hour <= 5
    assert found.day <= 28
    assert cron == parse("h h(1-5) h h ?", seed)
    assert len(list(islice(matches("H/15 * * * *", datetime(2026, 1, 1), seed), 4))) == 4
    assert parse("H/15 * * * *", seed).minutes.bit_count() == 4
    assert parse("H(0-29)/10 * * * *", seed).minutes < 1 << 30


def test_hashes_spread_the_load():
    minutes = [parse("H * * * *", f"schedule-{n}").minutes.bit_length() - 1 for n in range(6000)]
    assert set(minutes) == set(range(60))
    assert max(minutes.count(n) for n in range(60)) < 170


@pytest.mark.parametrize(
    ("text", "wildcard"),
    [
        ("30 2 * * *", False), ("0-59 2 * * *", False), ("0 H * * *", False), ("0 30 2 * * *", False),
        ("*/5 2 * * *", True), ("0 * * * *", True), ("0 */2 * * *", True), ("H/15 2 * * *", True),
        ("* 30 2 * * *", True), ("H H/4 * * *", True), ("@hourly", True), ("@daily", False),
    ],
)  # fmt: skip
def test_which_expressions_are_wildcards(text, wildcard):
    assert parse(text, "x").wildcard is wildcard


def test_what_never_matches_ends():
    assert first("0 0 30 2 *") == []
    assert first("0 0 31W 2 *") == []
    assert first("0 0 * 2 MON#5", 1) == ["2044-02-29 00:00"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("75 * * * *", "minute.*75 is outside 0…59"), ("* 24 * * *", "hour.*24 is outside"),
        ("* * 0 * *", "day of month.*0 is outside 1…31"), ("* * * 13 *", "month.*13"), ("* * * * 8", "day of week.*8"),
        ("* * * FOO *", "month.*'FOO' is no number or name"), ("* * * *", "4 fields"), ("", "0 fields"),
        ("0 0 12 ? * MON 2027", "7 fields"), ("*/90 * * * *", "minute.*step 90.*every"), ("*/0 * * * *", "step '0'"),
        ("1--2 * * * *", "minute"), (",1 * * * *", "minute"), ("0 0 * * L", "FRIL"), ("0 0 * * FRI#6", "#1…#5"),
        ("0 0 L-31 * *", "L-31"), ("0 0 32W * *", "32"), ("H(5-3) * * * *", "ends before"), ("HH * * * *", "H"),
        ("? * * * *", "minute"), ("@reboot", "@hourly"), ("١ * * * *", "minute"), ("* " * 200, "200 characters"),
    ],
)  # fmt: skip
def test_a_bad_expression_is_refused_with_the_field_and_the_reason(text, reason):
    with pytest.raises(InvalidInput, match=reason) as refused:
        parse(text, "x", "rules[0].cron")
    assert refused.value.extra["field"] == "rules[0].cron"


@given(st.text("0123456789*/,-?LWH#() @MONFRI", max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        cron = parse(text, "x")
    except InvalidInput:
        return
    assert cron.describe()
    found = cron.next(START)
    assert found is None or found >= START


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 10 * * FRI", "at 10:00 on Friday"),
        ("@daily", "at 00:00 every day"),
        ("* * * * *", "every minute"),
        ("*/15 * * * *", "every 15 minutes"),
        ("7/15 * * * *", "every 15 minutes from minute 7"),
        ("*/45 * * * *", "at minutes 0 and 45 of every hour"),
        ("@hourly", "every hour"),
        ("30 * * * *", "at minute 30 of every hour"),
        ("0 9-17 * * MON-FRI", "every hour from 09:00 to 17:00 on Monday to Friday"),
        ("30 */2 * * *", "every 2 hours from 00:30 to 22:30"),
        ("0 6,18 * * *", "at 06:00 and 18:00 every day"),
        ("*/5 8-11 * * *", "every 5 minutes from 08:00 to 11:59"),
        ("*/10 * * * * *", "every 10 seconds"),
        ("15 30 2 * * *", "at 02:30:15 every day"),
        ("0 0 1,15 * FRI", "at 00:00 on days 1 and 15 of the month, and also on Friday"),
        ("0 0 */10 * FRI", "at 00:00 on days 1, 11, 21 and 31 of the month, if it is Friday"),
        ("0 0 LW 1,7 *", "at 00:00 on the last weekday of the month in January and July"),
        ("0 0 15W * *", "at 00:00 on the weekday nearest day 15"),
        ("0 0 * * 1#2", "at 00:00 on the second Monday of the month"),
        ("0 0 * * FRIL", "at 00:00 on the last Friday of the month"),
        ("0 0 L-1 * *", "at 00:00 on the day 1 day before the last of the month"),
    ],
)
def test_an_expression_in_plain_words(text, words):
    assert parse(text, "x").describe() == words
