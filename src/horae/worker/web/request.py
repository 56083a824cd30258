"""The request that a job stands for: its task's definition with the job's values filled in."""

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from yarl import URL

import horae
from horae.model.addresses import Network
from horae.model.errors import InvalidInput
from horae.model.kinds import HttpCall
from horae.model.template import SECRETS, fill, fill_json, fill_url, references
from horae.model.webhooks import ID, SIGNATURE, TIMESTAMP, sign
from horae.model.work import Grant
from horae.wire.briefs import Brief
from horae.worker.web.guard import check_url

WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})
CALLBACK: Final = "Horae-Callback"
CONFIDENTIAL: Final = frozenset({"authorization", "proxy-authorization", "cookie", ID, TIMESTAMP, SIGNATURE})
MAX_FILLED_BYTES: Final = 64 * 1024 * 1024
MASK: Final = "***"
_MASKED: Final = fill_url("${{ params.mask }}", {"mask": MASK}, {})
_UNSENDABLE: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class Request(msgspec.Struct, kw_only=True, frozen=True):
    method: str
    url: URL
    shown: str
    """The address as it may be told: without secrets."""
    headers: dict[str, str]
    body: bytes | None
    confidential: frozenset[str]
    """Names of headers, in small letters, that go to nobody but the host they are meant for."""
    secret_body: bool = False


def make_request(call: HttpCall, grant: Grant, brief: Brief, server_url: str, allowed: Sequence[Network]) -> Request:
    _check_size(call, grant, brief)
    params = msgspec.json.decode(grant.params)
    url = check_url(fill_url(call.url, params, brief.secrets), allowed)
    body, kind = _body(call, params, brief.secrets)
    said = {name.title(): _line(name, fill(text, params, brief.secrets)) for name, text in call.headers.items()}
    headers = _usual(grant, kind) | said | {"Horae-Job": grant.id, "Horae-Attempt": str(grant.attempt)}
    if call.sign_with is not None:
        headers |= _signature(brief.secrets.get(call.sign_with, ""), grant.id, body or b"")
    if brief.callback is not None:
        path = brief.callback.url.startswith("/")
        headers[CALLBACK] = server_url.rstrip("/") + brief.callback.url if path else brief.callback.url
    return Request(
        method=call.method, url=url, shown=_shown(call.url, params, brief.secrets), headers=headers, body=body,
        confidential=CONFIDENTIAL | {name.lower() for name, text in call.headers.items() if _tells_a_secret(text)},
        secret_body=_tells_a_secret(call.body),
    )  # fmt: skip


def _check_size(call: HttpCall, grant: Grant, brief: Brief) -> None:
    """A large value that is filled in again and again would fill the worker's memory."""
    places = msgspec.json.encode(call).count(b"${{")
    value = max(len(bytes(grant.params)), *(len(secret) for secret in brief.secrets.values()), 0)
    if places * value > MAX_FILLED_BYTES:
        raise InvalidInput(
            f"{places} placeholders and values of up to {value} bytes could make a call of more than "
            f"{MAX_FILLED_BYTES // 1024 // 1024} MiB"
        )


def _usual(grant: Grant, content_type: str | None) -> dict[str, str]:
    """What goes along unless the task says otherwise."""
    return {
        "User-Agent": f"horae/{horae.__version__}",
        "Accept": "*/*",
        "Accept-Encoding": "gzip",
        "Idempotency-Key": grant.id,
    } | ({"Content-Type": content_type} if content_type else {})


def _body(call: HttpCall, params: Any, secrets: Mapping[str, str]) -> tuple[bytes | None, str | None]:
    """The bytes and what they are."""
    if call.body is msgspec.UNSET:
        return (msgspec.json.encode(params), "application/json") if call.method in WITH_BODY else (None, None)
    if isinstance(call.body, str):
        return fill(call.body, params, secrets).encode(), "text/plain; charset=utf-8"
    return msgspec.json.encode(fill_json(call.body, params, secrets)), "application/json"


def _line(name: str, value: str) -> str:
    if _UNSENDABLE.search(value) is not None:
        raise InvalidInput(f"the header {name} would have a line break or control character in it")
    return value


def _signature(secret: str, job_id: str, body: bytes) -> dict[str, str]:
    """By the host's clock: it is the receiver's as well, or no signature would hold."""
    now = int(time.time())
    return {ID.title(): job_id, TIMESTAMP.title(): str(now), SIGNATURE.title(): sign(secret, job_id, now, body)}


def _shown(url: str, params: Any, secrets: Mapping[str, str]) -> str:
    return fill_url(url, params, dict.fromkeys(secrets, MASK)).replace(_MASKED, MASK)


def _tells_a_secret(value: Any) -> bool:
    if isinstance(value, str):
        return any(reference.root == SECRETS for reference in references(value))
    if isinstance(value, dict):
        return any(_tells_a_secret(inner) for inner in value.values())
    return isinstance(value, list) and any(_tells_a_secret(inner) for inner in value)
