"""The weight of a schema is what it would be with every reference written out, or there is none."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.model.schemas import HEAVIEST, weigh


def chain(length: int, times: int = 2) -> dict[str, Any]:
    """Each definition refers to the one before, so many times."""
    definitions: dict[str, Any] = {"d0": {"type": "object"}}
    for number in range(1, length):
        definitions[f"d{number}"] = {"allOf": [{"$ref": f"#/$defs/d{number - 1}"}] * times}
    return {"$ref": f"#/$defs/d{length - 1}", "$defs": definitions}


def test_a_usual_schema_has_a_small_weight():
    schema = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "pattern": {"type": "string"}, "to": {"$ref": "#/$defs/place"}},
        "required": ["id"],
        "$defs": {"place": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
    }
    assert (weigh(schema) or 0) < 50
    assert weigh({}) == 1


def test_every_reference_weighs_what_it_refers_to():
    light, heavy = weigh(chain(5)), weigh(chain(8))
    assert light is not None
    assert heavy is not None
    assert heavy > 6 * light


@pytest.mark.parametrize(
    "schema",
    [
        chain(30),
        {"$ref": "#"},
        {"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"},
        {"properties": {"next": {"$ref": "#/properties/next"}}},
        {"$ref": "#/$defs/none"},
        {"$ref": "other.json"},
        {"$id": "http://example.com/x", "$ref": "x#/$defs/a"},
        {"unevaluatedProperties": False},
        {"$dynamicRef": "#a"},
        {"format": "regex"},
        {"patternProperties": {"x" * number: {} for number in range(30)}},
        {"enum": list(range(HEAVIEST + 1))},
    ],
)
def test_what_has_no_end_or_no_bound_has_no_weight(schema):
    assert weigh(schema) is None


def test_a_schema_nested_without_end_has_no_weight():
    schema: dict[str, Any] = {}
    for _ in range(500):
        schema = {"not": schema}
    assert weigh(schema) is None


def test_steps_of_a_reference_are_unescaped():
    assert weigh({"$ref": "#/$defs/a~1b%25", "$defs": {"a/b%": {"type": "string"}}}) is not None


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


def _count(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(_count(one) for one in value.values())
    return 1 + sum(_count(one) for one in value) if isinstance(value, list) else 1


@given(st.dictionaries(st.text(max_size=5), values, max_size=5))
def test_without_references_it_is_the_number_of_values(schema):
    assert weigh(schema) == _count(schema)
