"""Problem details (RFC 9457): how every error looks on the wire, and back again."""

from typing import Any

import msgspec

from horae.model.errors import HoraeError, by_code

CONTENT_TYPE = "application/problem+json"


def encode_problem(error: HoraeError, instance: str | None = None) -> bytes:
    document: dict[str, Any] = {
        "type": f"urn:horae:problem:{error.code}",
        "title": error.title,
        "status": error.status,
        "code": error.code,
        "detail": error.detail,
    }
    if instance is not None:
        document["instance"] = instance
    return msgspec.json.encode(document | error.extra)


def decode_problem(body: bytes, status: int) -> HoraeError:
    """The error the server meant; an answer that is no problem document becomes a plain `HoraeError`."""
    try:
        document = msgspec.json.decode(body, type=dict[str, Any])
        kind = by_code().get(document["code"], HoraeError)
        known = {"type", "title", "status", "code", "detail", "instance"}
        return kind(str(document["detail"]), **{k: v for k, v in document.items() if k not in known})
    except (msgspec.MsgspecError, KeyError, TypeError):
        return HoraeError(f"the server answered {status}: {body[:200].decode(errors='replace')}")
