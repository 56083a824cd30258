"""The record of a worker: when it is put on probation, and what brings it back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.engine.record import FAILURES_IN_A_ROW, Record, TaskRecords

shares = st.floats(0, 1)


def failed(times: int, elsewhere: float = 0.0) -> Record:
    record = Record()
    for _ in range(times):
        record.failed(elsewhere)
    return record


def test_failures_in_a_row_that_others_do_not_have_lead_to_probation():
    assert not failed(FAILURES_IN_A_ROW - 1).probation
    assert failed(FAILURES_IN_A_ROW).probation


def test_a_task_that_fails_everywhere_says_nothing_about_the_worker():
    assert not failed(1000, elsewhere=1.0).probation


def test_a_task_that_fails_everywhere_does_not_end_a_probation():
    record = failed(FAILURES_IN_A_ROW)
    record.failed(1.0)
    assert record.probation


def test_a_success_ends_probation_and_a_return_only_the_probe():
    record = failed(FAILURES_IN_A_ROW)
    record.probing = True
    record.returned()
    assert (record.probation, record.probing) == (True, False)
    record.succeeded(1, 1.0, 1.0)
    assert not record.probation


def test_a_success_between_failures_begins_the_row_anew():
    record = failed(FAILURES_IN_A_ROW - 1)
    record.succeeded(1, 1.0, 1.0)
    record.failed(0.0)
    assert not record.probation


def test_a_worker_that_takes_twice_as_long_becomes_slow_and_quick_again():
    record = Record()
    record.succeeded(200, 2.0, 1.0)
    assert record.slowness == pytest.approx(1, abs=0.01)
    record.succeeded(200, 1.0, 1.0)
    assert record.slowness == pytest.approx(0, abs=0.01)


@given(st.lists(st.tuples(st.booleans(), shares, st.integers(1, 50), st.floats(0, 1e6)), max_size=50))
def test_the_averages_stay_between_none_and_all(events: list[tuple[bool, float, int, float]]):
    record = Record()
    for good, share, count, seconds in events:
        record.succeeded(count, seconds, 1.0) if good else record.failed(share)
        assert -1e-9 <= record.failing <= 1 + 1e-9
        assert -1e-9 <= record.slowness <= 1 + 1e-9


def test_elsewhere_leaves_the_worker_itself_out():
    records = TaskRecords()
    assert records.elsewhere(1, "t", 7) == 1.0
    records.note(1, "t", 7, 1000, 1000)
    assert records.elsewhere(1, "t", 7) == 1.0
    records.note(1, "t", 8, 1000, 0)
    assert records.elsewhere(1, "t", 7) == pytest.approx(0, abs=0.01)
    assert records.elsewhere(1, "t", 8) == pytest.approx(1, abs=0.01)
    assert records.elsewhere(2, "t", 7) == 1.0
