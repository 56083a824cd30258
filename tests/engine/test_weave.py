import math
from collections import Counter as Counts
from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from horae.engine.choice import Chosen
from horae.engine.claims import Claimed
from horae.engine.weave import woven
from horae.store.control import LaneKey

WEIGHTS = {1: 1.0, 2: 4.0, 3: 1.0}


class Hint:
    def __init__(self, lane_id: int, tenant_id: int) -> None:
        self.lane_id, self.key = lane_id, LaneKey(tenant_id, "queue", "work")


def chosen(lane_id: int, tenant_id: int, *, seconds: float = 1.0, start: float = 7.0) -> Chosen:
    return Chosen(Hint(lane_id, tenant_id), 0, 100, 0, seconds, 0.0, 1, start)  # type: ignore[arg-type]


def weave(lanes: list[Chosen], counts: list[int]) -> list[tuple[int, int]]:
    rows = [
        {"lane_id": lane.hint.lane_id, "rank": rank} for lane, n in zip(lanes, counts, strict=True) for rank in range(n)
    ]
    got = Claimed(rows, [])  # type: ignore[arg-type]
    return [(row["lane_id"], row["rank"]) for row in woven(got, lanes, WEIGHTS.__getitem__)]


def test_a_single_job_does_not_stand_behind_a_tenants_mass():
    assert (20, 0) in weave([chosen(10, 1), chosen(20, 3)], [300, 1])[:2]


def test_tenants_take_turns_by_their_weights_from_the_beginning():
    order = weave([chosen(10, 1), chosen(20, 2)], [40, 160])
    for end in (25, 50, 100):
        assert abs(Counts(lane for lane, _ in order[:end])[20] - 0.8 * end) <= 2


def test_long_jobs_take_their_turn_less_often():
    order = weave([chosen(10, 1, seconds=4.0), chosen(20, 3)], [10, 40])
    assert abs(Counts(lane for lane, _ in order[:20])[20] - 16) <= 1


def test_short_jobs_take_their_turn_in_pieces():
    order = [lane for lane, _ in weave([chosen(10, 1, seconds=0.001), chosen(20, 3, seconds=0.001)], [20, 20])]
    turns = [len(list(jobs)) for _, jobs in groupby(order)]
    assert turns == [5] * 8


def test_jobs_too_short_to_tell_stay_together():
    order = [lane for lane, _ in weave([chosen(10, 1, seconds=0.0001), chosen(20, 3, seconds=0.0001)], [20, 20])]
    assert order == [10] * 20 + [20] * 20


def test_a_tenant_that_is_behind_catches_up_first():
    assert [lane for lane, _ in weave([chosen(10, 1), chosen(20, 3, start=4.0)], [5, 5])][:3] == [20] * 3


def test_emergencies_within_their_quota_go_before_all():
    assert [lane for lane, _ in weave([chosen(10, 1), chosen(20, 2, start=-math.inf)], [5, 3])][:3] == [20] * 3


@given(st.lists(st.tuples(st.sampled_from([1, 2, 3]), st.integers(0, 20), st.booleans()), max_size=8))
def test_nothing_is_lost_and_each_lane_keeps_its_order(given: list[tuple[int, int, bool]]):
    lanes = [
        chosen(number, tenant, start=-math.inf if first else 7.0) for number, (tenant, _, first) in enumerate(given)
    ]
    order = weave(lanes, [count for _, count, _ in given])
    for number, (_, count, _) in enumerate(given):
        assert [rank for lane, rank in order if lane == number] == list(range(count))
