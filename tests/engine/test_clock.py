"""The server's idea of PostgreSQL's clock, which somebody may set at any moment."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.engine import clock as module
from horae.engine.clock import DatabaseClock

PATIENCE = 30.0
BEGIN = datetime(2026, 11, 16, tzinfo=UTC)
HOURS = st.sampled_from([-7200.0, -60.0, -0.5, 0.0, 0.0, 0.0, 0.5, 60.0, 10_800.0])


class World:
    """A monotonic clock, a wall clock that can be set, and a server that reads it now and then."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monotonic = 1000.0
        self.wall = BEGIN
        monkeypatch.setattr(module.time, "monotonic", lambda: self.monotonic)
        self.server = DatabaseClock(PATIENCE)
        self.read()

    def pass_by(self, seconds: float, step: float = 0.0) -> None:
        self.monotonic += seconds
        self.wall += timedelta(seconds=seconds + step)

    def read(self) -> None:
        self.server.observe(self.wall, self.monotonic, self.monotonic)


@pytest.fixture
def world(monkeypatch):
    return World(monkeypatch)


@given(st.lists(st.tuples(st.floats(0.01, 1.5), HOURS, st.floats(4, PATIENCE)), min_size=1, max_size=60))
def test_no_promise_ends_before_its_seconds_are_over_however_the_clock_is_set(changes):
    """Each promise is made by the database's clock, as a lease is, right after a step or between two."""
    with pytest.MonkeyPatch.context() as patch:
        world = World(patch)
        promises: list[tuple[float, datetime]] = []
        for seconds, step, length in changes:
            world.pass_by(seconds, step)
            assert all(end <= world.monotonic + 1e-6 for end, at in promises if at <= world.server.steady())
            world.read()
            assert all(end <= world.monotonic + 1e-6 for end, at in promises if at <= world.server.steady())
            promises.append((world.monotonic + length, world.wall + timedelta(seconds=length)))


def test_a_clock_that_nobody_sets_is_simply_followed(world):
    for _ in range(100):
        world.pass_by(0.7)
        world.read()
    assert abs(world.server.steady() - world.wall) < timedelta(milliseconds=1)
    assert world.server.expects(world.wall)


def test_a_clock_set_forward_is_believed_at_once_but_for_what_was_promised(world):
    world.pass_by(1, 10_800)
    assert not world.server.expects(world.wall)
    world.read()
    assert abs(world.server.now() - world.wall) < timedelta(milliseconds=1)
    assert world.wall - world.server.steady() > timedelta(hours=2.9)
    world.pass_by(PATIENCE + 1)
    world.read()
    assert abs(world.server.steady() - world.wall) < timedelta(milliseconds=1)


def test_a_reading_that_took_long_is_not_taken_for_a_clock_that_was_set(world):
    sent, wall = world.monotonic, world.wall
    world.pass_by(8)
    world.server.observe(wall + timedelta(seconds=7), sent, world.monotonic)
    assert world.server.expects(world.wall)


def test_a_clock_set_back_is_believed_at_once(world):
    world.pass_by(1, -7200)
    world.read()
    assert abs(world.server.steady() - world.wall) < timedelta(milliseconds=1)
