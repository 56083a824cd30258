"""Reading JSON from strangers: bounded depth, no duplicate keys, errors that name the place."""

import json
import re
from typing import Any, Final, TypeVar

import msgspec

from horae.model.errors import InvalidInput, MalformedBody
from horae.model.job import MAX_DEPTH, PlainRequest

T = TypeVar("T")

_KEY: Final = re.compile(rb'"((?:[^"\\]|\\.)*)"\s*:')
_NOT_BRACKET: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[^\[\]{}]')
_plain = msgspec.json.Decoder(PlainRequest)
_encoder = msgspec.json.Encoder()


def decode(body: bytes, decoder: "msgspec.json.Decoder[T]") -> T:
    """The record in a body, or an error that says what is wrong and where."""
    try:
        value = decoder.decode(body)
    except msgspec.ValidationError as error:
        raise InvalidInput(_explain(str(error)), field=_path(str(error))) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise MalformedBody(f"the body is not valid JSON: {str(error)[:200]}") from error
    # Only what is known to be JSON is scanned further: the patterns below cost too much on strings that never end.
    check_depth(body)
    check_duplicates(body)
    return value


def decode_plain(body: bytes) -> list[PlainRequest] | None:
    """Lines of JSON as plain requests, if that is what all of them are, written as we would write them.

    What is read and written again as the same bytes names no key twice, and a line too short for it is not deep: so
    most bulks are checked as a whole. Of all others each line must be read for itself.
    """
    try:
        requests = _plain.decode_lines(body)
        for line in body.splitlines():
            if len(line) > 2 * MAX_DEPTH:
                check_depth(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError, MalformedBody):
        return None
    written = _encoder.encode_lines(requests)
    return requests if body in (written, written[:-1]) else None


def check_depth(body: bytes) -> None:
    """Refuses nesting beyond the limit. Few brackets cannot be deep, so most bodies cost two counts."""
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return
    depth = 0
    for bracket in _NOT_BRACKET.sub(b"", body):
        depth += 1 if bracket in b"[{" else -1
        if depth > MAX_DEPTH:
            raise MalformedBody(f"the body is nested more than {MAX_DEPTH} levels deep")


def check_duplicates(body: bytes) -> None:
    """Refuses an object that names a key twice: which of the two was meant, nobody can know."""
    if b"\\" not in body:
        # Without escapes every second piece between quotes is a string; all different means no key twice.
        strings = body.split(b'"')[1::2]
        if len(strings) == len(set(strings)):
            return
    keys = _KEY.findall(body)
    if len(keys) == len(set(keys)) and not any(b"\\" in key for key in keys):
        return
    json.loads(body, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise InvalidInput(f"the key {name[:80]!r} stands twice in one object", field=name[:80])
        seen.add(name)


def _explain(message: str) -> str:
    return message.replace("Object", "The body", 1) if message.startswith("Object") else message


def _path(message: str) -> str:
    """msgspec ends its messages with the place: ... - at `$.params`."""
    _, _, place = message.rpartition(" - at `")
    return place.rstrip("`").removeprefix("$").lstrip(".") if place else ""
