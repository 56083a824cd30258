"""How much work a JSON Schema can make, known before any of it is done.

A short schema can take for ever: thirty definitions that each refer twice to the one before are a billion checks. So a
schema is weighed first: its weight is the number of entries it would have with every reference written out. What a
check can cost is at most the weight times the size of what is checked. Some words of JSON Schema do not keep to that,
and references that lead back to where they are have no end; a schema with those has no weight.
"""

from typing import Any, Final
from urllib.parse import unquote

HEAVIEST: Final = 20_000
_PATTERN: Final = 1_000
"""A compiled expression takes as many steps for a character as it has states."""
_DEAR: Final = {"pattern": _PATTERN, "uniqueItems": 100, "format": 100, "contentMediaType": 100, "contentEncoding": 100}
_UNSURE: Final = frozenset(
    {"$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$anchor", "$vocabulary",
     "unevaluatedProperties", "unevaluatedItems"}
)  # fmt: skip
_BASES: Final = ("$id", "id")
"""With a text they change what references mean. As names of params they stand before a schema."""
_DEEPEST: Final = 100


class _Unweighable(Exception):
    """Deliberately without words: that it is so is all there is to know."""


def weigh(schema: dict[str, Any]) -> int | None:
    """None: it is too heavy, or nobody can say."""
    try:
        return _Scales(schema).weight(schema, 0)
    except _Unweighable:
        return None


class _Scales:
    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._known: dict[str, int] = {}
        self._open: set[str] = set()

    def weight(self, node: Any, depth: int) -> int:
        total = 1
        if depth > _DEEPEST:
            raise _Unweighable
        if isinstance(node, dict):
            for word, value in node.items():
                total += self._entry(word, value, depth)
        elif isinstance(node, list):
            for value in node:
                total += self.weight(value, depth + 1)
        if total > HEAVIEST:
            raise _Unweighable
        return total

    def _entry(self, word: str, value: Any, depth: int) -> int:
        text = isinstance(value, str)
        if word in _UNSURE or (text and word in _BASES) or (word == "format" and value == "regex"):
            raise _Unweighable
        if word == "$ref" and text:
            return 1 + self._referred(value, depth)
        if word == "patternProperties" and isinstance(value, dict):
            return _PATTERN * len(value) + self.weight(value, depth + 1)
        return (0 if isinstance(value, dict) else _DEAR.get(word, 0)) + self.weight(value, depth + 1)

    def _referred(self, reference: str, depth: int) -> int:
        if reference not in self._known:
            if reference in self._open:
                raise _Unweighable
            self._open.add(reference)
            self._known[reference] = self.weight(self._find(reference), depth + 1)
            self._open.discard(reference)
        return self._known[reference]

    def _find(self, reference: str) -> Any:
        node: Any = self._root
        if not reference.startswith("#/"):
            raise _Unweighable
        for step in unquote(reference[2:]).split("/"):
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(node, list) and name.isdecimal() and int(name) < len(node):
                node = node[int(name)]
            elif isinstance(node, dict) and name in node:
                node = node[name]
            else:
                raise _Unweighable
        return node
