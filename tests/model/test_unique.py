"""Uniqueness: the same job has the same hash however it is spelt, another one has another."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.model.errors import InvalidInput
from horae.model.unique import Unique, UniqueWhile, check_unique, debounced, unique_hash

NOW = datetime(2026, 11, 16, tzinfo=UTC)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**50), 2**50) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
PARAMS = st.dictionaries(st.text("abcd", min_size=1, max_size=2), VALUES, max_size=4)


def shuffled(value: object) -> object:
    """The same JSON, the other way round, whole numbers as floats."""
    if isinstance(value, dict):
        return {name: shuffled(value[name]) for name in reversed(value)}
    if isinstance(value, list):
        return [shuffled(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


@given(PARAMS)
def test_order_and_spelling_of_numbers_do_not_count(params: dict[str, object]):
    assert unique_hash("t", params, Unique()) == unique_hash("t", shuffled(params), Unique())  # type: ignore[arg-type]


@given(PARAMS, PARAMS)
def test_other_values_give_another_hash(one: dict[str, object], two: dict[str, object]):
    same = json.dumps(shuffled(one), sort_keys=True) == json.dumps(shuffled(two), sort_keys=True)
    # -0.0 and 0 are the same number, written differently.
    if not same and str(shuffled(one)).replace("-0.0", "0.0") != str(shuffled(two)).replace("-0.0", "0.0"):
        assert unique_hash("t", one, Unique()) != unique_hash("t", two, Unique())


@given(PARAMS, st.sets(st.sampled_from(["a", "b", "ab"])), VALUES)
def test_only_the_params_that_are_named_count(params: dict[str, object], by: set[str], other: object):
    terms = Unique(by=sorted(by))
    assert unique_hash("t", params, terms) == unique_hash("t", params | {"zz": other}, terms)


def test_task_names_and_absence_count():
    hashes = {
        unique_hash("t", {"a": 1}, Unique()),
        unique_hash("u", {"a": 1}, Unique()),
        unique_hash("t", {"a": 1}, Unique(by=["a"])),
        unique_hash("t", {"a": None}, Unique(by=["a"])),
        unique_hash("t", {}, Unique(by=["a"])),
        unique_hash("t", {"a": True}, Unique()),
        unique_hash("t", {"a": "1"}, Unique()),
    }
    assert len(hashes) == 7


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.none() | st.integers(0, 10_000))
def test_a_debounced_job_is_never_due_after_its_maximum(age: int, wait: int, most: int | None):
    made, wanted = NOW - timedelta(seconds=age), NOW + timedelta(seconds=wait)
    due = debounced(made, NOW, wanted, Unique(max_wait=most))
    assert due <= wanted
    assert due <= made + timedelta(seconds=10 * wait if most is None else most)


@pytest.mark.parametrize(
    "wrong",
    [
        Unique(by=["a", "a"]),
        Unique(by=[""]),
        Unique(by=[str(n) for n in range(33)]),
        Unique(period=0),
        Unique(period="soon"),
        Unique(period="1h", during=UniqueWhile.WAITING),
        Unique(max_wait="1h"),
    ],
)
def test_terms_that_make_no_sense_are_refused(wrong: Unique):
    with pytest.raises(InvalidInput):
        check_unique(wrong)
