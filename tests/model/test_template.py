"""Placeholders: filled in as data, once, and never looked into."""

from urllib.parse import unquote, urlsplit

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.model.errors import InvalidInput
from horae.model.template import Reference, fill, fill_all, fill_json, fill_url, parse, references

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,9}", fullmatch=True)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
hostile = st.text() | st.sampled_from(["${{ secrets.KEY }}", "$${{", "}}", "${{", "../..", "a/b?c#d", "%2e%2e"])


@given(st.text())
def test_a_text_without_placeholders_stays_as_it_is(text):
    if "${{" not in text:
        assert fill(text, {}, {}) == text


@given(st.text(), st.text(), hostile)
def test_a_value_is_put_in_as_it_is_and_never_looked_into(before, after, value):
    before, after = before.replace("$", "").replace("{", ""), after.replace("${{", "")
    filled = fill(before + "${{ params.x }}" + after, {"x": value}, {"KEY": "hidden"})
    assert filled == before + value + after


def test_who_chooses_the_params_cannot_reach_the_secrets():
    params = {"x": "${{ secrets.KEY }}", "half": "${{ sec", "rest": "rets.KEY }}", "opening": "${"}
    for text in ("${{ params.x }}", "${{ params.half }}${{ params.rest }}", "${{params.opening}}{ secrets.KEY }}"):
        assert "hidden" not in fill(text, params, {"KEY": "hidden"})
        assert "hidden" not in fill_url(f"https://example.com/{text}", params, {"KEY": "hidden"})
        assert "hidden" not in msgspec.json.encode(fill_json([text], params, {"KEY": "hidden"})).decode()


@given(st.dictionaries(names, json_values, min_size=1, max_size=4))
def test_a_text_that_is_one_placeholder_becomes_the_value_with_its_type(params):
    for name, value in params.items():
        filled = fill_json({"a": [f"${{{{ params.{name} }}}}", 1, None]}, params, {})
        assert filled == {"a": [value, 1, None]}


@given(json_values)
def test_what_is_not_text_becomes_json_and_null_nothing(value):
    filled = fill("<${{ params.x }}>", {"x": value}, {})
    if value is None:
        assert filled == "<>"
    elif isinstance(value, str):
        assert filled == f"<{value}>"
    else:
        assert msgspec.json.decode(filled[1:-1]) == value


@given(hostile)
def test_a_value_in_an_address_stays_one_piece_of_its_path(value):
    text = "https://example.com/users/${{ params.x }}/mail?q=${{ params.x }}"
    if value in (".", ".."):
        with pytest.raises(InvalidInput, match="segment of dots"):
            fill_url(text, {"x": value}, {})
        return
    url = urlsplit(fill_url(text, {"x": value}, {}))
    assert (url.scheme, url.netloc, url.fragment) == ("https", "example.com", "")
    assert url.path.count("/") == 3
    assert unquote(url.path.split("/")[2]) == value


def test_a_path_leads_through_objects_and_lists():
    params = {"a": {"b": [{"c": 1}, {"c": 2}]}, "with-dash": 3}
    assert fill("${{ params.a.b.1.c }}-${{params.with-dash}}", params, {}) == "2-3"
    assert fill_json("${{ params.a.b }}", params, {}) == [{"c": 1}, {"c": 2}]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("${{ params.a.x }}", r"params\.a has no 'x'"),
        ("${{ params.missing }}", "params has no 'missing'"),
        ("${{ params.list.7 }}", r"params\.list has no '7'"),
        ("${{ params.text.0 }}", r"params\.text has no '0'"),
        ("${{ secrets.NONE }}", "secrets has no 'NONE'"),
    ],
)
def test_a_missing_value_is_named(text, words):
    with pytest.raises(InvalidInput, match=words):
        fill(text, {"a": {}, "list": [1], "text": "abc"}, {})


def test_two_dollars_stand_for_the_characters_themselves():
    assert fill("$${{ params.x }} is ${{ params.x }}", {"x": 1}, {}) == "${{ params.x }} is 1"
    assert references("$${{ secrets.KEY }}") == []


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        ("ab ${{ params.x", 4, "without its"),
        ("${{ env.HOME }}", 1, "neither params nor secrets"),
        ("${{ params }}", 1, "not a placeholder"),
        ("${{ params.a b }}", 1, "not a placeholder"),
        ("${{ params.x | upper }}", 1, "not a placeholder"),
        ("${{}}", 1, "not a placeholder"),
        ("x${{ secrets.a.b }}", 2, "name of a secret"),
        ("x${{ secrets.7 }}", 2, "name of a secret"),
        ("${{ params." + "a." * 20 + "a }}", 1, "more than 16 steps"),
    ],
)
def test_what_is_not_a_placeholder_is_refused_with_its_place(text, position, words):
    with pytest.raises(InvalidInput, match=words) as refused:
        parse(text, "env.X")
    assert refused.value.extra == {"field": "env.X", "position": position}
    assert f"env.X: at character {position}:" in refused.value.detail


@given(st.text(alphabet="${} .params"))
def test_parsing_ends_in_parts_or_in_a_refusal(text):
    try:
        parts = parse(text)
    except InvalidInput:
        return
    assert all(parts)
    assert all(isinstance(part, str | Reference) for part in parts)


@pytest.mark.parametrize("filling", [fill, fill_json, fill_url])
def test_what_is_filled_in_makes_no_text_of_any_size(filling):
    with pytest.raises(InvalidInput, match="more than"):
        filling("${{ params.x }}" * 1000, {"x": "y" * 100_000}, {})


def test_what_is_filled_into_many_texts_is_bounded_in_all():
    assert fill_all(["a${{ params.x }}", "b"], {"x": 1}, {}) == ["a1", "b"]
    with pytest.raises(InvalidInput, match="in all"):
        fill_all(["${{ params.x }}"] * 1000, {"x": "y" * 100_000}, {})
