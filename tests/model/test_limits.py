"""Limits as predicates: which lanes a rule concerns, which of them share it, and rates in words."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.model.errors import InvalidInput
from horae.model.limits import (
    MAX_RATE,
    Field,
    LimitRule,
    check_rule,
    concerns,
    default_burst,
    distinct,
    groups_of,
    read_rate,
    spread_group,
)
from horae.store.control import LaneKey

words = st.sampled_from(["a", "b", "ab"])
lanes = st.builds(LaneKey, st.integers(1, 3), words, words, st.sampled_from(["", "a", "ab", "b"]))
rules = st.builds(
    LimitRule, id=st.integers(1, 5), name=st.just("r"), tenant_id=st.none() | st.integers(1, 3),
    queue=st.none() | words, task=st.none() | words, key=st.none() | st.sampled_from(["a", "a*", "b", "*"]),
    each=st.lists(st.sampled_from(list(Field)), unique=True).map(tuple), max_running=st.integers(0, 5),
)  # fmt: skip


@given(rules, lanes)
def test_a_rule_that_names_less_concerns_no_fewer_lanes(rule: LimitRule, lane: LaneKey):
    if concerns(rule, lane):
        wider = LimitRule(id=rule.id, name=rule.name, key=rule.key, each=rule.each, max_running=1)
        assert concerns(wider, lane)
        assert rule.tenant_id in (None, lane.tenant_id)
        assert rule.queue in (None, lane.queue)
        assert rule.task in (None, lane.task)


@given(rules, lanes)
def test_a_rule_about_keys_concerns_only_lanes_that_have_one(rule: LimitRule, lane: LaneKey):
    if rule.about_keys and not lane.concurrency_key:
        assert not concerns(rule, lane)


@given(rules, lanes, lanes)
def test_lanes_share_a_group_exactly_when_they_agree_on_the_fields_of_each(
    rule: LimitRule, one: LaneKey, other: LaneKey
):
    if not (concerns(rule, one) and concerns(rule, other)):
        return
    (first, *_), (second, *_) = groups_of([rule], one), groups_of([rule], other)
    field = {Field.TENANT: "tenant_id", Field.QUEUE: "queue", Field.TASK: "task", Field.KEY: "concurrency_key"}
    agree = all(getattr(one, field[name]) == getattr(other, field[name]) for name in rule.each)
    assert (first.id == second.id) is agree


@given(st.lists(rules, max_size=4), lanes)
def test_a_key_is_a_mutex_exactly_when_no_rule_speaks_of_it(some: list[LimitRule], lane: LaneKey):
    groups = groups_of(some, lane)
    mutexes = [group for group in groups if group.rule is None]
    spoken_of = any(rule.about_keys and concerns(rule, lane) for rule in some)
    assert len(mutexes) == (1 if lane.concurrency_key and not spoken_of else 0)
    assert all(group.max_running == 1 for group in mutexes)
    assert len(groups) - len(mutexes) == sum(concerns(rule, lane) for rule in some)


@given(lanes, lanes)
def test_the_mutex_of_a_key_is_that_of_its_tenant_whatever_the_task(one: LaneKey, other: LaneKey):
    if one.concurrency_key and other.concurrency_key:
        same = (one.tenant_id, one.concurrency_key) == (other.tenant_id, other.concurrency_key)
        assert (groups_of([], one)[0].id == groups_of([], other)[0].id) is same


@given(st.lists(st.lists(rules, max_size=3), max_size=4), lanes)
def test_distinct_groups_are_in_one_order_for_all(some: list[list[LimitRule]], lane: LaneKey):
    """Claims lock them in this order, so no two wait for each other."""
    ids = [group.id for group in distinct([groups_of(few, lane) for few in some])]
    assert ids == sorted(set(ids))


@given(st.integers(1, 9), st.integers(1, 9))
def test_a_spread_is_counted_for_each_lane_on_each_worker(lane_id: int, worker_id: int):
    group = spread_group(lane_id, worker_id, 2)
    assert group.max_running == 2
    assert group.id != spread_group(lane_id + 1, worker_id, 2).id
    assert group.id != spread_group(lane_id, worker_id + 1, 2).id


@given(st.integers(1, 1_000_000), st.sampled_from([("s", 1), ("min", 60), ("hour", 3600), ("d", 86400)]))
def test_a_rate_is_read_in_its_unit(count: int, unit: tuple[str, int]):
    assert math.isclose(read_rate(f" {count} / {unit[0]} "), count / unit[1])


@given(st.text(max_size=12) | st.floats())
def test_whatever_is_given_as_a_rate_is_a_rate_or_refused(given_rate: str | float):
    try:
        rate = read_rate(given_rate)
    except InvalidInput:
        return
    assert 0 < rate <= MAX_RATE
    assert default_burst(rate, None) >= 1


@pytest.mark.parametrize("text", ["", "10", "10/", "/s", "-1/s", "1e3/s", "10/fortnight", "0/s", "9" * 400 + "/s"])
def test_what_is_no_rate_is_refused(text: str):
    with pytest.raises(InvalidInput):
        read_rate(text)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"max_running": -1},
        {"max_running": 1, "burst": 5.0},
        {"rate": 1.0, "burst": 0.5},
        {"max_running": 1, "key": ""},
        {"max_running": 1, "each": (Field.KEY, Field.KEY)},
        {"max_running": 1, "queue": "no such\nname"},
    ],
)
def test_a_rule_that_cannot_be_is_refused(wrong: dict[str, object]):
    with pytest.raises(InvalidInput):
        check_rule(LimitRule(id=0, name="r", **wrong))  # type: ignore[arg-type]
