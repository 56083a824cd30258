"""Batches and holdings follow from how long jobs take."""

from collections import deque

import msgspec

from horae.model.work import Grant
from horae.worker.messages import Order
from horae.worker.pace import LARGEST_BATCH, MOST_HELD, Pace


def _queue(*tasks: str) -> deque[Order]:
    return deque(
        Order(0, 0.0, Grant(id="j", lane=1, attempt=1, task=task, params=msgspec.Raw(b"{}"))) for task in tasks
    )


def _learned(**seconds: float) -> Pace:
    pace = Pace()
    for task, each in seconds.items():
        pace.learn(task, 1, each)
    return pace


def test_an_unknown_task_travels_alone():
    assert len(Pace().cut(_queue("new", "new"), 0.0, 500, empty=True)[0]) == 1


def test_tiny_jobs_travel_by_the_hundred():
    assert len(_learned(tiny=1e-5).cut(_queue(*["tiny"] * 1900), 0.0, LARGEST_BATCH, empty=True)[0]) == LARGEST_BATCH


def test_a_batch_takes_about_fifty_milliseconds():
    assert len(_learned(small=0.01).cut(_queue(*["small"] * 100), 0.0, 500, empty=True)[0]) in (4, 5)


def test_a_long_job_goes_only_to_an_empty_child():
    pace = _learned(long=10.0)
    assert pace.cut(_queue("long"), 0.01, 500, empty=False)[0] == []
    assert len(pace.cut(_queue("long"), 0.0, 500, empty=True)[0]) == 1


def test_nothing_is_held_ahead_of_unknown_or_long_jobs():
    assert Pace().target(4, 0, 1.0) == 4
    assert _learned(long=60.0).target(3, 1, 1.0) == 4


def test_short_jobs_are_held_for_the_prefetch_time_within_bounds():
    assert _learned(short=0.1).target(2, 0, 1.0) == 20
    assert _learned(tiny=1e-6).target(2, 0, 1.0) == MOST_HELD
