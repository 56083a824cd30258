"""Ticks: the hard cases of the world's clocks by name, calendars, windows, bounds, jitter, and what holds for all."""

from datetime import UTC, date, datetime, timedelta
from itertools import islice, pairwise, takewhile
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import given, settings
from hypothesis import strategies as st

from horae.model.ticks import Mark, Skip, ticks
from horae.model.timing import Fold, Gap, OnBlocked, Rule, Timing, Window

OFFICE = [Window(days="MON-FRI", start="08:00", end="18:00")]


def utc(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def weekend(day):
    return f"{day:%A}" if day.weekday() > 4 else None


def never(_day):
    return None


def between(timing, after, until, blocked=never):
    found = ticks(timing, "x", utc(after), blocked)
    return list(takewhile(lambda tick: tick.at <= utc(until), found))


def cron(*texts, **more):
    return Timing(rules=[Rule(cron=text) for text in texts], **more)


def told(found):
    """ "2026-11-16 10:00", with what happened to it."""
    return [
        " ".join([f"{tick.at:%Y-%m-%d %H:%M}", *tick.marks, *([f"-{tick.skipped}"] if tick.skipped else [])])
        for tick in found
    ]


# The hard cases, by name.


def test_new_york_loses_an_hour():
    found = between(cron("30 2 * * *", tz="America/New_York"), "2026-03-07", "2026-03-10")
    assert told(found) == ["2026-03-07 07:30", "2026-03-08 07:00 gap_moved", "2026-03-09 06:30"]
    assert "02:30 does not exist on 2026-03-08 in America/New_York" in found[1].detail


def test_new_york_repeats_an_hour():
    found = between(cron("30 1 * * *", tz="America/New_York"), "2026-10-31", "2026-11-03")
    assert told(found) == [
        "2026-10-31 05:30", "2026-11-01 05:30 fold_first", "2026-11-01 06:30 -fold", "2026-11-02 06:30",
    ]  # fmt: skip
    assert "01:30 happens twice on 2026-11-01 in America/New_York" in found[2].detail


def test_lord_howe_changes_by_half_an_hour():
    gap = between(cron("15 2 * * *", tz="Australia/Lord_Howe"), "2026-10-03T12:00", "2026-10-04T20:00")
    assert told(gap) == ["2026-10-03 15:30 gap_moved", "2026-10-04 15:15"]
    fold = between(cron("45 1 * * *", tz="Australia/Lord_Howe"), "2026-04-04T12:00", "2026-04-05T20:00")
    assert told(fold) == ["2026-04-04 14:45 fold_first", "2026-04-04 15:15 -fold", "2026-04-05 15:15"]
    hours = between(cron("0 */3 * * *", tz="Australia/Lord_Howe"), "2026-04-04T12:00", "2026-04-04T20:00")
    assert told(hours) == ["2026-04-04 13:00", "2026-04-04 16:30", "2026-04-04 19:30"]


def test_dublin_whose_winter_is_the_saving_time_ticks_as_london_does():
    rules = ("30 1 * * *", "*/30 1 * * *")
    for text in rules:
        dublin = told(between(cron(text, tz="Europe/Dublin"), "2026-01-01", "2028-12-31"))
        assert dublin == told(between(cron(text, tz="Europe/London"), "2026-01-01", "2028-12-31"))
    found = between(cron("30 1 * * *", tz="Europe/Dublin"), "2026-10-24T12:00", "2026-10-26")
    assert told(found) == ["2026-10-25 00:30 fold_first", "2026-10-25 01:30 -fold"]


def test_apia_has_no_30_december_2011():
    found = between(cron("0 10 * * *", tz="Pacific/Apia"), "2011-12-29", "2012-01-01")
    assert told(found) == ["2011-12-29 20:00", "2011-12-30 10:00 gap_moved", "2011-12-30 20:00", "2011-12-31 20:00"]
    skipped = between(cron("0 10 * * *", tz="Pacific/Apia", gap=Gap.SKIP), "2011-12-30", "2011-12-31")
    assert told(skipped) == ["2011-12-30 10:00 -gap", "2011-12-30 20:00"]
    hourly = between(cron("0 * * * *", tz="Pacific/Apia"), "2011-12-30T08:00", "2011-12-30T12:00")
    assert told(hourly) == ["2011-12-30 09:00", "2011-12-30 10:00", "2011-12-30 11:00", "2011-12-30 12:00"]


def test_casablanca_turns_back_for_ramadan():
    begin = between(cron("30 2 * * *", tz="Africa/Casablanca"), "2026-02-14T12:00", "2026-02-16")
    assert told(begin) == ["2026-02-15 01:30 fold_first", "2026-02-15 02:30 -fold"]
    end = between(cron("30 2 * * *", tz="Africa/Casablanca"), "2026-03-21T12:00", "2026-03-23T12:00")
    assert told(end) == ["2026-03-22 02:00 gap_moved", "2026-03-23 01:30"]


def test_cairo_changes_at_midnight():
    gap = between(cron("0 0 * * *", tz="Africa/Cairo"), "2026-04-23", "2026-04-25")
    assert told(gap) == ["2026-04-23 22:00 gap_moved", "2026-04-24 21:00"]
    fold = between(cron("30 23 * * *", tz="Africa/Cairo"), "2026-10-29", "2026-10-31")
    assert told(fold) == ["2026-10-29 20:30 fold_first", "2026-10-29 21:30 -fold", "2026-10-30 21:30"]


# Gap and fold as chosen.


def test_wildcard_rules_follow_the_real_clock():
    spring = between(cron("*/30 * * * *", tz="Europe/Berlin"), "2027-03-28T00:15", "2027-03-28T01:45")
    assert told(spring) == ["2027-03-28 00:30", "2027-03-28 01:00", "2027-03-28 01:30"]
    autumn = between(cron("30 * * * *", tz="Europe/Berlin"), "2026-10-25T00:00", "2026-10-25T03:00")
    assert told(autumn) == ["2026-10-25 00:30 fold_first", "2026-10-25 01:30 fold_second", "2026-10-25 02:30"]
    lost = between(cron("*/15 2 * * *", tz="Europe/Berlin"), "2027-03-27T12:00", "2027-03-28T12:00")
    assert lost == []


@pytest.mark.parametrize(
    ("fold", "expected"),
    [
        (Fold.FIRST, ["2026-10-25 00:30 fold_first", "2026-10-25 01:30 -fold"]),
        (Fold.SECOND, ["2026-10-25 00:30 -fold", "2026-10-25 01:30 fold_second"]),
        (Fold.BOTH, ["2026-10-25 00:30 fold_first", "2026-10-25 01:30 fold_second"]),
    ],
)
@pytest.mark.parametrize("text", ["30 2 * * *", "30 * * * *"])
def test_a_fold_that_is_chosen_holds_for_every_rule(text, fold, expected):
    found = between(cron(text, tz="Europe/Berlin", fold=fold), "2026-10-25T00:00", "2026-10-25T02:00")
    assert told(found) == expected


def test_a_gap_that_is_chosen_holds_for_every_rule():
    for text in ("30 2 * * *", "30 * * * *"):
        skip = between(cron(text, tz="Europe/Berlin", gap=Gap.SKIP), "2027-03-28T00:45", "2027-03-28T01:15")
        assert told(skip) == ["2027-03-28 01:00 -gap"]
        after = between(cron(text, tz="Europe/Berlin", gap=Gap.AFTER), "2027-03-28T00:45", "2027-03-28T01:15")
        assert told(after) == ["2027-03-28 01:00 gap_moved"]


def test_ticks_that_a_gap_brings_together_are_one():
    found = between(cron("0,20,40 2,3 * * *", tz="Europe/Berlin"), "2027-03-27T12:00", "2027-03-28T12:00")
    assert told(found) == ["2027-03-28 01:00 gap_moved", "2027-03-28 01:20", "2027-03-28 01:40"]
    skipped = between(cron("0 2,3 * * *", tz="Europe/Berlin", gap=Gap.SKIP), "2027-03-27T12:00", "2027-03-28T12:00")
    assert told(skipped) == ["2027-03-28 01:00"]


# Rules.


def test_an_interval_counts_from_its_anchor_whatever_the_zone_does():
    rule = Rule(every="90m", anchor=utc("2030-01-01T00:10"))
    found = between(Timing(rules=[rule], tz="Europe/Berlin"), "2026-10-24T22:00", "2026-10-25T04:00")
    assert {after.at - before.at for before, after in pairwise(found)} == {timedelta(minutes=90)}
    assert all((tick.at - utc("2030-01-01T00:10")) % timedelta(minutes=90) == timedelta(0) for tick in found)


def test_rules_are_joined_and_fire_once_for_an_instant():
    found = between(
        Timing(rules=[Rule(cron="0 * * * *"), Rule(cron="*/30 1 * * *"), Rule(every="2h")]),
        "2026-11-16",
        "2026-11-16T03:00",
    )
    assert told(found) == ["2026-11-16 01:00", "2026-11-16 01:30", "2026-11-16 02:00", "2026-11-16 03:00"]


def test_it_starts_with_starts_at_and_is_over_at_ends_at():
    bounded = cron("0 * * * *", starts_at=utc("2026-11-16T05:00"), ends_at=utc("2026-11-16T08:00"))
    assert told(ticks(bounded, "x", utc("2026-11-01"), never)) == [f"2026-11-16 0{hour}:00" for hour in (5, 6, 7)]
    assert told(ticks(bounded, "x", utc("2026-11-16T06:00"), never)) == ["2026-11-16 07:00"]


def test_jitter_delays_by_less_than_its_maximum_and_the_same_on_every_server():
    timing = cron("* * * * *", jitter="30s")
    found = between(timing, "2026-11-16", "2026-11-17")
    delays = [tick.run_at - tick.at for tick in found]
    assert all(timedelta(0) <= delay < timedelta(seconds=30) for delay in delays)
    assert len({delay // timedelta(seconds=1) for delay in delays}) == 30
    assert found == between(timing, "2026-11-16", "2026-11-17")
    assert found != list(islice(ticks(timing, "another", utc("2026-11-16"), never), len(found)))
    assert all(tick.marks == (Mark.JITTERED,) for tick in found)


# Calendars and windows.


def test_a_tick_on_a_blocked_day_is_skipped_with_the_reason():
    found = between(cron("0 10 * * *", calendars=["w"]), "2026-11-13", "2026-11-16T12:00", weekend)
    assert told(found) == [
        "2026-11-13 10:00", "2026-11-14 10:00 -calendar", "2026-11-15 10:00 -calendar", "2026-11-16 10:00",
    ]  # fmt: skip
    assert found[1].detail == "2026-11-14 is blocked: Saturday"


def test_without_calendars_no_day_is_blocked():
    assert len(between(cron("0 10 * * *"), "2026-11-13", "2026-11-20", weekend)) == 7


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        (OnBlocked.NEXT, ["2026-11-02 10:00 calendar_moved_next", "2026-12-01 10:00"]),
        (OnBlocked.PREVIOUS, ["2026-10-30 10:00 calendar_moved_previous", "2026-12-01 10:00"]),
    ],
)
def test_a_tick_moves_to_a_good_day(way, expected):
    timing = cron("0 10 1 * *", calendars=["w"], on_blocked=way)
    found = between(timing, "2026-10-30", "2026-12-02", weekend)
    assert told(found) == expected
    assert found[0].detail == "moved from 2026-11-01 (Sunday)"


@pytest.mark.parametrize("way", [OnBlocked.NEXT, OnBlocked.PREVIOUS])
def test_ticks_moved_onto_one_instant_are_one(way):
    found = between(cron("0 10 * * *", calendars=["w"], on_blocked=way), "2026-11-12", "2026-11-18", weekend)
    assert [f"{tick.at:%a %H:%M}" for tick in found] == [f"{day} 10:00" for day in ("Thu", "Fri", "Mon", "Tue")]


def test_a_tick_moved_into_a_gap_or_fold_obeys_the_rule_for_it():
    only_sunday = {date(2027, 3, 29): "Easter Monday", date(2026, 10, 24): "feast"}.get
    gap = cron("30 2 29 3 *", tz="Europe/Berlin", calendars=["c"], on_blocked=OnBlocked.PREVIOUS)
    assert told(between(gap, "2027-03-01", "2027-04-01", only_sunday)) == [
        "2027-03-28 01:00 gap_moved calendar_moved_previous"
    ]
    fold = cron("30 2 24 10 *", tz="Europe/Berlin", calendars=["c"], on_blocked=OnBlocked.NEXT, fold=Fold.SECOND)
    assert told(between(fold, "2026-10-01", "2026-11-01", only_sunday)) == ["2026-10-25 01:30 calendar_moved_next"]


def test_where_every_day_is_blocked_nothing_fires_but_all_is_told():
    timing = cron("0 10 * * *", calendars=["c"], on_blocked=OnBlocked.NEXT)
    found = between(timing, "2026-11-13", "2026-11-16", lambda _day: "closed for good")
    assert [tick.skipped for tick in found] == [Skip.CALENDAR] * 3


def test_a_tick_outside_all_windows_is_skipped_with_the_reason():
    found = between(cron("0 */6 * * *", windows=OFFICE), "2026-11-13T10:00", "2026-11-14T12:00")
    assert told(found) == [
        "2026-11-13 12:00", "2026-11-13 18:00 -window", "2026-11-14 00:00 -window", "2026-11-14 06:00 -window",
        "2026-11-14 12:00 -window",
    ]  # fmt: skip
    assert found[1].detail == "18:00 on Friday 2026-11-13 is outside all windows"


def test_a_deferred_tick_fires_when_the_window_opens_on_a_good_day():
    timing = cron("0 */6 * * *", tz="Europe/Berlin", windows=OFFICE, outside="defer", calendars=["c"])
    found = between(timing, "2026-11-13T12:00", "2026-11-17T12:00", {date(2026, 11, 16): "feast"}.get)
    assert [text for text in told(found) if "-calendar" not in text] == [
        "2026-11-17 07:00 window_deferred", "2026-11-17 11:00",
    ]  # fmt: skip


def test_a_tick_that_is_moved_and_then_deferred_is_found_from_any_start():
    """Saturday's 19:00 moves to Monday, where it is after hours, and so fires on Tuesday morning."""
    timing = cron("0 19 * * SAT", calendars=["w"], on_blocked=OnBlocked.NEXT, windows=OFFICE, outside="defer")
    for start in ("2026-11-14T18:00", "2026-11-15", "2026-11-16T20:00", "2026-11-17T07:59"):
        assert told(between(timing, start, "2026-11-17T12:00", weekend)) == [
            "2026-11-17 08:00 calendar_moved_next window_deferred"
        ]


def test_the_last_deferred_tick_of_a_rule_is_not_lost():
    timing = cron("0 6 1 1 *", windows=OFFICE, outside="defer")
    assert told(ticks(timing, "x", utc("2199-06-01"), never)) == ["2200-01-01 08:00 window_deferred"]


def test_a_window_may_pass_midnight():
    night = [Window(days="FRI", start="22:00", end="04:00")]
    found = between(cron("0 * * * *", windows=night), "2026-11-13", "2026-11-16")
    assert [f"{tick.at:%a %H}" for tick in found if tick.skipped is None] == [
        "Fri 22", "Fri 23", "Sat 00", "Sat 01", "Sat 02", "Sat 03",
    ]  # fmt: skip


# What holds for all timings.

zones = st.sampled_from(
    ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Africa/Casablanca",
     "Europe/Dublin", "America/Nuuk", "Antarctica/Troll", "Asia/Kolkata", "Pacific/Apia"]
)  # fmt: skip
rules = st.lists(
    st.sampled_from(
        [Rule(cron=text) for text in (
            "30 2 * * *", "0 0 * * *", "45 1,23 * * *", "0 */3 * * *", "*/20 2 * * *", "0 10 L * *", "30 1 15W * *",
            "H H * * MON-FRI", "15 30 0 * * SUN",
        )] + [Rule(every="7h"), Rule(every=5400.5), Rule(every="1d", anchor=utc("2026-01-01T02:30"))]
    ),
    min_size=1,
    max_size=3,
)  # fmt: skip
windows = st.sampled_from(
    [[], OFFICE, [Window(start="22:00", end="02:00")], [Window(days="SUN", start="01:30", end="02:15"), *OFFICE]]
)
timings = st.builds(
    Timing,
    rules=rules,
    tz=zones,
    gap=st.none() | st.sampled_from(Gap),
    fold=st.none() | st.sampled_from(Fold),
    calendars=st.sampled_from([[], ["c"]]),
    on_blocked=st.sampled_from(OnBlocked),
    windows=windows,
    outside=st.sampled_from(["skip", "defer"]),
    jitter=st.none() | st.just("5m"),
)
# Near the changes of clocks, where it is hard.
starts = st.builds(
    lambda day, hours: utc(f"2026-{day}") + timedelta(hours=hours),
    st.sampled_from(["02-14", "03-07", "03-28", "04-04", "04-23", "10-03", "10-24", "10-29", "10-31", "12-31"]),
    st.floats(-40, 40),
)


def closed(day):
    """Weekends, a long holiday, and single days about the changes of clocks."""
    return weekend(day) or ("feast" if (day.month == 4 and 3 <= day.day <= 8) or day.day in (25, 29) else None)


@settings(max_examples=200)
@given(timings, starts, st.floats(0, 12 * 86400))
def test_ticks_are_the_same_from_wherever_one_starts(timing, start, later):
    """Servers start anywhere: a tick must not depend on the instant from which it was computed."""
    middle, end = start + timedelta(seconds=later), start + timedelta(days=14)
    whole = list(takewhile(lambda tick: tick.at <= end, ticks(timing, "x", start, closed)))
    rest = list(takewhile(lambda tick: tick.at <= end, ticks(timing, "x", middle, closed)))
    assert rest == [tick for tick in whole if tick.at > middle]


@settings(max_examples=200)
@given(timings, starts)
def test_ticks_strictly_increase_and_tell_why(timing, start):
    found = list(takewhile(lambda tick: tick.at <= start + timedelta(days=20), ticks(timing, "x", start, closed)))
    assert all(before < after for before, after in pairwise([start, *(tick.at for tick in found)]))
    for tick in found:
        assert tick.at.tzinfo is tick.run_at.tzinfo is UTC
        assert (tick.detail is not None) == bool(tick.skipped or set(tick.marks) - {Mark.JITTERED})
        assert tick.run_at == tick.at or (Mark.JITTERED in tick.marks and not tick.skipped)


@settings(max_examples=150)
@given(timings, starts)
def test_what_fires_fires_on_a_good_day_and_in_a_window(timing, start):
    zone = ZoneInfo(timing.tz)
    found = takewhile(lambda tick: tick.at <= start + timedelta(days=20), ticks(timing, "x", start, closed))
    for tick in found:
        local = tick.at.astimezone(zone)
        if tick.skipped is None and timing.calendars and Mark.GAP_MOVED not in tick.marks:
            assert closed(local.date()) is None
        if tick.skipped is None and timing.windows == OFFICE:
            assert local.weekday() < 5
            assert 8 <= local.hour < 18


@settings(max_examples=100)
@given(st.integers(0, 59), st.integers(0, 23), zones, starts, st.booleans())
def test_any_time_of_day_agrees_with_cronsim(minute, hour, zone, start, wildcard):
    text = f"{minute} * * * *" if wildcard else f"{minute} {hour} * * *"
    local = start.replace(microsecond=0).astimezone(ZoneInfo(zone))
    if local.fold or zone == "Australia/Lord_Howe":
        return  # cronsim takes a start in a fold for its first half, and steps over half-hour changes.
    expected = [at.astimezone(UTC) for at in islice(CronSim(text, local), 5)]
    found = (
        tick.at for tick in ticks(cron(text, tz=zone), "x", start.replace(microsecond=0), never) if not tick.skipped
    )
    assert list(islice(found, 5)) == expected
