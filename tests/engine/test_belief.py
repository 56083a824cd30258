"""What was found good is believed for its time, and leaves nothing behind."""

import pytest

from horae.engine.belief import BELIEVED_SECONDS, MAX_BELIEVED, Belief


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.mark.parametrize(("seconds", "believed"), [(2.0, 2.0), (3600.0, BELIEVED_SECONDS)])
def test_it_is_believed_for_its_time_and_never_longer_than_is_usual(clock: Clock, seconds: float, believed: float):
    known = Belief[str](clock)
    known.put("token", "ada", seconds)
    clock.now = believed - 0.1
    assert known.get("token") == "ada"
    clock.now = believed
    assert known.get("token") is None


def test_a_token_for_each_sign_in_leaves_nothing_behind(clock: Clock):
    known = Belief[int](clock)
    for n in range(1000):
        clock.now += 1.0
        known.put(f"token {n}", n)
    assert len(known) == BELIEVED_SECONDS


def test_what_is_asked_for_on_and_on_does_not_keep_what_is_over(clock: Clock):
    known = Belief[int](clock)
    for n in range(100):
        clock.now += 1.0
        known.put("the same", 0)
        known.put(f"token {n}", n)
    assert len(known) == BELIEVED_SECONDS + 1
    assert known.get("the same") == 0


def test_however_many_come_at_once_memory_is_bounded(clock: Clock):
    known = Belief[int](clock)
    for n in range(3 * MAX_BELIEVED):
        known.put(f"token {n}", n)
    assert len(known) <= MAX_BELIEVED


def test_what_is_revoked_is_not_believed(clock: Clock):
    known = Belief[int](clock)
    known.put("a", 1)
    known.put("b", 2)
    known.forget("a")
    assert (known.get("a"), known.get("b")) == (None, 2)
    known.clear()
    assert known.get("b") is None
