"""Job ids grow, carry their shard and their time, and fall into their day."""

from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.model.ids import (
    HINT_BITS,
    MAX_SHARD,
    SET_BACK_MS,
    JobIds,
    created_at,
    day_bounds,
    lowest_id,
    shard_of,
    tenant_hint,
)

seconds = st.floats(1, 7e9, allow_nan=False)


@given(st.lists(seconds, min_size=2, max_size=50), st.integers(0, MAX_SHARD))
def test_ids_of_one_maker_never_go_back_unless_its_clock_is_set_back(times, shard):
    ids, last, latest = JobIds(shard), "", 0.0
    for unix in times:
        made = ids.make(unix)
        at = created_at(UUID(made)).timestamp()
        back = latest - unix
        if back > SET_BACK_MS / 1000 + 0.01:
            assert abs(at - unix) <= 0.0011
        elif back < SET_BACK_MS / 1000 - 0.01:
            assert made > last
            assert abs(at - max(unix, latest)) <= 0.0011
        last, latest = made, at


@given(seconds, st.integers(1, 2**31 - 1))
def test_an_id_hints_at_its_tenant(unix, tenant_id):
    ids = JobIds()
    made = [ids.make(unix, tenant_id) for _ in range(3)]
    assert {tenant_hint(UUID(job_id)) for job_id in made} == {tenant_id % (1 << HINT_BITS)}
    assert made == sorted(set(made))


@given(seconds, st.integers(1, 2**31 - 1), st.integers(0, 20))
def test_ids_of_a_batch_are_as_those_made_one_by_one(unix, tenant_id, count):
    ids = JobIds(7)
    made = [ids.make(unix, tenant_id), *ids.make_many(unix, tenant_id, count), ids.make(unix, tenant_id)]
    assert len(made) == count + 2
    assert made == sorted(set(made))
    assert {(tenant_hint(UUID(i)), shard_of(UUID(i))) for i in made} == {(tenant_id % (1 << HINT_BITS), 7)}
    assert {created_at(UUID(i)) for i in made} == {created_at(UUID(made[0]))}


@given(seconds, st.integers(0, MAX_SHARD))
def test_an_id_is_a_uuid7_that_tells_its_shard_and_its_time(unix, shard):
    made = UUID(JobIds(shard).make(unix))
    assert (made.version, made.variant) == (7, "specified in RFC 4122")
    assert shard_of(made) == shard
    assert abs(created_at(made).timestamp() - unix) <= 0.0011


def test_ids_of_one_millisecond_are_many_and_ordered():
    ids = JobIds()
    made = [ids.make(1_700_000_000.0) for _ in range(20_000)]
    assert made == sorted(set(made))
    assert {created_at(UUID(job_id)) for job_id in made} == {datetime.fromtimestamp(1_700_000_000, UTC)}


def test_two_makers_do_not_collide():
    one, two = JobIds(), JobIds()
    made = [maker.make(1_700_000_000.0) for _ in range(5000) for maker in (one, two)]
    assert len(set(made)) == len(made)


@pytest.mark.parametrize("shard", [-1, MAX_SHARD + 1])
def test_a_shard_that_does_not_fit_is_refused(shard):
    with pytest.raises(ValueError, match="shard"):
        JobIds(shard)


@given(st.dates(date(1970, 1, 2), date(2199, 12, 31)), st.floats(0, 86_399.99))
def test_an_id_lies_within_the_bounds_of_its_day(day, offset):
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    low, high = day_bounds(day)
    made = UUID(JobIds().make(start.timestamp() + offset))
    assert low <= made < high
    assert day_bounds(day + timedelta(days=1))[0] == high


@given(st.floats(4e7, 7e9).map(lambda unix: datetime.fromtimestamp(unix, UTC)))
def test_the_lowest_id_of_an_instant_is_below_all_made_then(instant):
    whole = instant.replace(microsecond=instant.microsecond // 1000 * 1000)
    assert lowest_id(whole) <= UUID(JobIds(0).make((whole + timedelta(microseconds=500)).timestamp()))


async def test_the_database_draws_the_same_bounds(conn):
    for day in (date(1970, 1, 1), date(2026, 11, 15), date(2199, 12, 31)):
        assert await conn.fetchval("select day_bound($1)", day) == day_bounds(day)[0]
    made = await conn.fetchval("select new_job_id()")
    assert (made.version, shard_of(made)) == (7, 0)
    assert abs(created_at(made) - await conn.fetchval("select clock_timestamp()")) < timedelta(seconds=30)
