"""Signatures of calls, as Standard Webhooks has them: HMAC-SHA256 over `id.timestamp.body`. Pure.

A secret is `whsec_` and base64. Several, with spaces between them, are a rotation: the sender signs with each, and the
receiver accepts a signature by any.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterator, Mapping
from typing import Final

from horae.model.errors import InvalidInput, InvalidSignature

ID: Final = "webhook-id"
TIMESTAMP: Final = "webhook-timestamp"
SIGNATURE: Final = "webhook-signature"
PREFIX: Final = "whsec_"
SHORTEST_KEY: Final = 16
TOLERANCE_SECONDS: Final = 300.0


def sign(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """The value of the header webhook-signature."""
    return " ".join(_signature(key, message_id, timestamp, body) for key in _keys(secret))


def check_signature(
    body: bytes, headers: Mapping[str, str], secret: str, now: float, tolerance: float = TOLERANCE_SECONDS
) -> str:
    """Returns the id of a message that is signed and fresh. Raises InvalidSignature of any other."""
    given = {name.lower(): value for name, value in headers.items()}
    missing = [name for name in (ID, TIMESTAMP, SIGNATURE) if not given.get(name)]
    if missing:
        raise InvalidSignature(f"the call has no header {', '.join(missing)}: it is not signed")
    message_id, sent = given[ID], given[TIMESTAMP]
    if not (sent.isascii() and sent.isdigit() and len(sent) <= 15):
        raise InvalidSignature(f"{TIMESTAMP}: {sent[:40]!r} is not a number of seconds")
    if abs(now - int(sent)) > tolerance:
        raise InvalidSignature(f"the call was signed {abs(now - int(sent)):.0f} s from now: is it replayed?")
    made = [_signature(key, message_id, int(sent), body).encode() for key in _keys(secret)]
    offered = [part.encode() for part in given[SIGNATURE].split() if part.startswith("v1,")]
    # All pairs are compared whatever they say, so that time tells nothing.
    if not sum(hmac.compare_digest(mine, theirs) for mine in made for theirs in offered):
        raise InvalidSignature("the signature does not fit the body: wrong secret, or the body was changed")
    return message_id


def _signature(key: bytes, message_id: str, timestamp: int, body: bytes) -> str:
    content = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()


def _keys(secret: str) -> Iterator[bytes]:
    parts = secret.split()
    if not parts:
        raise InvalidInput("the secret for signatures is empty; it is whsec_ and base64")
    for part in parts:
        try:
            key = base64.b64decode(part.removeprefix(PREFIX), validate=True) if part.startswith(PREFIX) else b""
        except (binascii.Error, ValueError):
            key = b""
        if len(key) < SHORTEST_KEY:
            raise InvalidInput(f"a secret for signatures is {PREFIX} and the base64 of {SHORTEST_KEY} bytes or more")
        yield key
