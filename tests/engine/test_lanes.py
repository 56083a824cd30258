"""More lanes than a server remembers: whatever is forgotten is asked for again."""

import pytest

from horae.engine import lanes
from horae.engine.engine import Engine
from horae.model.job import JobRequest
from horae.store.control import LaneKey

from .staging import ROOT, done, join, submit


@pytest.fixture
def forgetful(monkeypatch) -> None:
    monkeypatch.setattr(lanes, "MAX_REMEMBERED", 3)


def keys(number: int) -> list[LaneKey]:
    return [LaneKey(1, "q", f"task {place}", "", "") for place in range(number)]


@pytest.mark.usefixtures("forgetful")
async def test_more_lanes_at_once_than_are_remembered_all_get_their_numbers(resting: Engine):
    numbers = await resting.lanes.intern(keys(10))
    assert len(set(numbers.values())) == 10
    assert await resting.lanes.keys(numbers.values()) == {number: key for key, number in numbers.items()}
    assert await resting.lanes.intern(keys(10)) == numbers


@pytest.mark.usefixtures("forgetful")
async def test_the_oldest_lane_is_forgotten_first_and_what_is_asked_for_again_stays(resting: Engine):
    first, second, third = keys(3)
    await resting.lanes.intern([first])
    await resting.lanes.intern([second])
    await resting.lanes.intern([third])
    await resting.lanes.intern([first, keys(4)[3]])
    assert [resting.lanes.known(key) is None for key in keys(4)] == [True, False, False, False]


@pytest.mark.usefixtures("forgetful")
async def test_jobs_of_forgotten_lanes_are_granted_and_their_ends_count(resting: Engine, conn):
    """Their lanes are in the backlog still: a claim takes them, and must know what it took."""
    worker = await join(resting)
    made = [await submit(resting, concurrency_key=str(number)) for number in range(10)]
    grants = await resting.dispatch.take(worker, 1, 10)
    assert {grant.id for grant in grants} == set(made)
    assert await resting.complete.attempts(worker.worker_id, [done(grant) for grant in grants]) == []
    assert await conn.fetchval("select count(*) from outcome where state = 'succeeded'") == 10


@pytest.mark.usefixtures("forgetful")
async def test_a_bulk_of_more_lanes_than_are_remembered_is_stored(resting: Engine):
    await join(resting)
    made = await resting.submit.many(ROOT, [JobRequest(task="work", concurrency_key=str(n)) for n in range(10)])
    assert [item for item in made if isinstance(item, Exception)] == []
