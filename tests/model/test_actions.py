"""Bulk actions: whom they concern, and the instants of a rate."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.model.actions import AGAIN, APPLIES, CHANGING, UNDOABLE, ActionKind, concerned, slots
from horae.model.errors import InvalidInput
from horae.model.states import TRANSITIONS, State

NOW = datetime(2026, 11, 16, tzinfo=UTC)
HORIZON = timedelta(seconds=2)
STARTS = st.none() | st.floats(-100, 100).map(lambda seconds: NOW + timedelta(seconds=seconds))
RATES = st.floats(0.01, 50)


@given(STARTS, RATES, st.integers(0, 300))
def test_instants_keep_to_the_rate_and_to_the_horizon(paced: datetime | None, rate: float, most: int):
    found = slots(paced, NOW, rate, HORIZON, most)
    assert len(found) <= most
    assert all(NOW <= instant < NOW + HORIZON for instant in found)
    assert all(paced is None or instant >= paced for instant in found)
    step = timedelta(seconds=1) / rate
    assert all(after - before >= step - timedelta(microseconds=1) for before, after in pairwise(found))


@given(RATES, st.lists(st.floats(0.1, 50), min_size=1, max_size=20))
def test_no_window_holds_more_than_its_share_however_the_batches_come(rate: float, pauses: list[float]):
    now, paced, given_out = NOW, None, []
    for pause in pauses:
        found = slots(paced, now, rate, HORIZON, 500)
        if found:
            paced = found[-1] + timedelta(seconds=1) / rate
        given_out += found
        now += timedelta(seconds=pause)
    share = int(rate) + 2
    apart = [after - before for before, after in zip(given_out, given_out[share:], strict=False)]
    assert all(gap > timedelta(seconds=1) for gap in apart)


@given(RATES)
def test_something_is_due_at_once(rate: float):
    assert slots(None, NOW, rate, HORIZON, 10)[0] == NOW


@pytest.mark.parametrize("kind", ActionKind)
def test_an_action_concerns_only_states_that_it_can_change(kind: ActionKind):
    for state in APPLIES[kind]:
        if kind in AGAIN:
            assert State.READY in TRANSITIONS[state]
        elif kind is ActionKind.CANCEL:
            assert State.CANCELLED in TRANSITIONS[state]
        elif kind in CHANGING:
            assert not state.ended


def test_what_is_run_again_cannot_be_undone():
    assert UNDOABLE.isdisjoint(AGAIN)


def test_a_filter_for_other_jobs_is_refused():
    assert concerned(ActionKind.CANCEL, None) == APPLIES[ActionKind.CANCEL]
    assert concerned(ActionKind.CANCEL, frozenset({State.READY, State.FAILED})) == {State.READY}
    with pytest.raises(InvalidInput, match="cancel is for jobs that are"):
        concerned(ActionKind.CANCEL, frozenset({State.FAILED}))
