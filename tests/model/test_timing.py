"""Timings before they are saved: what is refused, and how often one fires."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from horae.model.errors import InvalidInput
from horae.model.schedule import Fold, Gap, OnBlocked, Rule, Timing, Window, check_timing, shortest_gap

NOW = datetime(2026, 11, 16, tzinfo=UTC)
DAILY = Rule(cron="0 3 * * *")
HALF_A_YEAR_AHEAD = Rule(cron=f"* * * * {(NOW + timedelta(days=182)).month} *")
"""Each second of one month."""
OFFICE = Window(days="MON-FRI", start="08:00", end="18:00")


@pytest.mark.parametrize(
    ("timing", "field", "reason"),
    [
        ({}, "rules", "at least one"),
        ({"rules": [Rule()]}, "rules[0]", "one of cron and every"),
        ({"rules": [Rule(cron="@daily", every="1h")]}, "rules[0]", "one of cron and every"),
        ({"rules": [DAILY, Rule(cron="0 99 * * *")]}, "rules[1].cron", "hour.*99"),
        ({"rules": [Rule(cron="@daily", anchor=NOW)]}, "rules[0].anchor", "interval"),
        ({"rules": [Rule(every="500ms")]}, "rules[0].every", "less than a second"),
        ({"rules": [Rule(every="soon")]}, "rules[0].every", "duration"),
        ({"rules": [Rule(every=60, anchor=NOW.replace(tzinfo=None))]}, "rules[0].anchor", "no offset"),
        ({"rules": [DAILY] * 33}, "rules", "at most 32"),
        ({"rules": [DAILY], "tz": "Europe/Berln"}, "tz", "did you mean 'Europe/Berlin'"),
        ({"rules": [DAILY], "calendars": ["no good"]}, "calendars", "not a name"),
        ({"rules": [DAILY], "jitter": "2d"}, "jitter", "more than a day"),
        ({"rules": [DAILY], "starts_at": NOW, "ends_at": NOW}, "ends_at", "not after starts_at"),
        ({"rules": [DAILY], "ends_at": NOW}, "ends_at", "has passed"),
        ({"rules": [DAILY], "starts_at": NOW.replace(tzinfo=None)}, "starts_at", "no offset"),
        ({"rules": [DAILY], "windows": [Window(start="8")]}, "windows[0].start", "time of day"),
        ({"rules": [DAILY], "windows": [Window(start="24:00")]}, "windows[0].start", "00:00"),
        ({"rules": [DAILY], "windows": [OFFICE, Window(days="FOO")]}, "windows[1].days", "FOO"),
        ({"rules": [Rule(cron="0 0 30 2 *")]}, "rules[0]", "never fires"),
        ({"rules": [DAILY, Rule(cron="0 0 31 4,6,9,11 *")]}, "rules[1]", "never fires"),
        ({"rules": [Rule(cron="0 0 1 1 *")], "ends_at": NOW + timedelta(days=9)}, "rules[0]", "within starts_at and"),
        ({"rules": [DAILY], "windows": [OFFICE]}, "rules[0]", "outside all windows"),
        ({"rules": [Rule(cron="0 0 * 2 MON#5")]}, "rules[0]", "next ten years"),
        ({"rules": [Rule(cron="* * * * * *")], "windows": [OFFICE], "outside": "defer"}, "outside", "too often"),
        ({"rules": [HALF_A_YEAR_AHEAD], "windows": [OFFICE], "outside": "defer"}, "outside", "too often"),
        ({"rules": [DAILY, HALF_A_YEAR_AHEAD], "windows": [OFFICE], "outside": "defer"}, "outside", "too often"),
        ({"rules": [HALF_A_YEAR_AHEAD], "calendars": ["de"], "on_blocked": OnBlocked.NEXT}, "on_blocked", "too often"),
    ],
)
def test_what_cannot_work_is_refused_with_the_field(timing, field, reason):
    with pytest.raises(InvalidInput, match=reason) as refused:
        check_timing(Timing(**timing), "x", NOW)
    assert refused.value.extra["field"] == field


@pytest.mark.parametrize(
    "timing",
    [
        {"rules": [Rule(cron="0 0 29 2 *")]},
        {"rules": [DAILY], "windows": [Window(start="22:00", end="06:00")]},
        {"rules": [DAILY], "windows": [OFFICE], "outside": "defer"},
        {"rules": [Rule(cron="* * * * * *")], "windows": [Window(days="SUN", start="08:00", end="08:01")]},
        {"rules": [Rule(every="1d", anchor=NOW)], "starts_at": NOW + timedelta(days=4000)},
        {"rules": [Rule(every=1)], "tz": "America/New_York", "gap": Gap.SKIP, "fold": Fold.BOTH},
        {"rules": [Rule(every="1h")], "calendars": ["de"], "on_blocked": OnBlocked.NEXT},
        {"rules": [Rule(cron="*/5 8-18 * * MON")], "calendars": ["de"], "on_blocked": OnBlocked.NEXT},
        {"rules": [Rule(cron="H H L * ?")], "calendars": ["de"], "on_blocked": OnBlocked.PREVIOUS, "jitter": "1h"},
    ],
)
def test_what_can_work_is_accepted(timing):
    checked = Timing(**timing)
    assert check_timing(checked, "x", NOW) is checked


def test_a_leap_day_is_accepted_even_across_2100():
    check_timing(Timing(rules=[Rule(cron="0 0 29 2 *")]), "x", datetime(2096, 3, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("rules", "gap"),
    [
        ([Rule(cron="* * * * * *")], timedelta(seconds=1)),
        ([Rule(cron="*/40 * * * * *")], timedelta(seconds=20)),
        ([Rule(cron="*/5 * * * *")], timedelta(minutes=5)),
        ([Rule(cron="0,59 * * * *")], timedelta(minutes=1)),
        ([Rule(cron="0 0 * * *")], timedelta(days=1)),
        ([Rule(cron="0 0 1,2 1 *")], timedelta(days=1)),
        ([Rule(every="90s")], timedelta(seconds=90)),
        ([Rule(cron="@daily"), Rule(cron="0 1 * * *")], timedelta(hours=1)),
        ([Rule(cron="*/10 * * * *"), Rule(cron="* 3 1 1 *")], timedelta(minutes=1)),
        ([Rule(cron="@hourly"), Rule(cron="*/30 * 0 24 12 *")], timedelta(seconds=30)),
    ],
)
def test_the_shortest_gap_between_ticks(rules, gap):
    assert shortest_gap(Timing(rules=rules), "x", NOW) == gap


def test_a_timing_survives_the_wire():
    timing = Timing(
        rules=[Rule(cron="0 3 * * *"), Rule(every="1h", anchor=NOW)], tz="Europe/Berlin", fold=Fold.BOTH,
        windows=[OFFICE], outside="defer", on_blocked=OnBlocked.NEXT, calendars=["de"], ends_at=NOW, jitter=5,
    )  # fmt: skip
    assert msgspec.json.decode(msgspec.json.encode(timing), type=Timing) == timing
    assert msgspec.json.encode(Timing(rules=[DAILY])) == b'{"rules":[{"cron":"0 3 * * *"}]}'
