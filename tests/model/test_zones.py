"""Every zone of tzdata, 2020 to 2040: its spans, and the ticks around each change of its clock."""

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise, takewhile
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from zonedays import FIRST, LAST, ZONES, changes, distinct, moving, offset

from horae.model.errors import InvalidInput
from horae.model.ticks import Mark, Skip, ticks
from horae.model.timing import Rule, Timing
from horae.model.zones import check_zone, year_spans

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def between(cron, zone, after, until):
    found = ticks(Timing(rules=[Rule(cron=cron)], tz=zone), "x", after, lambda _day: None)
    return list(takewhile(lambda tick: tick.at <= until, found))


def fired(found):
    return [tick.at for tick in found if tick.skipped is None]


def test_there_is_something_to_test():
    assert len(ZONES) > 500
    assert len(moving()) > 150
    assert 60 < len(distinct()) < len(ZONES)


def test_spans_change_exactly_where_the_clock_does():
    for name in ZONES:
        spans = [span for year in range(2020, 2041) for span in year_spans(ZoneInfo(name), year)]
        edges = [after.start for before, after in pairwise(spans) if after.wall_start != before.wall_end]
        assert edges == changes(name), name
        assert all(before.end == after.start for before, after in pairwise(spans))
        assert (spans[0].start, spans[-1].end) == (FIRST, LAST)


def jump(name, change):
    """The wall time at which the change happens, and how far the clock jumps."""
    zone = ZoneInfo(name)
    before, after = offset(zone, change - HOUR / 3600), offset(zone, change)
    return (change + before).replace(tzinfo=None), after - before


def test_around_every_change_a_wildcard_rule_fires_whenever_the_clock_shows_its_minutes():
    for name in distinct():
        zone = ZoneInfo(name)
        for change in changes(name):
            low = change.replace(minute=0) - 3 * HOUR
            high = low + 6 * HOUR
            minutes = (low + n * 5 * MINUTE for n in range(1, 73))
            expected = [at for at in minutes if at.astimezone(zone).minute in (0, 30)]
            assert fired(between("*/30 * * * *", name, low, high)) == expected, (name, change)


def test_around_every_change_a_fixed_time_fires_once_a_day():
    """In the gap right after it, in the fold the first time: not lost and not doubled."""
    for name in distinct():
        for change in changes(name):
            wall, size = jump(name, change)
            inside = wall + size / 2
            found = between(f"{inside.minute} {inside.hour} * * *", name, change - 36 * HOUR, change + 36 * HOUR)
            assert all(before.at < after.at for before, after in pairwise(found))
            moved = [tick.at for tick in found if Mark.GAP_MOVED in tick.marks]
            twice = [tick.at for tick in found if Mark.FOLD_FIRST in tick.marks]
            unsaid = [tick.at for tick in found if tick.skipped is Skip.FOLD]
            if size > timedelta(0):
                assert (moved, twice, unsaid) == ([change], [], []), (name, change)
            else:
                assert (moved, twice, unsaid) == ([], [change + size / 2], [change - size / 2]), (name, change)
            assert len(fired(found)) == 3, (name, change)


def test_over_all_years_a_weekly_tick_is_never_lost_or_doubled():
    sundays = (LAST - FIRST).days // 7
    for name in distinct():
        at = fired(between("30 2 * * SUN", name, FIRST, LAST))
        assert all(6.8 * DAY < after - before < 7.2 * DAY for before, after in pairwise(at)), name
        assert sundays <= len(at) <= sundays + 1, name


def test_all_zones_agree_with_cronsim_around_a_change():
    for number, name in enumerate(ZONES):
        moves = changes(name)
        change = moves[number % len(moves)] if moves else datetime(2026, 3, 29, 1, tzinfo=UTC)
        inside = jump(name, change)[0] + HOUR / 4
        start = (change - 30 * HOUR).astimezone(ZoneInfo(name))
        fixed = f"{inside.minute} {inside.hour} * * *"
        # cronsim steps by whole hours and so loses 03:00 after Lord Howe's half-hour fold; we do not (test_ticks).
        whole_hours = jump(name, change)[1] % HOUR == timedelta(0)
        wildcard = ("*/20 * * * *", "5 * * * *", "0 */3 * * *")[number % 3 if whole_hours else 0]
        for cron in (fixed, ("0 0 * * *", f"{inside.minute},45 {inside.hour},5 * * *")[number % 2], wildcard):
            count = 100 if wildcard.startswith("*/") else 40
            expected = [at.astimezone(UTC) for at in islice(CronSim(cron, start), count)]
            found = fired(between(cron, name, start, expected[-1]))
            assert found == expected, (name, change, cron)


@pytest.mark.parametrize(
    ("given", "meant"),
    [("Europe/Berln", "Europe/Berlin"), ("berlin", "Europe/Berlin"), ("new york", "America/New_York"), ("utc", "UTC")],
)
def test_an_unknown_zone_is_refused_with_a_near_one(given, meant):
    with pytest.raises(InvalidInput, match=meant):
        check_zone(given)


@pytest.mark.parametrize("name", ["", "localtime", "right/UTC", "../etc/passwd", "/etc/passwd", "Europe", "x" * 5000])
def test_a_zone_outside_the_database_is_refused(name):
    with pytest.raises(InvalidInput, match="IANA"):
        check_zone(name)
