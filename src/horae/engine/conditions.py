"""Conditions: expressions in CEL on a job's params and labels, such as `params.customer == "acme"`.

Whoever may write one must not be able to stop the server with it. An expression is short; it holds at most one of the
macros that loop, because nested loops are what makes the time grow without end; and it sees of large params only as
much as it can look at in some hundredths of a second: the smallest fields, up to a bound. What it does not see is
missing to it. A regular expression takes time in proportion to its own size, which counted repetition (`{90}`) can
make enormous: patterns are written out in the condition, without repetition of that kind, and not used in loops.
"""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from horae.model.errors import InvalidInput

if TYPE_CHECKING:
    import cel

MAX_LENGTH: Final = 500
MAX_SEEN: Final = 64 * 1024
"""Bytes of params that a condition sees."""
MAX_SEEN_COSTLY: Final = 4 * 1024
"""The same for one with a loop, which may look at everything once for each element, or a pattern."""
MAX_PATTERNS: Final = 3
VARIABLES: Final = frozenset({"params", "labels"})
OF_A_VALUE: Final = frozenset({"contains", "startsWith", "endsWith", "matches"})
"""Written `value.contains(…)`."""
CONVERSIONS: Final = frozenset({"int", "uint", "double", "string", "timestamp", "duration"})
"""Written `int(value)`."""
FUNCTIONS: Final = OF_A_VALUE | CONVERSIONS | {"size"}
_STRING: Final = re.compile(
    r"""[rR]("{3}.*?"{3}|'{3}.*?'{3}|"[^"]*"|'[^']*')|"{3}.*?"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""",
    re.DOTALL,
)
_LOOP: Final = re.compile(r"\.\s*(?:all|exists|exists_one|map|filter)\s*\(\s*(\w*)")
_PATTERN: Final = re.compile(r"\.\s*matches\s*\(\s*'(\d+)'\s*\)")
_MATCHES: Final = re.compile(r"\bmatches\b")
_CALL: Final = re.compile(r"(\.\s*)?\b(\w+)\s*\(\s*(\))?")
_UNSAFE: Final = re.compile(r"\{|\\[xXuU0-7]")
"""Counted repetition, and escapes that could spell it."""
_PLACE: Final = re.compile(r"<input>:(\d+):(\d+): (.*)")
_fields: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Answer(NamedTuple):
    matched: bool
    fault: str | None = None
    """Why the condition could not be applied: it then counts as not matching."""


class Condition:
    def __init__(self, text: str) -> None:
        self.text = text
        self._program = _compile(text)
        loops, costly = _check_cost(text)
        _check_names(self._program, VARIABLES.union(loops))
        self.most = MAX_SEEN_COSTLY if costly else MAX_SEEN

    def answer(self, params: dict[str, Any], labels: dict[str, str] | None) -> Answer:
        """Whether it holds. `params` are those it may see; see `visible`."""
        try:
            result = self._program.execute({"params": params, "labels": labels or {}})
        except Exception as error:  # noqa: BLE001 - the library raises many kinds for a field that is not there
            return Answer(matched=False, fault=_fault(error))
        if not isinstance(result, bool):
            return Answer(matched=False, fault=f"it gives {type(result).__name__}, not true or false")
        return Answer(result)

    def visible(self, params: str) -> dict[str, Any]:
        """What it sees of stored params."""
        if len(params) <= self.most:
            found = msgspec.json.decode(params)
            return found if isinstance(found, dict) else {}
        seen: dict[str, Any] = {}
        room = self.most
        for name, value in sorted(_fields.decode(params).items(), key=lambda field: len(bytes(field[1]))):
            room -= len(name) + len(bytes(value))
            if room < 0:
                break
            seen[name] = msgspec.json.decode(value)
        return seen


@lru_cache(maxsize=1000)
def condition(text: str) -> Condition:
    """The compiled condition; raises InvalidInput with the place of a mistake."""
    if not 1 <= len(text) <= MAX_LENGTH:
        raise _refused(f"{len(text)} characters are not 1…{MAX_LENGTH}")
    # A comment ends with its line, and a quote in it would hide from the checks what comes after.
    if not text.isprintable():
        raise _refused("one line, without control characters")
    return Condition(text)


def _check_cost(text: str) -> tuple[list[str], bool]:
    """Refuses what could take long. Returns the variables of loops, and whether there is a loop or a pattern."""
    strings: list[str] = []

    def number(found: "re.Match[str]") -> str:
        strings.append(found[0])
        return f"'{len(strings) - 1}'"

    bare = _STRING.sub(number, text)
    _check_forms(bare)
    loops: list[str] = _LOOP.findall(bare)
    patterns = [strings[int(place)] for place in _PATTERN.findall(bare)]
    if len(loops) > 1:
        raise _refused("at most one of all, exists, exists_one, map and filter")
    if len(patterns) != len(_MATCHES.findall(bare)):
        raise _refused("the pattern of matches must be a string, written out: value.matches('^a+$')")
    if any(map(_UNSAFE.search, patterns)):
        raise _refused("a pattern of matches cannot have {…}, nor escapes by number")
    if len(patterns) > MAX_PATTERNS or (patterns and loops):
        raise _refused(f"at most {MAX_PATTERNS} times matches, and none beside all, exists, map or filter")
    return loops, bool(loops or patterns)


def _check_forms(bare: str) -> None:
    """A function in a form it does not have would compile, and then apply to no job."""
    for dot, name, empty in _CALL.findall(bare):
        if name in OF_A_VALUE and (not dot or empty):
            raise _refused(f"{name} is written value.{name}('…')")
        if name in CONVERSIONS and (dot or empty):
            raise _refused(f"{name} is written {name}(value)")
        if name == "size" and bool(dot) != bool(empty):
            raise _refused("size is written size(value) or value.size()")


def _compile(text: str) -> "cel.Program":
    # It brings a command line of its own along: a quarter of the time in which a server starts, and ten megabytes.
    import cel

    try:
        return cel.compile(text)
    except ValueError as error:
        raise _refused(_mistake(str(error))) from error


def _check_names(program: "cel.Program", variables: frozenset[str]) -> None:
    unknown = set(program.variables()) - variables
    if unknown:
        raise _refused(f"{min(unknown)!r} is unknown: there are params and labels")
    # Operators are called _+_ and the like: no names that anybody could write.
    unknown = set(filter(str.isidentifier, program.functions())) - FUNCTIONS
    if unknown:
        raise _refused(f"there is no function {min(unknown)!r}; there are {', '.join(sorted(FUNCTIONS))}")


def _refused(detail: str) -> InvalidInput:
    return InvalidInput(f"condition: {detail}", field="condition")


def _mistake(message: str) -> str:
    """The first complaint of the parser, with its place."""
    found = _PLACE.search(message)
    if found is None:
        return message.splitlines()[0][:200]
    line, column, complaint = found.groups()
    return f"line {line}, column {column}: {complaint[:200]}"


def _fault(error: Exception) -> str:
    text = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    return f"there is no field {text}" if isinstance(error, KeyError) else text
