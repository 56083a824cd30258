"""The soak: what it calls flat, and a run of some seconds end to end."""

import asyncio
import math
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.bench.progress import Screen
from horae.bench.soak.days import until_midnight
from horae.bench.soak.flatness import DAY, Judgement, Tolerance, Verdict, in_blocks, judge, theil_sen
from horae.bench.soak.report import Report, Watched, markdown, write
from horae.bench.soak.series import TOLERANCES, Sample, Series, at_usual_pace, latencies, paces, rates, to_series
from horae.bench.soak.soak import DAYS, WARM_UP, Plan, soak
from horae.bench.soak.tally import Tally
from horae.testing.clocks import COMPILER, find_compiler

HOUR = 3600.0
TOLERANCE = Tolerance(10)
TIMES = [5.0 * n for n in range(720)]
"""An hour, looked at every five seconds."""


def judged(values: list[float]) -> Judgement:
    return judge(list(zip(TIMES, values, strict=True)), HOUR * WARM_UP / DAYS, TOLERANCE)


def descriptors(values: list[float]) -> Judgement:
    return judge(list(zip(TIMES, values, strict=True)), HOUR * WARM_UP / DAYS, TOLERANCES["descriptors"])


def noise(level: float, spread: float, seed: int = 1) -> list[float]:
    chance = random.Random(seed)
    return [level + chance.gauss(0, spread) for _ in TIMES]


@pytest.mark.parametrize("share", [0.01, 0.1, 0.3])
def test_noise_is_flat(share: float) -> None:
    """One series in two thousand may rise by chance alone; of these hundred, whose seeds are fixed, none does."""
    assert all(judged(noise(500, 500 * share, seed)).verdict is Verdict.FLAT for seed in range(100))


@pytest.mark.parametrize("leak", [2.0, 5.0, 50.0], ids=lambda leak: f"{leak:g} MB an hour")
def test_a_leak_is_found_in_noise(leak: float) -> None:
    found = judged([value + leak * at / HOUR for at, value in zip(TIMES, noise(80, 0.5), strict=True)])
    assert found.verdict is Verdict.GROWS
    assert found.low <= found.a_day <= found.high
    assert found.a_day == pytest.approx(24 * leak, rel=0.5)


def test_a_leak_is_never_taken_for_something_that_has_settled() -> None:
    """At twice what is worth a word, with noise; at the very limit it may be."""
    for seed in range(100):
        leaking = [value + 2 * at / HOUR for at, value in zip(TIMES, noise(80, 0.5, seed), strict=True)]
        assert judged(leaking).verdict is Verdict.GROWS


@pytest.mark.parametrize("minutes", [11, 13])
def test_what_fills_and_comes_to_rest_has_settled(minutes: float) -> None:
    values = [80 - 5 * math.exp(-at / 60 / minutes) for at in TIMES]
    found = judged([value + wobble for value, wobble in zip(values, noise(0, 0.1), strict=True)])
    assert found.verdict is Verdict.SETTLED
    assert found.passes


def staircase(minutes: float, phase: float) -> list[float]:
    return [100.0 + math.floor(at / 60 / minutes + phase) for at in TIMES]


@pytest.mark.parametrize("minutes", [5, 8, 12, 15, 17, 20])
def test_one_descriptor_now_and_then_is_found_whenever_it_begins(minutes: float) -> None:
    for tenth in range(10):
        assert descriptors(staircase(minutes, tenth / 10)).verdict is Verdict.GROWS


@pytest.mark.parametrize("minutes", [12, 20])
def test_a_staircase_is_found_though_descriptors_come_and_go(minutes: float) -> None:
    for seed in range(20):
        wobble = noise(0, 0.4, seed)
        stairs = zip(staircase(minutes, 0.3), wobble, strict=True)
        assert descriptors([step + round(more) for step, more in stairs]).verdict is Verdict.GROWS


@pytest.mark.parametrize("spread", [0.2, 0.5, 0.8, 2, 5])
def test_noise_in_whole_numbers_is_flat(spread: float) -> None:
    """As above: of six thousand such series one rose by chance, and is not among these."""
    for seed in range(1000, 1100):
        assert descriptors([float(round(value)) for value in noise(20.4, spread, seed)]).passes


@pytest.mark.parametrize("level", [3, 12])
def test_descriptors_that_stay_open_for_a_while_are_flat(level: int) -> None:
    """Each for some minutes, so that one look is much like the one before."""
    for seed in range(100):
        chance, values, count = random.Random(seed), [], level
        for _ in TIMES:
            count += (chance.random() < 0.03 * level) - sum(chance.random() < 0.03 for _ in range(count))
            values.append(float(count))
        assert descriptors(values).passes


@pytest.mark.parametrize("at", [[1500.0], [2400.0], [200.0, 900.0], [700.0, 1300.0]])
def test_a_descriptor_or_two_that_came_and_stayed_are_no_leak(at: list[float]) -> None:
    assert descriptors([100.0 + sum(time >= each for each in at) for time in TIMES]).passes


def test_growth_that_is_too_small_to_matter_is_flat() -> None:
    found = judged([80 + 0.1 * at / HOUR for at in TIMES])
    assert found.verdict is Verdict.FLAT
    assert found.a_day == pytest.approx(2.4, rel=0.01)


def test_what_grows_with_the_day_and_is_dropped_with_it_is_flat() -> None:
    day = HOUR / DAYS
    found = judged([100 + 50 * (at % day) / day for at in TIMES])
    assert found.verdict is Verdict.FLAT
    assert found.level == pytest.approx(125, rel=0.05)


def test_a_sawtooth_that_climbs_grows() -> None:
    day = HOUR / DAYS
    assert judged([100 + 50 * (at % day) / day + 3 * (at // day) for at in TIMES]).verdict is Verdict.GROWS


def test_what_grows_while_it_warms_up_is_flat() -> None:
    assert judged([min(at, 700.0) for at in TIMES]).verdict is Verdict.FLAT


@pytest.mark.parametrize("at", [1500.0, 2400.0, 2700.0])
def test_a_step_after_the_warm_up_is_told_with_its_height_and_time(at: float) -> None:
    found = judged([value + (60 if time >= at else 0) for time, value in zip(TIMES, noise(100, 1), strict=True)])
    assert found.verdict is Verdict.STEPS
    assert found.step == pytest.approx(60, rel=0.1)
    assert found.step_at == pytest.approx(at, abs=HOUR / DAYS)


def test_some_wild_samples_make_no_growth() -> None:
    values = noise(80, 0.5)
    for wild in range(600, 720, 7):
        values[wild] = 5000.0
    assert judged(values).verdict is Verdict.FLAT


def test_what_falls_is_flat() -> None:
    assert judged([500 - 100 * at / HOUR for at in TIMES]).verdict is Verdict.FLAT


def test_a_run_without_enough_samples_tells_nothing_and_does_not_pass() -> None:
    found = judge([(at, 1.0) for at in (0.0, 1.0, 2.0)], 0.0, TOLERANCE)
    assert found.verdict is Verdict.SHORT
    assert not found.passes


@given(st.lists(st.floats(-1e6, 1e6), min_size=8, max_size=12), st.floats(-100, 100))
def test_a_slope_lies_within_its_interval_and_turns_with_the_series(values: list[float], tilt: float) -> None:
    points = list(enumerate(values))
    slope, low, high = theil_sen([(float(x), y) for x, y in points])
    assert low <= slope <= high
    tilted, _, _ = theil_sen([(float(x), y + tilt * x) for x, y in points])
    assert tilted == pytest.approx(slope + tilt, abs=1e-3)


def test_blocks_are_medians_of_equal_times() -> None:
    points = [(0.0, 1.0), (1.0, 2.0), (2.0, 900.0), (6.0, 4.0), (12.0, 5.0)]
    assert in_blocks(points, 2) == [(3.0, 2.0), (9.0, 4.5)]


def test_series_are_what_each_look_saw() -> None:
    samples = [Sample(0.0, {("a", "b", "MB"): 1.0}), Sample(5.0, {("a", "b", "MB"): 2.0, ("a", "c", "MB"): 3.0})]
    assert to_series(samples) == [
        Series("a", "b", "MB", [(0.0, 1.0), (5.0, 2.0)]),
        Series("a", "c", "MB", [(5.0, 3.0)]),
    ]


def test_a_rate_is_what_was_added_in_the_time_between() -> None:
    counted = Series("processor time", "server", "s", [(0.0, 1.0), (2.0, 2.0), (6.0, 2.0)])
    assert rates(counted, "server", "% of a core", 100).points == [(2.0, 50.0), (6.0, 0.0)]


def test_latencies_are_percentiles_of_each_window() -> None:
    p50, p99 = latencies([(0.1 * n, float(n)) for n in range(200)], 10.0)
    assert p50.points == [(5.0, 50.0), (15.0, 150.0)]
    assert p99.points == [(5.0, 99.0), (15.0, 199.0)]


@pytest.mark.parametrize(("growth", "verdict"), [(0.0, Verdict.FLAT), (0.2, Verdict.GROWS)])
def test_a_machine_that_becomes_slower_is_not_what_grows(growth: float, verdict: Verdict) -> None:
    """By a third in the hour; what our own programs spend more for the same is found all the same."""
    slower = [1 + at / HOUR / 3 for at in TIMES]
    pace = paces([(at, 0.004 * by + wobble) for at, by, wobble in zip(TIMES, slower, noise(0, 0.0004), strict=True)])
    spent = [20 * by * (1 + growth * at / HOUR) for at, by in zip(TIMES, slower, strict=True)]
    found = Series("processor time", "server", "% of a core", list(zip(TIMES, spent, strict=True)))
    since = HOUR * WARM_UP / DAYS
    assert found.judged(since).verdict is Verdict.GROWS
    assert at_usual_pace(found, pace).judged(since).verdict is verdict
    assert pace.judged(since).passes


def test_the_pace_of_a_machine_is_that_of_the_looks_around() -> None:
    pace = paces([(float(n), 9.0 if n == 50 else 2.0 if n < 60 else 3.0) for n in range(100)])
    assert [pace.points[n][1] for n in (0, 50, 99)] == [1.0, 1.0, 1.5]
    assert at_usual_pace(Series("latency", "p50", "ms", [(10.0, 6.0), (98.5, 6.0)]), pace).points == [
        (10.0, 6.0),
        (98.5, 4.0),
    ]
    assert paces([]).points == []


def test_the_clock_is_set_just_after_midnight() -> None:
    now = datetime(2026, 12, 31, 13, 5, 7, 123, tzinfo=UTC)
    later = now + until_midnight(now)
    assert later - datetime(2027, 1, 1, tzinfo=UTC) == timedelta(seconds=1)


def report(judgement: Judgement, **facts: object) -> Report:
    watched = Watched("private memory", "server", "MB", judgement, [(0.0, 80.0), (60.0, 81.0)])
    settings = {"seconds": 3600.0, "cpus": 2}
    days = {"passed": 15, "made": 75, "dropped": 12, "tried_again": 0}
    whole: dict[str, object] = {
        "settings": settings, "versions": {"horae": "0"}, "series": [watched], "done": {"bulk": 5}, "failed": {},
        "left_out": {}, "examples": {}, "days": days, "left_over": 0,
    }  # fmt: skip
    return msgspec.convert(whole | facts, Report)


FLAT = Judgement(verdict=Verdict.FLAT, level=80, a_day=1, low=-3, high=4)
GROWS = Judgement(verdict=Verdict.GROWS, level=80, a_day=40, low=30, high=50)


def test_a_report_passes_when_all_is_flat_and_nothing_failed() -> None:
    assert report(FLAT).passes
    assert "# Soak: 60 minutes, flat" in markdown(report(FLAT))


@pytest.mark.parametrize(
    "facts",
    [
        {"failed": {"bulk": 1}},
        {"left_out": {"bulk": 1}},
        {"left_over": 1},
        {"broken": "1800 s: no connection"},
        {"days": {"passed": 15, "made": 75, "dropped": 0, "tried_again": 0}},
    ],
    ids=["a failed call", "calls left out", "a job that did not end", "an end before its time", "no day dropped"],
)
def test_a_report_does_not_pass_with(facts: dict[str, object]) -> None:
    assert not report(FLAT, **facts).passes


def test_what_grows_is_named_first_with_its_growth_in_a_day() -> None:
    text = markdown(report(GROWS))
    assert "**not flat**" in text
    assert "| private memory | server | 80 MB | +40 | +50 | grows |" in text


def test_a_report_is_written_for_people_and_programs(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    write(report(GROWS), tmp_path)
    assert msgspec.json.decode((tmp_path / "soak.json").read_bytes(), type=Report) == report(GROWS)
    assert (tmp_path / "soak.svg").read_text().count("<svg") == 1
    assert (tmp_path / "soak.md").read_text() == markdown(report(GROWS))


def test_a_day_is_a_block() -> None:
    plan = Plan(seconds=HOUR, rate=1)
    assert math.isclose((HOUR - WARM_UP * plan.day) / plan.day, 12)
    assert DAY == 86_400


@pytest.mark.timeout(600)
@pytest.mark.skipif(find_compiler() is None, reason=f"needs {COMPILER}")
async def test_a_soak_of_some_seconds_watches_everything_while_days_pass() -> None:
    kept: list[Report] = []
    found = await soak(Plan(seconds=20, rate=10), Screen(), kept.append)

    assert kept == [found]
    assert not found.broken
    families = {each.family for each in found.series}
    assert {
        "latency",
        "private memory",
        "file descriptors",
        "tables",
        "indexes",
        "log",
        "partitions",
        "connections",
    } <= families
    assert {each.name for each in found.series if each.family == "private memory"} == {
        "server", "agent", "children", "PostgreSQL",
    }  # fmt: skip
    assert found.days["passed"] > 0
    assert found.done["bulk"] > 0
    assert found.left_over == 0


async def test_an_act_that_ends_in_any_error_is_counted_as_failed() -> None:
    async def cut_off() -> None:
        raise asyncio.IncompleteReadError(b"", 10)

    tally = Tally()
    await tally.count("visit", cut_off)
    assert (tally.failed["visit"], tally.done["visit"]) == (1, 0)
    assert "IncompleteReadError" in tally.examples["visit"]
