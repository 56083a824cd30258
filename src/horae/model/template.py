"""Placeholders in the text of a task that is data: `${{ params.x }}` and `${{ secrets.Y }}`.

What is filled in is data and stays data: a text is taken apart once, and a value is never looked into for
placeholders, so whoever chooses the params of a job cannot reach its secrets. `$${{` stands for `${{` itself.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import msgspec

from horae.model.errors import InvalidInput

MAX_STEPS: Final = 16
MAX_FILLED: Final = 16 * 1024 * 1024
"""Characters of one text: a long value that is filled in again and again would fill the memory."""
PARAMS: Final = "params"
SECRETS: Final = "secrets"
_OPENING: Final = re.compile(r"\$?\$\{\{")
_REFERENCE: Final = re.compile(r"([A-Za-z_]\w*)((?:\.[\w-]+)+)", re.ASCII)
_SECRET: Final = re.compile(r"[A-Za-z_]\w{0,127}", re.ASCII)
_DOTS: Final = frozenset({".", ".."})
_AFTER_PATH: Final = re.compile(r"[?#]")


class Reference(NamedTuple):
    root: str
    steps: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join((self.root, *self.steps))


Part = str | Reference


def is_secret_name(name: str) -> bool:
    return _SECRET.fullmatch(name) is not None


def parse(text: str, field: str = "text") -> list[Part]:
    """The pieces of a text: what stands for itself, and what is to be filled in. Refuses what is not well-formed."""
    parts: list[Part] = []
    done = 0
    while (opening := _OPENING.search(text, done)) is not None:
        parts.append(text[done : opening.start()])
        if opening[0].startswith("$$"):
            parts.append("${{")
            done = opening.end()
            continue
        end = text.find("}}", opening.end())
        if end < 0:
            raise _wrong(field, opening.start(), "${{ without its }}; write $${{ for the characters themselves")
        parts.append(_reference(text[opening.end() : end].strip(), field, opening.start()))
        done = end + 2
    parts.append(text[done:])
    return [part for part in parts if part]


def references(text: str, field: str = "text") -> list[Reference]:
    return [part for part in parse(text, field) if isinstance(part, Reference)]


def fill(text: str, params: Mapping[str, Any], secrets: Mapping[str, str]) -> str:
    """The text with its placeholders filled in. What is not text becomes JSON; null becomes nothing."""
    return _joined(parse(text), params, secrets, _plain)


def fill_all(texts: Iterable[str], params: Mapping[str, Any], secrets: Mapping[str, str]) -> list[str]:
    """The same for texts that are used together: arguments, or the variables of an environment."""
    filled, size = [], 0
    for text in texts:
        filled.append(fill(text, params, secrets))
        size += len(filled[-1])
        if size > MAX_FILLED:
            raise InvalidInput(f"what is filled in makes more than {MAX_FILLED} characters in all")
    return filled


def fill_json(value: Any, params: Mapping[str, Any], secrets: Mapping[str, str]) -> Any:
    """The same for every text in a JSON value. A text that is one placeholder and nothing else becomes the value."""
    if isinstance(value, str):
        parts = parse(value)
        if len(parts) == 1 and isinstance(parts[0], Reference):
            return look_up(parts[0], params, secrets)
        return _joined(parts, params, secrets, _plain)
    if isinstance(value, dict):
        return {name: fill_json(inner, params, secrets) for name, inner in value.items()}
    if isinstance(value, list):
        return [fill_json(inner, params, secrets) for inner in value]
    return value


def fill_url(text: str, params: Mapping[str, Any], secrets: Mapping[str, str]) -> str:
    """The same for an address. A value is one piece of it, percent-encoded: it cannot lead anywhere else."""
    url = _joined(parse(text), params, secrets, lambda value: quote(_plain(value), safe="", errors="replace"))
    check_no_dots(url)
    return url


def check_no_dots(url: str, field: str = "url") -> None:
    """A segment `..` climbs up the path, and percent-encoding does not change that."""
    if _DOTS.intersection(_AFTER_PATH.split(url, maxsplit=1)[0].split("/")):
        raise InvalidInput(f"{field}: its path has a segment of dots, which would lead to another address", field=field)


def _joined(
    parts: Sequence[Part], params: Mapping[str, Any], secrets: Mapping[str, str], written: Callable[[Any], str]
) -> str:
    pieces, size = [], 0
    for part in parts:
        pieces.append(part if isinstance(part, str) else written(look_up(part, params, secrets)))
        size += len(pieces[-1])
        if size > MAX_FILLED:
            raise InvalidInput(f"what is filled in makes a text of more than {MAX_FILLED} characters")
    return "".join(pieces)


def _plain(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def look_up(reference: Reference, params: Mapping[str, Any], secrets: Mapping[str, str]) -> Any:
    """What a placeholder stands for."""
    value: Any = secrets if reference.root == SECRETS else params
    for number, step in enumerate(reference.steps):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            within = ".".join((reference.root, *reference.steps[:number]))
            raise InvalidInput(f"${{{{ {reference} }}}} cannot be filled in: {within} has no {step!r}")
    return value


def _reference(text: str, field: str, at: int) -> Reference:
    found = _REFERENCE.fullmatch(text)
    if found is None:
        raise _wrong(field, at, f"{text[:80]!r} is not a placeholder such as params.name or secrets.NAME")
    root, steps = found[1], tuple(found[2][1:].split("."))
    if root not in (PARAMS, SECRETS):
        raise _wrong(field, at, f"{root[:80]!r} is neither params nor secrets")
    if root == SECRETS and (len(steps) > 1 or not is_secret_name(steps[0])):
        raise _wrong(field, at, f"{'.'.join(steps)[:80]!r} is not the name of a secret: letters, digits and _")
    if len(steps) > MAX_STEPS:
        raise _wrong(field, at, f"more than {MAX_STEPS} steps")
    return Reference(root, steps)


def _wrong(field: str, at: int, what: str) -> InvalidInput:
    return InvalidInput(f"{field}: at character {at + 1}: {what}", field=field, position=at + 1)
