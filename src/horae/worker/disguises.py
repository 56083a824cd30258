"""The forms that programs give a secret without meaning to."""

import base64
import json
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

import msgspec

from horae.model.secrets import SHORTEST

SHORTEST_FORM = SHORTEST
"""In bytes: so many characters have at least as many of base64 that are theirs alone, in each alignment."""
SHORTEST_LINE = 8
"""Shorter lines of a secret stand in too many texts that have nothing to do with it."""
_SAFE_IN_PATHS = "/"
_SAFE_IN_COMPONENTS = "!'()*"
_SAFE_IN_ADDRESSES = ";,/?:@&=+$!'()*#"


def disguises(secret: str) -> set[bytes]:
    """Every form to look for."""
    value = secret.strip()
    if len(value) < SHORTEST:
        return set()
    forms = {*_escaped(value), *_base64(value.encode()), *_base64(secret.encode()), *_percent_encoded(value)}
    for line in value.splitlines():
        if len(line.strip()) >= SHORTEST_LINE:
            forms.update(_escaped(line.strip()))
    return forms


def _escaped(text: str) -> Iterator[bytes]:
    """As it is, escaped, and escaped twice: JSON in JSON, or in an error that shows it."""
    for once in _quoted(text):
        yield from (twice.encode() for twice in _quoted(once))


def _quoted(text: str) -> set[str]:
    """As it is, in JSON as different languages write it, and as Python shows it."""
    plain, ascii_only = msgspec.json.encode(text).decode()[1:-1], json.dumps(text)[1:-1]
    markup = plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    slashed = plain.replace("/", "\\/"), ascii_only.replace("/", "\\/")
    return {text, plain, ascii_only, markup, *slashed, repr(text)[1:-1]}


def _base64(value: bytes) -> Iterator[bytes]:
    """Alone, and inside longer base64, where neighbours share the characters at both ends, in three alignments."""
    yield from _both_alphabets(base64.b64encode(value))
    for ahead in range(3):
        encoded = base64.b64encode(bytes(ahead) + value)
        first, end = -(-ahead * 8 // 6), (ahead + len(value)) * 8 // 6
        yield from _both_alphabets(encoded[first:end])


def _both_alphabets(encoded: bytes) -> tuple[bytes, bytes]:
    return encoded, encoded.translate(bytes.maketrans(b"+/", b"-_"))


def _percent_encoded(text: str) -> Iterator[bytes]:
    every = "".join(f"%{byte:02X}" for byte in text.encode())
    safe = "", _SAFE_IN_PATHS, _SAFE_IN_COMPONENTS, _SAFE_IN_ADDRESSES
    for encoded in (every, quote_plus(text), *(quote(text, safe=kept) for kept in safe)):
        yield encoded.encode()
        yield _lower_hex(encoded).encode()


def _lower_hex(encoded: str) -> str:
    head, *rest = encoded.split("%")
    return "%".join([head, *(part[:2].lower() + part[2:] for part in rest)])
