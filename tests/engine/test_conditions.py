"""Conditions: what they see, what they refuse, and that none of them takes long."""

import time
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.engine.conditions import MAX_LENGTH, MAX_SEEN, MAX_SEEN_COSTLY, condition
from horae.model.errors import InvalidInput


def ask(text: str, params: Any, labels: dict[str, str] | None = None) -> Any:
    compiled = condition(text)
    return compiled.answer(compiled.visible(msgspec.json.encode(params).decode()), labels)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("params.n > 3", True), ("params.n > 7", False), ("params.n % 2 == 1 && params.tags.size() == 2", True),
        ("'b' in params.tags", True), ("has(params.missing)", False), ("labels.team == 'red'", True),
        ("labels['team'].startsWith('r')", True), ("params.name.matches('^a.*e$')", True),
        ("params.tags.exists(tag, tag == 'b')", True), ("params.nested.deep == null", True),
        ("params.name == 'params.tags.all(x, x.all(y, true))'", False),
    ],
)  # fmt: skip
def test_a_condition_is_asked_of_params_and_labels(text: str, holds: bool) -> None:
    params = {"n": 5, "tags": ["a", "b"], "name": "acme", "nested": {"deep": None}}
    assert ask(text, params, {"team": "red"}) == (holds, None)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("params.missing == 1", "no field 'missing'"), ("params.n > 'a'", "overload"),
        ("params.n", "not true or false"), ("1 / params.zero > 0", "division by zero"),
        ("params.tags[7] == 'x'", "out of bounds"),
    ],
)  # fmt: skip
def test_a_condition_that_cannot_be_applied_is_no_match_and_says_why(text: str, fault: str) -> None:
    answer = ask(text, {"n": 5, "zero": 0, "tags": []})
    assert not answer.matched
    assert fault in answer.fault


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("", "characters"), ("true || " * 70 + "true", "characters"), ("params.n >= (3", "column"),
        ("job.n == 1", "'job' is unknown"), ("params.name.startswith('a')", "no function 'startswith'"),
        ("params.a.all(x, params.b.all(y, x == y))", "at most one of"),
        ("params.a.exists(x, x.matches('a'))", "none beside"), ("params.a.matches(params.b)", "written out"),
        ("_private(params.n)", "no function '_private'"), ("contains(params.a, 'b')", "value.contains('…')"),
        ("params.n.int() == 1", "int(value)"), ("size() > 1", "value.size()"), ("params.a.size(1) > 1", "value.size()"),
        ("matches(params.a, 'b')", "value.matches('…')"), ("params.a.matches('(a{99}){99}')", "cannot have"),
        ("params.a.matches('a\\x7b99}')", "cannot have"), ("params.a.matches('a' + '{99}')", "written out"),
        ("\"y.matches('a')\" == '' || params.s.matches(params.p)", "written out"),
        ("params.a.all(x, true) // '\n && params.b.all(y, params.c.all(z, true)) // '", "one line"),
    ],
)  # fmt: skip
def test_what_cannot_be_or_could_take_long_is_refused(text: str, detail: str) -> None:
    with pytest.raises(InvalidInput, match="condition: ") as refused:
        condition(text)
    assert detail in refused.value.detail


@given(st.text(max_size=MAX_LENGTH + 10))
def test_any_text_is_a_condition_or_refused(text: str) -> None:
    with suppress(InvalidInput):
        assert ask(text, {"n": 1}).matched in {True, False}


def test_of_large_params_the_smallest_fields_are_seen() -> None:
    params = {"blob": "x" * MAX_SEEN, "customer": "acme"}
    assert ask("params.customer == 'acme'", params).matched
    assert "no field 'blob'" in ask("params.blob == ''", params).fault


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=3000), max_size=40))
def test_what_is_seen_is_bounded_and_true(params: dict[str, str]) -> None:
    text = msgspec.json.encode(params).decode()
    for compiled, most in (
        (condition("params == params"), MAX_SEEN), (condition("params.all(x, true)"), MAX_SEEN_COSTLY),
    ):  # fmt: skip
        seen = compiled.visible(text)
        assert seen.items() <= params.items()
        assert sum(len(name) + len(value) for name, value in seen.items()) <= most
        assert len(text) > most or seen == params


@pytest.mark.parametrize(
    ("text", "params"),
    [
        ("||".join(["5 in params.x"] * 33), {"x": [1] * 32_000}),
        ("(" + "+".join(["params.s"] * 45) + ").size()>0", {"s": "a" * 65_000}),
        ("params.x.all(a,(" + "+".join(["params.s"] * 45) + ").size()>0)", {"x": [1] * 1000, "s": "a" * 1900}),
        ("params.x.all(a," + "&&".join(["!params.s.contains('b')"] * 19) + ")", {"x": [1] * 1000, "s": "a" * 1900}),
        ("params.s.matches('" + "(\\\\pL?\\\\w?)*" * 30 + "!')", {"s": "aä" * 1200}),
        ("params.s.matches('" + "(.*a)(.*b)" * 40 + "')", {"s": "ab" * 1900}),
    ],
)  # fmt: skip
def test_the_worst_conditions_are_over_in_a_moment(text: str, params: Any) -> None:
    # The worst that the bounds leave: less than a tenth of a second each, on a machine that has nothing else to do.
    started = time.process_time()
    ask(text, params)
    assert time.process_time() - started < 1
