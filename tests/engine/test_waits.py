"""Waits for limits: pieces that follow each other are one, short ones are forgotten, long ones are told in parts."""

from horae.engine.waits import Wait, Waits


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def waits() -> tuple[Waits, Clock]:
    clock = Clock()
    return Waits(clock), clock


def test_pieces_that_follow_each_other_are_one_wait():
    record, clock = waits()
    for at in (0.0, 2.0, 4.0):
        clock.now = at
        record.end(1)
        record.begin(1, 7)
    clock.now = 5.0
    record.end(1)
    assert record.take() == []
    clock.now = 9.0
    assert record.take() == [Wait(1, 7, 0.0, 5.0)]
    assert record.take() == []


def test_a_short_wait_is_nobodys_question():
    record, clock = waits()
    record.begin(1, 7)
    clock.now = 0.4
    record.end(1)
    clock.now = 9.0
    assert record.take() == []


def test_a_wait_for_another_limit_is_another_wait():
    record, clock = waits()
    record.begin(1, 7)
    clock.now = 2.0
    record.begin(1, 8)
    assert record.take() == [Wait(1, 7, 0.0, 2.0)]
    assert record.of(1) == Wait(1, 8, 2.0, 2.0)


def test_a_long_wait_is_told_in_parts():
    record, clock = waits()
    record.begin(1, 7)
    clock.now = 61.0
    assert record.take() == [Wait(1, 7, 0.0, 61.0)]
    clock.now = 62.0
    record.end(1)
    clock.now = 70.0
    assert record.take() == [Wait(1, 7, 61.0, 62.0)]
