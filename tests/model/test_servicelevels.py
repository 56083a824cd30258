"""Service levels: which one counts, when a promise is kept, and when off-peak hours begin."""

from datetime import UTC, datetime, timedelta
from itertools import permutations
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.model.errors import InvalidInput
from horae.model.offpeak import off_peak_start, week_ranges
from horae.model.promise import (
    GRACE,
    Promise,
    Seen,
    Stage,
    Verdict,
    at_risk_from,
    judge,
    late_again,
    raised_rank,
    renewed,
)
from horae.model.rank import EMERGENCY, rank
from horae.model.servicelevels import ServiceLevel, check_level, level_for, read_start_within
from horae.model.timing import OffPeak, Window

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
NIGHTS = OffPeak(windows=(Window(start="22:00", end="06:00"),), tz="Europe/Berlin")


def level(**fields) -> ServiceLevel:
    return ServiceLevel(**({"id": 1, "name": "gold", "start_within": 60.0} | fields))


# Which level.


def test_the_most_specific_level_counts_whatever_the_order_of_the_rules():
    scopes = [(1, "work"), (None, "work"), (1, None), (None, None)]
    rules = [level(id=n, tenant_id=tenant, task=task) for n, (tenant, task) in enumerate(scopes)]
    for order in permutations(rules):
        levels = {rule.scope: rule for rule in order}
        for n, scope in enumerate(scopes):
            assert level_for(levels, 1, "work") is rules[n]
            del levels[scope]
        assert level_for(levels, 1, "work") is None


def test_levels_of_others_do_not_count():
    levels = {rule.scope: rule for rule in (level(tenant_id=2), level(task="other"), level(tenant_id=2, task="work"))}
    assert level_for(levels, 1, "work") is None


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": "no name"}, "name"),
        ({"task": "no task"}, "task"),
        ({"start_within": None}, "start_within"),
        ({"target": 0.0}, "target"),
        ({"target": 1.01}, "target"),
        ({"target": float("nan")}, "target"),
        ({"priority": 0}, "priority"),
        ({"priority": EMERGENCY}, "priority"),
        ({"tier": "x" * 101}, "tier"),
        ({"tier": "go\nld"}, "tier"),
        ({"off_peak": OffPeak(windows=())}, "off_peak.windows"),
        ({"off_peak": OffPeak(windows=NIGHTS.windows * 33)}, "off_peak.windows"),
        ({"off_peak": OffPeak(windows=(Window(start="8"),))}, "windows[0].start"),
        ({"off_peak": OffPeak(windows=NIGHTS.windows, tz="Mars/Base")}, "off_peak.tz"),
    ],
)
def test_what_cannot_be_is_refused_with_its_field(fields, field):
    with pytest.raises(InvalidInput) as refused:
        check_level(level(**fields))
    assert refused.value.extra["field"] == field


@pytest.mark.parametrize(
    "fields", [{}, {"start_within": None, "priority": 9}, {"start_within": None, "off_peak": NIGHTS}]
)
def test_what_can_be_is_taken(fields):
    assert check_level(level(**fields)) == level(**fields)


@pytest.mark.parametrize("text", ["0s", "-1s", "soon", 0, -1, float("nan"), float("inf")])
def test_a_promise_needs_a_time_above_nothing(text):
    with pytest.raises(InvalidInput):
        read_start_within(text)


# Whether it was kept.

instants = st.floats(0, 86_400).map(lambda seconds: NOW + timedelta(seconds=seconds))
seens = st.builds(
    Seen, instants, st.sampled_from(Stage), instants, st.none() | instants, st.none() | instants, st.booleans()
)


@given(seens)
def test_a_start_decides_and_it_is_counted_once(seen: Seen):
    kept, stage = judge(seen)
    if seen.gone or seen.stage is Stage.LATE:
        assert kept is None
    elif seen.started_at is not None:
        assert (kept, stage) == (seen.started_at <= seen.due_at, None)
    elif seen.ended_at is not None:
        assert (kept, stage) == (None if seen.ended_at <= seen.due_at else False, None)
    elif seen.now >= seen.due_at + GRACE:
        assert (kept, stage) == (False, Stage.LATE)
    else:
        assert (kept, stage) == (None, Stage.AT_RISK)


@given(seens)
def test_a_promise_is_over_when_its_job_has_started_ended_or_gone(seen: Seen):
    over = seen.gone or seen.started_at is not None or seen.ended_at is not None
    assert (judge(seen).stage is None) is over


def test_whoever_is_counted_late_is_not_counted_again():
    late = judge(Seen(NOW, Stage.AT_RISK, NOW + GRACE))
    assert late == Verdict(kept=False, stage=Stage.LATE)
    started = Seen(NOW, Stage.LATE, NOW + 2 * GRACE, started_at=NOW + 2 * GRACE)
    assert judge(started) == Verdict(None, None)


def test_the_time_runs_from_when_it_is_due_and_nobody_is_late_by_backdating():
    promise = Promise(level="gold", level_id=1, within=60.0)
    later, past = NOW + timedelta(hours=1), NOW - timedelta(hours=1)
    assert renewed(promise, later, NOW).start_by == later + timedelta(minutes=1)
    assert renewed(promise, past, NOW).start_by == NOW + timedelta(minutes=1)
    assert renewed(Promise(level="nightly", level_id=2), NOW, NOW, off_peak=True).start_by is None


@pytest.mark.parametrize(("within", "warning"), [(4.0, 1.0), (60.0, 15.0), (2400.0, 600.0), (1e6, 600.0)])
def test_it_is_at_risk_in_the_last_quarter_of_its_time(within, warning):
    assert at_risk_from(NOW, within) == NOW - timedelta(seconds=warning)


@given(st.integers(1, 9), st.floats(0, 600))
def test_a_job_at_risk_goes_before_all_that_come_later_but_emergencies(priority, left):
    raised = raised_rank(NOW + timedelta(seconds=left))
    assert raised < rank(NOW, NOW, priority)
    assert raised >= rank(NOW, NOW, EMERGENCY)


@pytest.mark.parametrize(("late", "pause"), [(1.0, 15.0), (30.0, 15.0), (3600.0, 1800.0)])
def test_the_later_a_job_is_the_less_often_it_is_looked_at(late, pause):
    assert late_again(NOW - timedelta(seconds=late), NOW) == NOW + timedelta(seconds=pause)


# Off-peak.

ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Santiago"]
times = st.builds("{:02}:{:02}".format, st.integers(0, 23), st.sampled_from([0, 15, 30, 59]))
days = st.none() | st.sampled_from(["SUN", "MON-FRI", "SAT,SUN", "SAT", "1,3,5"])
windows = st.builds(lambda days, start, end: Window(days=days, start=start, end=end), days, times, times)
hours = st.builds(OffPeak, windows=st.lists(windows, min_size=1, max_size=3).map(tuple), tz=st.sampled_from(ZONES))
changes = st.sampled_from(
    ["2026-03-29T01:00Z", "2026-10-25T01:00Z", "2026-03-08T07:00Z", "2026-11-01T06:00Z", "2026-04-04T15:00Z",
     "2026-10-03T15:30Z", "2026-09-06T04:00Z", "2026-12-31T23:30Z"]
).map(datetime.fromisoformat)  # fmt: skip
moments = st.builds(lambda at, minutes: at + timedelta(minutes=minutes), changes, st.integers(-3000, 3000))


def is_open(off_peak: OffPeak, at: datetime) -> bool:
    """By the minutes of the week, which the database uses too."""
    wall = at.astimezone(ZoneInfo(off_peak.tz))
    minute = wall.isoweekday() % 7 * 1440 + wall.hour * 60 + wall.minute
    return any(since <= minute < until for since, until in week_ranges(off_peak))


@given(hours, moments)
def test_off_peak_begins_at_the_first_minute_at_which_a_window_is_open(off_peak: OffPeak, at: datetime):
    starts = off_peak_start(off_peak, at)
    assert starts >= at
    assert is_open(off_peak, starts)
    minutes = min((starts - at) // timedelta(minutes=1), 3000)
    assert not any(is_open(off_peak, starts - timedelta(minutes=n)) for n in range(1, minutes + 1))


@pytest.mark.parametrize(
    ("window", "at", "starts"),
    [
        # The night of 29 March 2026 has no 02:30 in Berlin, that of 25 October has it twice.
        (("02:30", "04:00"), "2026-03-29T00:00Z", "2026-03-29T01:00Z"),
        (("02:00", "02:30"), "2026-03-29T00:00Z", "2026-03-30T00:00Z"),
        (("02:30", "03:00"), "2026-10-25T00:00Z", "2026-10-25T00:30Z"),
        (("02:30", "03:00"), "2026-10-25T01:00Z", "2026-10-25T01:30Z"),
        (("22:00", "06:00"), "2026-03-28T20:00Z", "2026-03-28T21:00Z"),
        (("22:00", "06:00"), "2026-03-29T20:00Z", "2026-03-29T20:00Z"),
        (("22:00", "06:00"), "2026-10-25T20:00Z", "2026-10-25T21:00Z"),
        (("22:00", "06:00"), "2026-10-25T04:59Z", "2026-10-25T04:59Z"),
        (("22:00", "06:00"), "2026-10-25T05:00Z", "2026-10-25T21:00Z"),
    ],
)
def test_off_peak_where_the_clock_jumps(window, at, starts):
    off_peak = OffPeak(windows=(Window(start=window[0], end=window[1]),), tz="Europe/Berlin")
    assert off_peak_start(off_peak, datetime.fromisoformat(at)) == datetime.fromisoformat(starts)
