"""Overlap and missed ticks, as properties."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.model.definition import ScheduleDefinition, settled, tick_request
from horae.model.errors import InvalidInput
from horae.model.ids import created_at, derived_id, shard_of
from horae.model.overlap import MAX_CATCH_UP, Deed, Missed, Overlap, catch_up, is_missed, judge, kept

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
instants = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
due_ticks = st.lists(instants, unique=True, max_size=20).map(sorted)


def deeds(overlap: Overlap, due: list[datetime], busy: bool) -> list[Deed]:
    return [decision.deed for decision in judge(overlap, due, busy)]


@given(due_ticks, st.booleans(), st.sampled_from([Overlap.SKIP, Overlap.QUEUE, Overlap.REPLACE]))
def test_never_more_than_one_run_at_a_time(due: list[datetime], busy: bool, overlap: Overlap):
    assert deeds(overlap, due, busy).count(Deed.FIRE) == (1 if due and not busy else 0)


@given(due_ticks, st.booleans())
def test_allow_fires_all(due: list[datetime], busy: bool):
    assert deeds(Overlap.ALLOW, due, busy) == [Deed.FIRE] * len(due)


@given(due_ticks, st.booleans())
def test_skip_lets_nothing_wait(due: list[datetime], busy: bool):
    assert Deed.WAIT not in deeds(Overlap.SKIP, due, busy)


@given(due_ticks, st.booleans())
def test_queue_lets_the_oldest_wait_and_only_one(due: list[datetime], busy: bool):
    found = deeds(Overlap.QUEUE, due, busy)
    assert found.count(Deed.WAIT) == min(1, len(due) - (0 if busy else min(1, len(due))))
    assert found == sorted(found, key=[Deed.FIRE, Deed.WAIT, Deed.SKIP].index)


@given(due_ticks.filter(bool), st.booleans())
def test_replace_keeps_the_latest(due: list[datetime], busy: bool):
    found = judge(Overlap.REPLACE, due, busy)
    assert [decision.deed for decision in found[:-1]] == [Deed.SKIP] * (len(due) - 1)
    assert found[-1].deed is (Deed.WAIT if busy else Deed.FIRE)
    assert all(due[-1].isoformat() in (decision.why or "") for decision in found[:-1])


@given(due_ticks, st.sampled_from(list(Missed)), st.integers(1, MAX_CATCH_UP), st.timedeltas(timedelta(0)))
def test_what_is_caught_up_with_is_the_latest(late: list[datetime], missed: Missed, limit: int, window: timedelta):
    now = max(late, default=NOW) + timedelta(minutes=2)
    found = kept(catch_up(missed, limit, window), late, now)
    assert found == sorted(found), "a later one is left out while an earlier one runs"
    most = {Missed.SKIP: 0, Missed.LATEST: 1, Missed.ALL: limit, Missed.WINDOW: MAX_CATCH_UP}[missed]
    expected = sum(now - at <= window for at in late) if missed is Missed.WINDOW else len(late)
    assert sum(found) == min(most, expected)


def test_a_tick_is_missed_after_a_minute():
    assert not is_missed(NOW - timedelta(seconds=60), NOW)
    assert is_missed(NOW - timedelta(seconds=61), NOW)


@given(instants, st.integers(1, 2**62), st.integers(1, 2**62))
def test_a_derived_id_belongs_to_its_instant_and_reason(at: datetime, one: int, other: int):
    found = derived_id(at, "schedule", one)
    assert found == derived_id(at.astimezone(UTC), "schedule", one)
    assert (found.version, shard_of(found)) == (7, 0)
    assert created_at(found) == at - timedelta(microseconds=at.microsecond % 1000)
    assert (found == derived_id(at, "schedule", other)) is (one == other)
    assert found != derived_id(at + timedelta(microseconds=1), "schedule", one)


def test_the_job_of_a_tick_has_what_the_schedule_says():
    definition = settled(ScheduleDefinition(
        name="s", task="t", every="1h", params={"n": 1}, tick_param="at", job={"priority": 7, "labels": {"a": "b"}}
    ))  # fmt: skip
    job = tick_request(definition, NOW, NOW + timedelta(seconds=5))
    assert job.params == {"n": 1, "at": "2026-11-16T12:00:00+00:00"}
    assert (job.priority, job.labels, job.run_at) == (7, {"a": "b", "schedule": "s"}, NOW + timedelta(seconds=5))


def test_options_that_make_no_sense_for_a_schedule_are_refused_with_the_reason():
    for name in ("run_at", "delay", "deadline", "tenant", "params", "nosuch"):
        definition = ScheduleDefinition(name="s", task="t", every="1h", job={name: 1})
        with pytest.raises(InvalidInput, match=f"job.{name}: "):
            tick_request(definition, NOW, NOW)
